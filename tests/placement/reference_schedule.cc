// SPDX-License-Identifier: Apache-2.0
#include "reference_schedule.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <set>

namespace shoal::placement {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

const Channel& ChannelOf(const DeviceSet& devices, std::size_t from, std::size_t to) {
  return devices.channels[devices.channel_between[from * devices.devices.size() + to]];
}

}  // namespace

double ReferenceSeconds(const Operation& operation, const Device& device) {
  const double speed = device.kind_speed.contains(operation.kind)
                           ? device.kind_speed.at(operation.kind)
                           : device.speed;
  double bytes = operation.parameter_bytes + operation.activation_bytes;
  for (const Input& input : operation.inputs) bytes += input.bytes;
  return device.overhead + std::max(operation.flops / speed, bytes / device.memory_speed);
}

std::vector<double> ReferenceRanks(const Graph& graph, const DeviceSet& devices) {
  const std::size_t count = devices.devices.size();
  std::function<double(std::size_t)> rank = [&](std::size_t index) {
    double own = 0;
    for (const Device& device : devices.devices) {
      own += ReferenceSeconds(graph.operations[index], device) / static_cast<double>(count);
    }
    double longest = 0;
    for (std::size_t reader = 0; reader < graph.operations.size(); ++reader) {
      for (const Input& input : graph.operations[reader].inputs) {
        if (input.from != index) continue;
        double sending = 0;
        for (std::size_t a = 0; a < count; ++a) {
          for (std::size_t b = 0; b < count; ++b) {
            if (a == b) continue;
            const Channel& channel = ChannelOf(devices, a, b);
            sending += (channel.latency + input.bytes / channel.bandwidth) /
                       static_cast<double>(count * (count - 1));
          }
        }
        longest = std::max(longest, sending + rank(reader));
      }
    }
    return own + longest;
  };
  std::vector<double> ranks;
  for (std::size_t i = 0; i < graph.operations.size(); ++i) ranks.push_back(rank(i));
  return ranks;
}

ReferenceSchedule ScheduleByReference(const Graph& graph, const DeviceSet& devices,
                                      const Placement& placement,
                                      const std::vector<std::size_t>& by_priority) {
  const std::size_t count = graph.operations.size();
  const std::size_t device_count = devices.devices.size();
  const auto device_of = [&](std::size_t i) { return placement[graph.operations[i].group]; };
  ReferenceSchedule schedule;
  schedule.runs.assign(count, {.start = kNever, .finish = kNever});
  std::vector<bool> finished(count);
  std::vector<bool> arrived;
  std::map<std::size_t, double> channel_free;

  const auto reads = [&](std::size_t reader, std::size_t from) {
    const auto& inputs = graph.operations[reader].inputs;
    return std::any_of(inputs.begin(), inputs.end(),
                       [&](const Input& input) { return input.from == from; });
  };
  const auto has_arrived = [&](std::size_t from, std::size_t device) {
    if (device_of(from) == device) return static_cast<bool>(finished[from]);
    for (std::size_t t = 0; t < arrived.size(); ++t) {
      if (schedule.transfers[t].operation == from && schedule.transfers[t].to == device) {
        return static_cast<bool>(arrived[t]);
      }
    }
    return false;
  };
  // What is held now, counted from the state alone.
  const auto held = [&](std::size_t device) {
    double bytes = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (device_of(i) != device) continue;
      bytes += graph.operations[i].parameter_bytes;
      if (schedule.runs[i].start == kNever) continue;
      bool needed = !finished[i];
      for (std::size_t reader = 0; reader < count; ++reader) {
        needed = needed || (reads(reader, i) && device_of(reader) == device && !finished[reader]);
      }
      for (std::size_t t = 0; t < arrived.size(); ++t) {
        needed = needed || (schedule.transfers[t].operation == i && !arrived[t]);
      }
      if (needed) bytes += graph.operations[i].activation_bytes;
    }
    for (const Transfer& transfer : schedule.transfers) {
      if (transfer.to != device) continue;
      bool needed = false;
      for (std::size_t reader = 0; reader < count; ++reader) {
        needed = needed || (reads(reader, transfer.operation) && device_of(reader) == device &&
                            !finished[reader]);
      }
      if (needed) bytes += transfer.bytes;
    }
    return bytes;
  };
  schedule.peak_bytes.assign(device_count, 0);
  const auto observe = [&](std::size_t device) {
    schedule.peak_bytes[device] = std::max(schedule.peak_bytes[device], held(device));
  };
  for (std::size_t device = 0; device < device_count; ++device) observe(device);

  double now = 0;
  while (true) {
    for (std::size_t device = 0; device < device_count; ++device) {
      const auto on_device = [&](std::size_t i) { return device_of(i) == device; };
      bool busy = false;
      for (std::size_t i = 0; i < count; ++i) {
        busy = busy || (on_device(i) && schedule.runs[i].start != kNever && !finished[i]);
      }
      if (busy) continue;
      for (const std::size_t i : by_priority) {
        if (!on_device(i) || schedule.runs[i].start != kNever) continue;
        const auto& inputs = graph.operations[i].inputs;
        if (!std::all_of(inputs.begin(), inputs.end(),
                         [&](const Input& input) { return has_arrived(input.from, device); })) {
          continue;
        }
        schedule.runs[i] = {
            .start = now,
            .finish = now + ReferenceSeconds(graph.operations[i], devices.devices[device])};
        observe(device);
        break;
      }
    }
    double next = kNever;
    for (std::size_t t = 0; t < arrived.size(); ++t) {
      if (!arrived[t]) next = std::min(next, schedule.transfers[t].finish);
    }
    for (std::size_t i = 0; i < count; ++i) {
      if (!finished[i]) next = std::min(next, schedule.runs[i].finish);
    }
    if (next == kNever) break;
    now = next;
    while (true) {
      std::size_t arrival = 0;
      while (arrival < arrived.size() &&
             (arrived[arrival] || schedule.transfers[arrival].finish != now)) {
        ++arrival;
      }
      if (arrival < arrived.size()) {
        arrived[arrival] = true;
        continue;
      }
      const auto done = std::find_if(by_priority.begin(), by_priority.end(), [&](std::size_t i) {
        return !finished[i] && schedule.runs[i].finish == now;
      });
      if (done == by_priority.end()) break;
      finished[*done] = true;
      std::map<std::size_t, double> wanted;
      for (std::size_t reader = 0; reader < count; ++reader) {
        for (const Input& input : graph.operations[reader].inputs) {
          if (input.from != *done || device_of(reader) == device_of(*done)) continue;
          double& bytes = wanted[device_of(reader)];
          bytes = std::max(bytes, input.bytes);
        }
      }
      for (const auto& [to, bytes] : wanted) {
        const std::size_t index = devices.channel_between[device_of(*done) * device_count + to];
        const Channel& channel = devices.channels[index];
        const double start = std::max(channel_free[index], now);
        const double finish = start + (channel.latency + bytes / channel.bandwidth);
        channel_free[index] = finish;
        schedule.transfers.push_back({.operation = *done,
                                      .to = to,
                                      .channel = index,
                                      .bytes = bytes,
                                      .start = start,
                                      .finish = finish});
        arrived.push_back(false);
        observe(to);
      }
    }
  }
  schedule.seconds = now;
  for (std::size_t device = 0; device < device_count; ++device) {
    const double memory = devices.devices[device].memory_bytes;
    schedule.excess = std::max(schedule.excess, schedule.peak_bytes[device] / memory - 1);
  }
  return schedule;
}

}  // namespace shoal::placement
