// SPDX-License-Identifier: Apache-2.0
// Sends the events of instances that push them: POSTs each to its destination, reports the outcome
// to the instance, and writes event streams to their connections.
//
//   bool sends = false;
//   {
//     const runtime::MutexLock lock(slot->mutex);
//     ...
//     sends = slot->instance.HasEventsToSend();
//   }
//   if (sends) sender.Flush(slot);
//
// The class has one thread and many connections. An event is delivered when it is answered with 2xx
// within the deadline; the instance retries all others on its virtual clock. Destinations with
// https fail, because there is no TLS here. At most `max_waiting` deliveries are in progress;
// further ones fail at once and are counted. No lock of a slot is held while on the network.
// Thread-safe, but no method may be called with a slot's lock held.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

#include "mockserver/process/instance_table.h"
#include "mockserver/process/stream_table.h"
#include "platform/http/stream_channel.h"
#include "platform/runtime/metrics.h"

namespace shoal::mockserver {

struct EventSenderOptions {
  std::int64_t max_waiting = 1024;
  // The time to resolve names, connect, send and be answered.
  std::chrono::milliseconds deadline{5'000};
};

class EventSender {
 public:
  // Borrows `metrics`.
  explicit EventSender(runtime::Metrics& metrics, EventSenderOptions options = {});
  // Gives up deliveries in progress, which then count as failed.
  ~EventSender();
  EventSender(const EventSender&) = delete;
  EventSender& operator=(const EventSender&) = delete;

  // Takes the events that the instance has to send, and sends them.
  void Flush(const std::shared_ptr<InstanceTable::Slot>& slot);

  // Returns the ServerResponse::stream for a Response::event_stream. It must not be called after
  // this object is destroyed.
  std::function<void(http::StreamWriter)> Stream(const std::shared_ptr<InstanceTable::Slot>& slot,
                                                 std::uint64_t stream);

 private:
  class Impl;
  StreamTable streams_;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace shoal::mockserver
