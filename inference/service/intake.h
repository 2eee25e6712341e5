// SPDX-License-Identifier: Apache-2.0
// The intake is the thread between the streams and the core. It decodes messages one by one and
// admits their rows.
//
// The queue is bounded: a message that does not fit is refused, and the stream answers its rows
// kOverloaded. Thread-safe.
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
  // The references must outlive the intake. Start starts its thread.
  Intake(std::size_t max_messages, const PolicyShape& shape)
      : shape_(shape), queue_(max_messages) {}
  ~Intake() override { Close(); }

  void Start(Admission& admission);

  bool Submit(ActMessage&& message) override;
  // The encoder has finished a slice, so rows may be ready. May be called from any thread.
  void OnEncoded();
  // Takes no more messages, drops the waiting ones and ends the thread.
  void Close();
  // Takes no more messages, processes the waiting ones and ends the thread.
  void Drain();

 private:
  // nullopt only wakes the thread.
  using Event = std::optional<ActMessage>;

  void Run(Admission& admission);
  void Take(ActMessage message, Admission& admission);

  const PolicyShape& shape_;
  runtime::BoundedQueue<Event> queue_;
  // Hints that Recheck is due. Relaxed, since the queue's lock orders everything else.
  std::atomic<bool> encoded_{false};
  runtime::Thread thread_;
};

}  // namespace shoal::inference
