// SPDX-License-Identifier: Apache-2.0
#include "cli/simulation/simulated_machine.h"

#include <algorithm>
#include <memory>

namespace shoal::cli {
namespace {

// What is less is rounding.
constexpr double kLeastWork = 1e-12;

}  // namespace

double SharedProcessors::rate() const {
  if (tasks_.empty()) return 0;
  return std::min(1.0, processors_ / static_cast<double>(tasks_.size()));
}

double SharedProcessors::busy_seconds() const {
  return busy_ + (events_.now() - since_) * rate() * static_cast<double>(tasks_.size());
}

void SharedProcessors::Advance() {
  const double elapsed = events_.now() - since_;
  since_ = events_.now();
  busy_ += elapsed * rate() * static_cast<double>(tasks_.size());
  work_ += elapsed * rate();
}

void SharedProcessors::Run(double seconds, std::function<void()> done) {
  Advance();
  tasks_.emplace(work_ + std::max(0.0, seconds), std::move(done));
  Schedule();
}

void SharedProcessors::Schedule() {
  const std::uint64_t generation = ++generation_;
  if (tasks_.empty()) return;
  const double left = std::max(0.0, tasks_.begin()->first - work_);
  events_.After(left / rate(), [this, generation] {
    if (generation != generation_) return;
    Advance();
    const auto first = tasks_.begin();
    if (first->first - work_ > kLeastWork * std::max(1.0, work_)) {
      Schedule();
      return;
    }
    const std::function<void()> done = std::move(first->second);
    tasks_.erase(first);
    Schedule();
    done();
  });
}

void SimulatedProcess::Account() {
  occupied_ += (events_.now() - since_) * static_cast<double>(running_);
  since_ = events_.now();
}

void SimulatedProcess::Work(double seconds, std::function<void()> done) {
  if (running_ < threads_) {
    Start(seconds, std::move(done));
  } else {
    waiting_.emplace_back(seconds, std::move(done));
  }
}

void SimulatedProcess::Start(double seconds, std::function<void()> done) {
  Account();
  worked_ += seconds;
  ++running_;
  processors_.Run(seconds, [this, done = std::move(done)] {
    Account();
    --running_;
    if (!waiting_.empty()) {
      auto [next_seconds, next] = std::move(waiting_.front());
      waiting_.pop_front();
      Start(next_seconds, std::move(next));
    }
    done();
  });
}

void SimulatedProgram::Compute(double host_seconds, double seconds, bool uses_device,
                               std::size_t parts, std::function<void()> done) {
  if (uses_device) {
    process.Work(host_seconds,
                 [this, seconds, done = std::move(done)] { on_device.Work(seconds, done); });
    return;
  }
  const auto left = std::make_shared<std::size_t>(parts);
  for (std::size_t i = 0; i < parts; ++i) {
    process.Work((host_seconds + seconds) / static_cast<double>(parts), [left, done] {
      if (--*left == 0) done();
    });
  }
}

void Deliver(EventQueue& events, NetworkInterface& from, NetworkInterface& to, double bytes,
             std::function<void()> done) {
  if (&from == &to) {
    events.After(0, std::move(done));
    return;
  }
  from.free_out = std::max(from.free_out, events.now()) + bytes / from.bytes_per_second;
  const double arrival = from.free_out + from.latency_seconds;
  to.free_in = std::max(arrival, to.free_in + bytes / to.bytes_per_second);
  from.bytes_out += bytes;
  to.bytes_in += bytes;
  events.At(to.free_in, std::move(done));
}

}  // namespace shoal::cli
