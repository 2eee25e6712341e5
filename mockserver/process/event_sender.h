// SPDX-License-Identifier: Apache-2.0
// Sends the events of instances that push them: POSTs each to its destination and tells the
// instance what became of it; writes event streams to their connections.
//
//   bool sends = false;
//   {
//     const runtime::MutexLock lock(slot->mutex);
//     ...
//     sends = slot->instance.HasEventsToSend();
//   }
//   if (sends) sender.Flush(slot);
//
// One thread of its own, many connections. Delivered is what is answered with 2xx within the
// deadline; the rest is tried again by the instance, on its virtual clock. Destinations of https
// fail: there is no TLS here. At most `max_waiting` are under way; further ones fail at once and
// are counted. No lock of a slot is held while on the network. Thread-safe; no method may be called
// with a slot's lock held.
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

  // Takes what the instance has to send, and sends it.
  void Flush(const std::shared_ptr<InstanceTable::Slot>& slot);

  // ServerResponse::stream for Response::event_stream. Calls come before this goes.
  std::function<void(http::StreamWriter)> Stream(const std::shared_ptr<InstanceTable::Slot>& slot,
                                                 std::uint64_t stream);

 private:
  class Impl;
  StreamTable streams_;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace shoal::mockserver
