// SPDX-License-Identifier: Apache-2.0
#include "rl/parameters/difference_desk.h"

#include <algorithm>
#include <utility>

#include "platform/runtime/log.h"
#include "rl/parameters/difference.h"

namespace shoal::parameters {
namespace {

// Returns null where there is no difference that is worth sending.
std::shared_ptr<const std::string> DifferenceOf(const Parameters& base, const Parameters& target) {
  const std::string& file = *target.bytes;
  auto made = MakeDifference(*base.bytes, file);
  if (!made.ok()) {
    spdlog::warn("event=no_difference base={} version={} reason={}", ToString(base.version),
                 ToString(target.version), runtime::Quoted(runtime::Message(made.status())));
    return nullptr;
  }
  if (made->size() >= file.size()) return nullptr;
  return std::make_shared<const std::string>(*std::move(made));
}

}  // namespace

DifferenceDesk::DifferenceDesk(std::function<void()> on_done, runtime::Metrics& metrics)
    : on_done_(std::move(on_done)),
      made_(metrics.Counter("shoal_parameters_differences_made_total", "Differences made")),
      thread_("differences", [this] { Run(); }) {}

DifferenceDesk::~DifferenceDesk() {
  {
    const runtime::MutexLock lock(mutex_);
    stopping_ = true;
    changed_.NotifyAll();
  }
  thread_.Join();
}

std::shared_ptr<const DifferenceOrder> DifferenceDesk::Ask(const ParametersPointer& base,
                                                           const ParametersPointer& target) {
  const runtime::MutexLock lock(mutex_);
  const auto same = std::find_if(remembered_.begin(), remembered_.end(), [&](const auto& order) {
    return order->base == base && order->target == target;
  });
  if (same != remembered_.end()) return *same;
  if (waiting_.size() >= kMostWaiting) return nullptr;
  auto order = std::make_shared<DifferenceOrder>(DifferenceOrder{.base = base, .target = target});
  waiting_.push_back(order);
  remembered_.push_back(order);
  if (remembered_.size() > kRemembered) remembered_.pop_front();
  changed_.NotifyAll();
  return order;
}

DifferenceOrder DifferenceDesk::Look(const DifferenceOrder& order) const {
  const runtime::MutexLock lock(mutex_);
  return order;
}

void DifferenceDesk::Run() {
  for (;;) {
    std::shared_ptr<DifferenceOrder> order;
    {
      const runtime::MutexLock lock(mutex_);
      while (waiting_.empty() && !stopping_) changed_.Wait(mutex_);
      if (stopping_) return;
      order = std::move(waiting_.front());
      waiting_.pop_front();
    }
    auto difference = DifferenceOf(*order->base, *order->target);
    made_.Increment();
    {
      const runtime::MutexLock lock(mutex_);
      order->difference = std::move(difference);
      order->done = true;
    }
    on_done_();
  }
}

}  // namespace shoal::parameters
