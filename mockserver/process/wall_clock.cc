// SPDX-License-Identifier: Apache-2.0
#include "mockserver/process/wall_clock.h"

#include <chrono>
#include <memory>

#include "platform/runtime/clock.h"

namespace shoal::mockserver {
namespace {

constexpr std::chrono::milliseconds kTick{100};

}  // namespace

WallClock::WallClock(InstanceTable& table, EventSender& sender)
    : table_(table), sender_(sender), ticker_("wall-clock", [this] { TickUntilStopped(); }) {}

WallClock::~WallClock() {
  {
    const runtime::MutexLock lock(mutex_);
    stopping_ = true;
    wake_.NotifyAll();
  }
  ticker_.Join();
}

void WallClock::TickUntilStopped() {
  runtime::Clock& clock = table_.clock();
  while (true) {
    {
      const runtime::MutexLock lock(mutex_);
      const runtime::TimePoint next = clock.Now() + kTick;
      while (!stopping_ && clock.WaitUntil(wake_, mutex_, next)) {
      }
      if (stopping_) return;
    }
    Tick();
  }
}

void WallClock::Tick() {
  for (const std::shared_ptr<InstanceTable::Slot>& slot : table_.RealClocks()) {
    bool sends = false;
    {
      const runtime::MutexLock lock(slot->mutex);
      slot->CatchUp(table_.clock().Now());
      sends = slot->instance.HasEventsToSend();
    }
    if (sends) sender_.Flush(slot);
  }
}

}  // namespace shoal::mockserver
