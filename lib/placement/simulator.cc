// SPDX-License-Identifier: Apache-2.0
#include "placement/simulator.h"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <numeric>
#include <string>

namespace shoal::placement {
namespace {

constexpr std::uint64_t kFinish = std::uint64_t{1} << 40;

double MeanTransferSeconds(const DeviceSet& devices, double bytes) {
  const std::size_t count = devices.devices.size();
  double sum = 0;
  for (std::size_t from = 0; from < count; ++from) {
    for (std::size_t to = 0; to < count; ++to) {
      if (from == to) continue;
      const Channel& channel = devices.channels[devices.channel_between[from * count + to]];
      sum += channel.Seconds(bytes);
    }
  }
  return count > 1 ? sum / static_cast<double>(count * (count - 1)) : 0;
}

double OperationSeconds(const Operation& operation, const Device& device) {
  double bytes = operation.parameter_bytes + operation.activation_bytes;
  for (const Input& input : operation.inputs) bytes += input.bytes;
  return device.Seconds(operation.kind, operation.flops, bytes);
}

absl::Status CheckMemory(const Graph& graph, const DeviceSet& devices) {
  double most = 0;
  for (const Device& device : devices.devices) most = std::max(most, device.memory_bytes);
  std::vector<double> parameters(graph.groups.size());
  const auto check = [&](const std::string& what, double bytes) -> absl::Status {
    if (bytes <= most) return absl::OkStatus();
    return runtime::InvalidArgument(
        "no device can hold " + what + ": it needs " + std::to_string(bytes / (1 << 30)) +
        " GiB, the largest memory is " + std::to_string(most / (1 << 30)) + " GiB");
  };
  for (const Operation& operation : graph.operations) {
    SHOAL_RETURN_IF_ERROR(check("operation \"" + operation.name + "\"",
                                operation.parameter_bytes + operation.activation_bytes));
    parameters[operation.group] += operation.parameter_bytes;
  }
  for (std::size_t group = 0; group < parameters.size(); ++group) {
    SHOAL_RETURN_IF_ERROR(
        check("the parameters of group \"" + graph.groups[group] + "\"", parameters[group]));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Simulator> Simulator::Create(const Graph& graph, const DeviceSet& devices) {
  SHOAL_ASSIGN_OR_RETURN(const std::vector<std::size_t> order, TopologicalOrder(graph));
  SHOAL_RETURN_IF_ERROR(CheckMemory(graph, devices));
  Simulator simulator;
  simulator.groups_ = graph.groups.size();
  simulator.devices_ = devices.devices.size();
  simulator.Prioritise(graph, devices, order);
  simulator.Flatten(graph, devices);
  return simulator;
}

void Simulator::Prioritise(const Graph& graph, const DeviceSet& devices,
                           const std::vector<std::size_t>& order) {
  const std::size_t count = graph.operations.size();
  // A transfer's mean time is a line in its bytes.
  const double latency = MeanTransferSeconds(devices, 0);
  const double per_byte = MeanTransferSeconds(devices, 1) - latency;
  std::vector<double> rank(count);
  for (std::size_t i = count; i-- > 0;) {
    const Operation& operation = graph.operations[order[i]];
    double mean = 0;
    for (const Device& device : devices.devices) mean += OperationSeconds(operation, device);
    double& own = rank[order[i]];
    own += mean / static_cast<double>(devices_);
    for (const Input& input : operation.inputs) {
      rank[input.from] = std::max(rank[input.from], own + latency + per_byte * input.bytes);
    }
  }
  original_ = order;
  std::stable_sort(original_.begin(), original_.end(),
                   [&](std::size_t a, std::size_t b) { return rank[a] > rank[b]; });
}

void Simulator::Flatten(const Graph& graph, const DeviceSet& devices) {
  const std::size_t count = original_.size();
  std::vector<Index> number(count);
  for (std::size_t i = 0; i < count; ++i) number[original_[i]] = static_cast<Index>(i);
  output_end_.assign(count, 0);
  seconds_.reserve(count * devices_);
  for (std::size_t i = 0; i < count; ++i) {
    const Operation& operation = graph.operations[original_[i]];
    group_.push_back(static_cast<Index>(operation.group));
    parameter_bytes_.push_back(operation.parameter_bytes);
    activation_bytes_.push_back(operation.activation_bytes);
    for (const Device& device : devices.devices) {
      seconds_.push_back(OperationSeconds(operation, device));
    }
    for (const Input& input : operation.inputs) {
      edges_.push_back(
          {.from = number[input.from], .to = static_cast<Index>(i), .bytes = input.bytes});
      ++output_end_[number[input.from]];
    }
    input_end_.push_back(static_cast<Index>(edges_.size()));
  }
  std::partial_sum(output_end_.begin(), output_end_.end(), output_end_.begin());
  std::vector<Index> next(count);
  for (std::size_t i = 1; i < count; ++i) next[i] = output_end_[i - 1];
  output_.resize(edges_.size());
  for (std::size_t edge = 0; edge < edges_.size(); ++edge) {
    output_[next[edges_[edge].from]++] = static_cast<Index>(edge);
  }
  for (const Device& device : devices.devices) memory_bytes_.push_back(device.memory_bytes);
  channels_ = devices.channels;
  channel_between_ = devices.channel_between;
  ready_.resize(devices_);
}

void Simulator::Hold(std::size_t device, double bytes) {
  held_[device] += bytes;
  peak_[device] = std::max(peak_[device], held_[device]);
}

void Simulator::Push(double time, std::uint64_t code) {
  events_.push_back({.time = time, .code = code});
  std::push_heap(events_.begin(), events_.end(), std::greater<>());
}

void Simulator::Reset(const Placement& placement) {
  const std::size_t count = original_.size();
  device_of_.resize(count);
  missing_.resize(count);
  holders_.assign(count, 0);
  runs_.resize(count);
  transfer_of_.resize(edges_.size());
  sent_.clear();
  begun_.clear();
  events_.clear();
  busy_.assign(devices_, false);
  channel_free_.assign(channels_.size(), 0);
  held_.assign(devices_, 0);
  Index begin = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t device = placement[group_[i]];
    device_of_[i] = static_cast<Index>(device);
    held_[device] += parameter_bytes_[i];
    missing_[i] = input_end_[i] - begin;
    begin = input_end_[i];
    if (missing_[i] == 0) Supply(static_cast<Index>(i));
  }
  peak_ = held_;
}

void Simulator::Supply(Index operation) {
  std::vector<Index>& ready = ready_[device_of_[operation]];
  ready.push_back(operation);
  std::push_heap(ready.begin(), ready.end(), std::greater<>());
}

void Simulator::Start(Index device, double now) {
  std::vector<Index>& ready = ready_[device];
  std::pop_heap(ready.begin(), ready.end(), std::greater<>());
  const Index operation = ready.back();
  ready.pop_back();
  busy_[device] = true;
  begun_.push_back(operation);
  Hold(device, activation_bytes_[operation]);
  const double finish = now + seconds_[operation * devices_ + device];
  runs_[operation] = {.start = now, .finish = finish};
  Push(finish, kFinish + operation);
}

void Simulator::Finish(Index operation, double now) {
  const Index device = device_of_[operation];
  busy_[device] = false;
  for (Index edge = operation == 0 ? 0 : input_end_[operation - 1]; edge < input_end_[operation];
       ++edge) {
    const Index transfer = transfer_of_[edge];
    if (transfer == kLocal) {
      const Index from = edges_[edge].from;
      if (--holders_[from] == 0) held_[device] -= activation_bytes_[from];
    } else if (--sent_[transfer].readers == 0) {
      held_[device] -= sent_[transfer].bytes;
    }
  }
  Send(operation, now);
  if (holders_[operation] == 0) held_[device] -= activation_bytes_[operation];
}

void Simulator::Send(Index operation, double now) {
  const Index begin = operation == 0 ? 0 : output_end_[operation - 1];
  const Index end = output_end_[operation];
  const Index device = device_of_[operation];
  std::uint64_t others = 0;
  std::array<double, kMostDevices> bytes;
  std::array<Index, kMostDevices> readers;
  for (Index i = begin; i < end; ++i) {
    const Edge& edge = edges_[output_[i]];
    const Index to = device_of_[edge.to];
    if (to == device) {
      transfer_of_[output_[i]] = kLocal;
      ++holders_[operation];
      if (--missing_[edge.to] == 0) Supply(edge.to);
      continue;
    }
    if (((others >> to) & 1) == 0) {
      others |= std::uint64_t{1} << to;
      bytes[to] = 0;
      readers[to] = 0;
    }
    bytes[to] = std::max(bytes[to], edge.bytes);
    ++readers[to];
  }
  if (others == 0) return;
  std::array<Index, kMostDevices> transfer;
  for (std::uint64_t rest = others; rest != 0; rest &= rest - 1) {
    const auto to = static_cast<std::size_t>(std::countr_zero(rest));
    const std::size_t channel = channel_between_[device * devices_ + to];
    const double start = std::max(channel_free_[channel], now);
    const double finish = start + channels_[channel].Seconds(bytes[to]);
    channel_free_[channel] = finish;
    ++holders_[operation];
    Hold(to, bytes[to]);
    transfer[to] = static_cast<Index>(sent_.size());
    begun_.push_back(static_cast<Index>(original_.size() + sent_.size()));
    Push(finish, sent_.size());
    sent_.push_back({.operation = operation,
                     .to = static_cast<Index>(to),
                     .channel = static_cast<Index>(channel),
                     .readers = readers[to],
                     .bytes = bytes[to],
                     .start = start,
                     .finish = finish});
  }
  for (Index i = begin; i < end; ++i) {
    const Index to = device_of_[edges_[output_[i]].to];
    if (to != device) transfer_of_[output_[i]] = transfer[to];
  }
}

void Simulator::Arrive(Index transfer) {
  const Sent& sent = sent_[transfer];
  if (--holders_[sent.operation] == 0) {
    held_[device_of_[sent.operation]] -= activation_bytes_[sent.operation];
  }
  for (Index i = sent.operation == 0 ? 0 : output_end_[sent.operation - 1];
       i < output_end_[sent.operation]; ++i) {
    const Edge& edge = edges_[output_[i]];
    if (device_of_[edge.to] == sent.to && --missing_[edge.to] == 0) Supply(edge.to);
  }
}

absl::StatusOr<Step> Simulator::Run(const Placement& placement) {
  if (placement.size() != groups_) {
    return runtime::InvalidArgument("the placement has " + std::to_string(placement.size()) +
                                    " devices for " + std::to_string(groups_) + " groups");
  }
  for (const std::size_t device : placement) {
    if (device >= devices_) {
      return runtime::InvalidArgument("the placement names device " + std::to_string(device) +
                                      ", but there are " + std::to_string(devices_));
    }
  }
  Reset(placement);
  double now = 0;
  while (true) {
    for (Index device = 0; device < devices_; ++device) {
      if (!busy_[device] && !ready_[device].empty()) Start(device, now);
    }
    if (events_.empty()) break;
    now = events_.front().time;
    while (!events_.empty() && events_.front().time == now) {
      const std::uint64_t code = events_.front().code;
      std::pop_heap(events_.begin(), events_.end(), std::greater<>());
      events_.pop_back();
      if (code < kFinish) {
        Arrive(static_cast<Index>(code));
      } else {
        Finish(static_cast<Index>(code - kFinish), now);
      }
    }
  }
  Step step{.seconds = now, .excess = 0};
  for (std::size_t device = 0; device < devices_; ++device) {
    step.excess = std::max(step.excess, peak_[device] / memory_bytes_[device] - 1);
  }
  return step;
}

std::vector<OperationRun> Simulator::Runs() const {
  std::vector<OperationRun> runs(runs_.size());
  for (std::size_t i = 0; i < runs_.size(); ++i) runs[original_[i]] = runs_[i];
  return runs;
}

std::vector<Transfer> Simulator::Transfers() const {
  std::vector<Transfer> transfers;
  transfers.reserve(sent_.size());
  for (const Sent& sent : sent_) {
    transfers.push_back({.operation = original_[sent.operation],
                         .to = sent.to,
                         .channel = sent.channel,
                         .bytes = sent.bytes,
                         .start = sent.start,
                         .finish = sent.finish});
  }
  return transfers;
}

double Simulator::RetimedSeconds(std::span<const double> device_speedup,
                                 std::span<const double> channel_speedup) const {
  std::vector<double> device_free(devices_);
  std::vector<double> channel_free(channels_.size());
  std::vector<double> finish(runs_.size());
  std::vector<double> arrival(sent_.size());
  double last = 0;
  for (const Index begun : begun_) {
    if (begun >= runs_.size()) {
      const Sent& sent = sent_[begun - runs_.size()];
      const double seconds =
          channels_[sent.channel].Seconds(sent.bytes) / channel_speedup[sent.channel];
      double& free = channel_free[sent.channel];
      free = std::max(free, finish[sent.operation]) + seconds;
      arrival[begun - runs_.size()] = free;
      last = std::max(last, free);
      continue;
    }
    const Index device = device_of_[begun];
    double start = device_free[device];
    for (Index edge = begun == 0 ? 0 : input_end_[begun - 1]; edge < input_end_[begun]; ++edge) {
      const Index transfer = transfer_of_[edge];
      start = std::max(start, transfer == kLocal ? finish[edges_[edge].from] : arrival[transfer]);
    }
    finish[begun] = start + seconds_[begun * devices_ + device] / device_speedup[device];
    device_free[device] = finish[begun];
    last = std::max(last, finish[begun]);
  }
  return last;
}

}  // namespace shoal::placement
