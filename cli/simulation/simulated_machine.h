// SPDX-License-Identifier: Apache-2.0
// The parts of a simulated machine: processors that running tasks share equally, processes that
// work a bounded number of tasks at once, and the network between machines.
//
// All of them borrow the event queue. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "cli/simulation/event_queue.h"

namespace shoal::cli {

// C processors under N running tasks. Each task gets min(1, C / N) of a processor, as under a fair
// scheduler with small time slices.
class SharedProcessors {
 public:
  SharedProcessors(EventQueue& events, double processors)
      : events_(events), processors_(processors) {}
  SharedProcessors(const SharedProcessors&) = delete;
  SharedProcessors& operator=(const SharedProcessors&) = delete;

  // Runs a task of so many seconds of one processor, then calls `done`.
  void Run(double seconds, std::function<void()> done);

  double processors() const { return processors_; }
  // The seconds that processors were busy, all together.
  double busy_seconds() const;

 private:
  double rate() const;
  // Brings the work done by each running task up to now.
  void Advance();
  void Schedule();

  EventQueue& events_;
  const double processors_;
  // The seconds of work that a task has got that runs from the beginning.
  double work_ = 0;
  double busy_ = 0;
  double since_ = 0;
  std::uint64_t generation_ = 0;
  // Running tasks by the value of work_ at which they are done.
  std::multimap<double, std::function<void()>> tasks_;
};

// A process that works its tasks in order, `threads` of them at once, on shared processors.
class SimulatedProcess {
 public:
  SimulatedProcess(EventQueue& events, SharedProcessors& processors, std::size_t threads)
      : events_(events), processors_(processors), threads_(threads) {}
  SimulatedProcess(const SimulatedProcess&) = delete;
  SimulatedProcess& operator=(const SimulatedProcess&) = delete;

  void Work(double seconds, std::function<void()> done);

  std::size_t waiting() const { return waiting_.size(); }
  std::size_t threads() const { return threads_; }
  // The time that its threads had a task, all together, waiting for a processor included.
  double occupied_seconds() const {
    return occupied_ + (events_.now() - since_) * static_cast<double>(running_);
  }
  // The processor time of all tasks that were begun.
  double worked_seconds() const { return worked_; }

 private:
  void Start(double seconds, std::function<void()> done);
  void Account();

  EventQueue& events_;
  SharedProcessors& processors_;
  const std::size_t threads_;
  std::size_t running_ = 0;
  double occupied_ = 0;
  double worked_ = 0;
  double since_ = 0;
  std::deque<std::pair<double, std::function<void()>>> waiting_;
};

// A machine's network interface: bytes leave and arrive in order, at `bytes_per_second` each way.
struct NetworkInterface {
  double bytes_per_second = 0;
  double latency_seconds = 0;
  double free_out = 0;
  double free_in = 0;
  double bytes_out = 0;
  double bytes_in = 0;
};

// Delivers `bytes` from one machine to another, then calls `done`. Within a machine it is delivered
// at once: what that costs is processor time of its processes.
void Deliver(EventQueue& events, NetworkInterface& from, NetworkInterface& to, double bytes,
             std::function<void()> done);

struct SimulatedMachine {
  SimulatedMachine(EventQueue& events, double count, double bytes_per_second,
                   double latency_seconds)
      : processors(events, count),
        network{.bytes_per_second = bytes_per_second, .latency_seconds = latency_seconds} {}
  SharedProcessors processors;
  NetworkInterface network;
};

// A process on its machine, with devices of its own in case it computes on them. Borrows the
// machine.
struct SimulatedProgram {
  // At most `on_devices` things are computed on the devices at a time.
  SimulatedProgram(EventQueue& events, SimulatedMachine& home, std::size_t threads,
                   std::size_t on_devices = 1, std::int64_t device_count = 1)
      : machine(home),
        process(events, home.processors, threads),
        devices(events, static_cast<double>(device_count)),
        on_device(events, devices, on_devices) {}

  // Works `host_seconds` on a processor and then `seconds` on a device. Without devices, all of it
  // is split evenly among `parts` threads. Then calls `done`.
  void Compute(double host_seconds, double seconds, bool uses_device, std::size_t parts,
               std::function<void()> done);

  SimulatedMachine& machine;
  SimulatedProcess process;
  SharedProcessors devices;
  SimulatedProcess on_device;
};

}  // namespace shoal::cli
