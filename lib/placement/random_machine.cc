// SPDX-License-Identifier: Apache-2.0
#include "placement/random_machine.h"

#include <cmath>
#include <cstddef>
#include <string>

namespace shoal::placement {
namespace {

constexpr std::size_t kMostAccelerators = kMostMachineDevices - 1;

// Returns a number between two others, uniform in its logarithm.
double Between(runtime::Random& random, double low, double high) {
  return low * std::pow(high / low, random.Uniform());
}

double NeededBytes(const Graph& graph) {
  double bytes = 0;
  for (const Operation& operation : graph.operations) {
    bytes += operation.parameter_bytes + operation.activation_bytes;
  }
  return bytes;
}

}  // namespace

DeviceSet RandomMachine(runtime::Random& random, const Graph& graph) {
  constexpr double kHalf = .5;
  constexpr double kQuarter = .25;
  DeviceSet set;
  const auto count = 2 + static_cast<std::size_t>(random.Below(kMostAccelerators - 1));
  const bool equal = random.Uniform() < kHalf;
  const bool tight = random.Uniform() < kQuarter;
  const double needed = NeededBytes(graph);
  const double memory = needed * (tight ? Between(random, .3, 1) : 4);
  const Device accelerator = {.name = "",
                              .memory_bytes = memory,
                              .speed = Between(random, 1e12, 4e12),
                              .kind_speed = {},
                              .memory_speed = Between(random, 1.5e11, 6e11),
                              .overhead = Between(random, 2e-6, 4e-5)};
  const double matrix_speed = accelerator.speed * Between(random, 1, 3);
  for (std::size_t i = 0; i < count; ++i) {
    Device device = accelerator;
    device.name = "accelerator:" + std::to_string(i);
    const double factor = equal ? 1 : Between(random, kHalf, 2);
    device.speed *= factor;
    device.memory_speed *= factor;
    device.kind_speed = {{"conv", matrix_speed * factor}, {"matmul", matrix_speed * factor}};
    set.devices.push_back(std::move(device));
  }
  if (random.Uniform() < kHalf) {
    set.devices.push_back({.name = "processor",
                           .memory_bytes = 8 * needed,
                           .speed = accelerator.speed * Between(random, .02, .2),
                           .kind_speed = {},
                           .memory_speed = accelerator.memory_speed * Between(random, .1, .3),
                           .overhead = 1e-5});
  }
  const std::size_t devices = set.devices.size();
  const bool by_sender = random.Uniform() < kHalf;
  const double bandwidth = Between(random, 5e9, 4e10);
  const double latency = Between(random, 2e-6, 3e-5);
  set.channel_between.assign(devices * devices, 0);
  for (std::size_t from = 0; from < devices; ++from) {
    for (std::size_t to = 0; to < devices; ++to) {
      if (from == to) continue;
      const bool is_new = !by_sender || to == (from == 0 ? 1 : 0);
      if (is_new) {
        set.channels.push_back({.name = "link " + std::to_string(set.channels.size()),
                                .bandwidth = bandwidth,
                                .latency = latency});
      }
      set.channel_between[from * devices + to] = set.channels.size() - 1;
    }
  }
  return set;
}

}  // namespace shoal::placement
