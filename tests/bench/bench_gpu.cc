// SPDX-License-Identifier: Apache-2.0
// Measures how many rows of 84 x 84 x 4 bytes act in a second with the deep network of IMPALA, and
// what its parts take: the whole way of a batch from the memory in which inference gathers frames
// to actions on the host, the forward pass alone on frames that lie on the device, the copy of the
// frames alone, and gathering them on one core. Small tasks follow, whose batches are all overhead,
// operation by operation and by recorded forward passes. Prints one JSON line for each.
//
//   bench_gpu [device] [seconds of each measurement]
#include <ATen/core/Tensor.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "platform/runtime/median.h"
#include "platform/runtime/random.h"
#include "rl/model/blocked_convolution.h"
#include "rl/model/host_memory.h"
#include "rl/model/network.h"
#include "rl/model/policy.h"
#include "rl/model/torch_device.h"
#include "rl/training/stopwatch.h"
#include "tests/bench/pixel_policy.h"

namespace shoal {
namespace {

constexpr std::int64_t kActions = 16;

model::PolicySpec PixelSpec() { return bench::PixelPolicy("impala", kActions); }

model::PolicySpec SmallSpec() {
  model::PolicySpec spec;
  spec.head = "discrete";
  spec.action_count = 2;
  spec.content_fields = {};
  spec.past_requests = false;
  spec.observation_size = 4;
  spec.hidden = {64, 64};
  spec.value_hidden = {64, 64};
  return spec;
}

model::PolicyInputs Inputs(const model::PolicySpec& spec, std::int64_t rows,
                           const model::ComputeDevice& device) {
  runtime::Random random(1);
  model::PolicyInputs inputs(model::HostMemoryFor(device));
  inputs.rows = rows;
  const auto count = static_cast<std::size_t>(rows);
  inputs.frames.resize(count * static_cast<std::size_t>(spec.frame_size()));
  for (std::uint8_t& pixel : inputs.frames) pixel = static_cast<std::uint8_t>(random.Below(256));
  for (std::int64_t i = 0; i < rows * spec.number_count(); ++i) {
    inputs.observation.push_back(static_cast<float>(random.Uniform()));
  }
  inputs.goal_keys.resize(16 * count);
  inputs.first.resize(count);
  inputs.choice.assign(count, model::Choice::kSample);
  for (std::size_t i = 0; i < count; ++i) inputs.draw.push_back(random.Uniform());
  return inputs;
}

struct Timing {
  double best_seconds = 0;
  double median_seconds = 0;
};

// Times calls, after three that warm up, until the seconds have passed.
Timing Time(double seconds, const std::function<void()>& call) {
  for (int i = 0; i < 3; ++i) call();
  std::vector<double> laps;
  double sum = 0;
  training::Stopwatch watch;
  while (sum < seconds || laps.size() < 3) {
    call();
    laps.push_back(watch.Lap());
    sum += laps.back();
  }
  return {.best_seconds = *std::min_element(laps.begin(), laps.end()),
          .median_seconds = runtime::Median(laps)};
}

void Print(const std::string& what, const std::string& device, std::int64_t rows,
           const Timing& timing) {
  const auto count = static_cast<double>(rows);
  std::printf(
      "{\"bench\":\"gpu\",\"what\":\"%s\",\"device\":\"%s\",\"rows\":%ld,\"median_ms\":%.3f,"
      "\"best_ms\":%.3f,\"rows_per_second\":%.0f}\n",
      what.c_str(), device.c_str(), static_cast<long>(rows), 1e3 * timing.median_seconds,
      1e3 * timing.best_seconds, std::round(count / timing.median_seconds));
  std::fflush(stdout);
}

void MeasureAct(const std::string& what, const model::PolicySpec& spec, std::int64_t rows,
                const model::ComputeDevice& device, double seconds) {
  const auto policy = model::Policy::FromSafetensors(
                          spec, model::InitialParameters(spec, 1).value(), nullptr, device)
                          .value();
  const model::PolicyInputs inputs = Inputs(spec, rows, device);
  model::SimilarityCache cache;
  Print(what, device.name, rows, Time(seconds, [&] { (void)policy->Act(inputs, cache).value(); }));
}

// The layers of a policy on frames that are there already, slice after slice.
void MeasureForward(const std::string& what, std::int64_t rows, const model::ComputeDevice& device,
                    double seconds) {
  const c10::InferenceMode inference;
  const model::PolicySpec spec = PixelSpec();
  const at::Device place = model::FindDevice(device.name).value();
  const model::ParameterLayout layout = model::ParameterLayout::Of(spec);
  std::vector<float> flat(static_cast<std::size_t>(layout.total));
  layout.Initialise(1, flat);
  const model::Network network(spec, layout, model::OnDevice(flat, place), {});
  const model::BlockedConvolution blocked(model::ConvolutionOf(spec).value(), network.parameters());
  const bool bfloat16 = device.precision == model::Precision::kBfloat16;
  const model::PolicyInputs inputs = Inputs(spec, rows, device);
  model::FrameUpload frames(place, std::nullopt);
  frames.Send(inputs.frames, rows);
  const auto pass = [&] {
    at::Tensor last;
    for (std::size_t i = 0; i < frames.slices(); ++i) {
      model::NetworkInputs tensors;
      const at::Tensor slice = frames.Slice(i);
      tensors.convolved = bfloat16 ? blocked.Of(slice) : network.Convolved(slice);
      const at::Tensor features = network.Features(tensors);
      last = network.Head(network.Torso(features)).select(1, 0).add(network.Value(features, {}));
    }
    (void)model::ToHost({last});
  };
  Print(what, device.name, rows, Time(seconds, pass));
}

void MeasureUpload(std::int64_t rows, const model::ComputeDevice& device, double seconds) {
  const model::PolicySpec spec = PixelSpec();
  const at::Device place = model::FindDevice(device.name).value();
  const model::PolicyInputs inputs = Inputs(spec, rows, device);
  const auto copy = [&] {
    model::FrameUpload frames(place, std::nullopt);
    frames.Send(inputs.frames, rows);
    (void)model::ToHost({frames.Slice(frames.slices() - 1).narrow(0, 0, 1)});
  };
  Print("upload", device.name, rows, Time(seconds, copy));
}

// As inference's gatherer does it: one row after another, from where its message lies.
void MeasureGather(std::int64_t rows, const model::ComputeDevice& device, double seconds) {
  const model::PolicySpec spec = PixelSpec();
  const std::vector<std::uint8_t> message(static_cast<std::size_t>(rows * spec.frame_size()), 7);
  model::PolicyInputs inputs(model::HostMemoryFor(device));
  inputs.frames.resize(message.size());
  const auto size = static_cast<std::size_t>(spec.frame_size());
  const auto gather = [&] {
    for (std::size_t at = 0; at < message.size(); at += size) {
      std::memcpy(inputs.frames.data() + at, message.data() + at, size);
    }
  };
  Print("gather", device.name, rows, Time(seconds, gather));
}

int Run(const std::string& name, double seconds) {
  model::SetTorchThreads(1);
  auto device = model::FindComputeDevice(name);
  if (!device.ok()) {
    std::fprintf(stderr, "%s\n", runtime::Message(device.status()).c_str());
    return 2;
  }
  const bool gpu = device->whole_batches;
  const std::vector<std::int64_t> sizes =
      gpu ? std::vector<std::int64_t>{256, 1024, 4096} : std::vector<std::int64_t>{64};
  for (const char* const precision : {"bfloat16", "float32"}) {
    const auto precise = model::WithPrecision(*device, precision, PixelSpec());
    if (!precise.ok()) {
      std::fprintf(stderr, "left out: %s\n", runtime::Message(precise.status()).c_str());
      continue;
    }
    for (const std::int64_t rows : sizes) {
      MeasureAct(std::string("act ") + precision, PixelSpec(), rows, *precise, seconds);
      MeasureForward(std::string("forward ") + precision, rows, *precise, seconds);
    }
  }
  for (const std::int64_t rows : sizes) {
    MeasureUpload(rows, *device, seconds);
    MeasureGather(rows, *device, seconds);
  }
  for (const std::int64_t rows : {1, 64, 256, 1024, 4096}) {
    model::ComputeDevice acting = *device;
    if (acting.graphs) MeasureAct("act 4-64-64-2 by graphs", SmallSpec(), rows, acting, seconds);
    acting.graphs = false;
    MeasureAct("act 4-64-64-2", SmallSpec(), rows, acting, seconds);
  }
  return 0;
}

}  // namespace
}  // namespace shoal

int main(int argc, char** argv) {
  return shoal::Run(argc > 1 ? argv[1] : "cpu", argc > 2 ? std::atof(argv[2]) : 0.5);
}
