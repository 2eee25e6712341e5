// SPDX-License-Identifier: Apache-2.0
// The thread between the streams and the core: decodes messages, one by one, and admits their rows.
//
// Bounded: a message that finds no room is refused and its rows are answered kOverloaded by the
// stream. Thread-safe.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>

#include "inference/core/admission.h"
#include "inference/service/act_stream.h"
#include "platform/runtime/bounded_queue.h"
#include "platform/runtime/thread.h"

namespace shoal::inference {

class Intake final : public MessageSink {
 public:
  // References outlive this. Start begins the work.
  Intake(std::size_t max_messages, const PolicyShape& shape)
      : shape_(shape), queue_(max_messages) {}
  ~Intake() override { Close(); }

  void Start(Admission& admission);

  bool Submit(ActMessage&& message) override;
  // The encoder finished a slice: rows may be ready. From any thread.
  void OnEncoded();
  // Takes no more messages, drops those that wait, ends the thread.
  void Close();
  // Takes no more messages, works off those that wait, ends the thread.
  void Drain();

 private:
  // Nothing: wake up.
  using Event = std::optional<ActMessage>;

  void Run(Admission& admission);
  void Take(ActMessage message, Admission& admission);

  const PolicyShape& shape_;
  runtime::BoundedQueue<Event> queue_;
  // Relaxed: a hint that Recheck is due; the queue's lock orders the rest.
  std::atomic<bool> encoded_{false};
  runtime::Thread thread_;
};

}  // namespace shoal::inference
