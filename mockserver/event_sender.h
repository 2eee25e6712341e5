// SPDX-License-Identifier: Apache-2.0
// Sends the events that instances push: POSTs each to its destination and tells the instance what
// became of it.
//
//   std::vector<Delivery> deliveries;
//   {
//     const runtime::MutexLock lock(slot->mutex);
//     ...
//     deliveries = slot->instance.TakeDeliveries();
//   }
//   sender.Send(slot, std::move(deliveries));
//
// One thread of its own, many connections. Delivered is what is answered with 2xx within the
// deadline; the rest is tried again by the instance, on its virtual clock. Destinations of https
// fail: there is no TLS here. At most `max_waiting` are under way; further ones fail at once and
// are counted. No lock of a slot is held while on the network. Thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "mockserver/deliveries.h"
#include "mockserver/instance_table.h"
#include "runtime/metrics.h"

namespace shoal::mockserver {

struct EventSenderOptions {
  std::int64_t max_waiting = 1024;
  // Names resolved, connected, sent and answered.
  std::chrono::milliseconds deadline{5'000};
};

class EventSender {
 public:
  // Borrows `metrics`.
  explicit EventSender(runtime::Metrics& metrics, EventSenderOptions options = {});
  // Gives up what is under way, which then counts as failed.
  ~EventSender();
  EventSender(const EventSender&) = delete;
  EventSender& operator=(const EventSender&) = delete;

  // REQUIRES: the slot's lock is not held.
  void Send(const std::shared_ptr<InstanceTable::Slot>& slot, std::vector<Delivery> deliveries);

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace shoal::mockserver
