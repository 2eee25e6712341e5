// SPDX-License-Identifier: Apache-2.0
// Predicts how long one training step takes under a placement, by list scheduling.
//
// A device runs one operation at a time. Whenever it is free, it starts the one of its operations,
// among those whose inputs have arrived, that has the highest priority: the upward rank of HEFT
// (Topcuoglu, Hariri and Wu, "Performance-effective and low-complexity task scheduling for
// heterogeneous computing", IEEE TPDS 13(3), 2002), which is the longest way to the end of the step
// in mean durations of operations and transfers. It does not depend on the placement.
//
// An operation takes its device's overhead and the longer of two times: its arithmetic at the
// device's speed for its kind, and the bytes of its parameters, inputs and output at the speed of
// the device's memory. When it finishes, its output is sent once to each other device that reads
// it: the largest number of bytes that one of the readers there needs. A channel sends one after
// the other, in the order in which they were requested, while the devices go on.
//
// A device holds the parameters of its operations throughout the step. An output is held from the
// start of its operation until all readers on the same device have finished and all transfers of it
// have arrived; what a device receives, from the request until its readers have finished.
//
// What happens at the same time happens in this order: arrivals in the order of the requests, then
// finishing operations by priority, then starts by device. Equal ranks go by topological order. So
// a placement has exactly one schedule.
//
// Not thread-safe; use one for each thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "placement/device_set.h"
#include "placement/graph.h"

namespace shoal::placement {

struct Step {
  double seconds = 0;
  // The most bytes by which a device's memory is exceeded, as a fraction of that memory. 0 means
  // that the step fits; otherwise the placement has failed.
  double excess = 0;

  bool fits() const { return excess == 0; }
  // What searches minimise: seconds, and for a failed placement the 100 s of Mirhoseini et al.,
  // "Device placement optimization with reinforcement learning", ICML 2017, and more the further it
  // is from fitting.
  double cost() const { return fits() ? seconds : seconds + 100.0 * (1.0 + excess); }
};

struct OperationRun {
  double start = 0;
  double finish = 0;
};

struct Transfer {
  std::size_t operation = 0;
  std::size_t to = 0;
  std::size_t channel = 0;
  double bytes = 0;
  double start = 0;
  double finish = 0;
};

class Simulator {
 public:
  // Nothing of the arguments is kept. Errors are those of TopologicalOrder, and INVALID_ARGUMENT
  // naming the operation or group whose memory no device has.
  static absl::StatusOr<Simulator> Create(const Graph& graph, const DeviceSet& devices);

  // Simulates one step. INVALID_ARGUMENT if `placement` does not have one existing device for each
  // group.
  absl::StatusOr<Step> Run(const Placement& placement);

  // The schedule of the latest Run: by index of the graph's operations, and in the order of the
  // requests.
  std::vector<OperationRun> Runs() const;
  std::vector<Transfer> Transfers() const;
  // The most bytes that each device held.
  std::span<const double> peak_bytes() const { return peak_; }

  // Returns how long the step of the latest Run would take, with the order of operations on each
  // device and of transfers on each channel unchanged, if device d were device_speedup[d] times as
  // fast and channel c channel_speedup[c] times. It never grows with a speedup, which is not so for
  // Run: list schedules may get longer when something gets faster (Graham, "Bounds on
  // multiprocessing timing anomalies", SIAM J. Appl. Math. 17(2), 1969). REQUIRES: speedups > 0,
  // one for each device and channel.
  double RetimedSeconds(std::span<const double> device_speedup,
                        std::span<const double> channel_speedup) const;

  std::size_t groups() const { return groups_; }
  std::size_t devices() const { return devices_; }
  // The graph's operations from the highest priority to the lowest; each stands behind its inputs.
  const std::vector<std::size_t>& by_priority() const { return original_; }
  // How long by_priority()[position] takes on a device.
  double Seconds(std::size_t position, std::size_t device) const {
    return seconds_[position * devices_ + device];
  }

 private:
  using Index = std::uint32_t;
  static constexpr Index kLocal = ~Index{0};

  struct Edge {
    Index from;
    Index to;
    double bytes;
  };
  // An arrival's code is the number of its transfer, a finish's is beyond all of those.
  struct Event {
    double time;
    std::uint64_t code;
    bool operator>(const Event& other) const {
      return time != other.time ? time > other.time : code > other.code;
    }
  };

  Simulator() = default;
  void Prioritise(const Graph& graph, const DeviceSet& devices,
                  const std::vector<std::size_t>& order);
  void Flatten(const Graph& graph, const DeviceSet& devices);
  void Reset(const Placement& placement);
  void Start(Index device, double now);
  void Finish(Index operation, double now);
  void Send(Index operation, double now);
  void Arrive(Index transfer);
  void Supply(Index operation);
  void Hold(std::size_t device, double bytes);
  void Push(double time, std::uint64_t code);

  // Constant after Create. Operations are numbered by priority.
  std::size_t groups_ = 0;
  std::size_t devices_ = 0;
  std::vector<std::size_t> original_;  // number by priority -> index in the graph
  std::vector<Index> group_;
  std::vector<double> seconds_;  // [operation, device]
  std::vector<double> parameter_bytes_;
  std::vector<double> activation_bytes_;
  std::vector<Edge> edges_;        // in the order of the readers
  std::vector<Index> input_end_;   // reader -> end of its edges; they begin where the last ended
  std::vector<Index> output_;      // edges in the order of what is read
  std::vector<Index> output_end_;  // operation -> end of its part of output_
  std::vector<double> memory_bytes_;
  std::vector<Channel> channels_;
  std::vector<std::size_t> channel_between_;

  // Of the latest Run.
  struct Sent {
    Index operation;
    Index to;
    Index channel;
    Index readers;
    double bytes;
    double start;
    double finish;
  };
  std::vector<Index> device_of_;
  std::vector<Index> missing_;  // inputs that have not arrived
  std::vector<Index> holders_;  // readers on the same device and transfers under way
  std::vector<OperationRun> runs_;
  std::vector<Sent> sent_;
  std::vector<Index> transfer_of_;  // edge -> transfer, or kLocal
  std::vector<Index> begun_;        // operations and, beyond them, transfers, as they were begun
  std::vector<std::vector<Index>> ready_;
  std::vector<bool> busy_;
  std::vector<double> channel_free_;
  std::vector<double> held_;
  std::vector<double> peak_;
  std::vector<Event> events_;
};

}  // namespace shoal::placement
