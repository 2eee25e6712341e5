// SPDX-License-Identifier: Apache-2.0
#include "inference/service/intake.h"

#include <utility>

#include "inference/service/rows_decoder.h"
#include "platform/runtime/clock.h"

namespace shoal::inference {

void Intake::Close() {
  queue_.Close();
  if (thread_.joinable()) thread_.Join();
}

void Intake::Start(Admission& admission) {
  thread_ = runtime::Thread("intake", [this, &admission] { Run(admission); });
}

bool Intake::Submit(ActMessage&& message) {
  Event event(std::move(message));
  if (queue_.TryPush(std::move(event))) return true;
  message = std::move(*event);
  return false;
}

void Intake::OnEncoded() {
  if (!encoded_.exchange(true, std::memory_order_relaxed)) queue_.TryPush(Event());
}

void Intake::Drain() {
  queue_.Drain();
  if (thread_.joinable()) thread_.Join();
}

void Intake::Run(Admission& admission) {
  while (std::optional<Event> event = queue_.Pop()) {
    if (encoded_.exchange(false, std::memory_order_relaxed)) admission.Recheck();
    if (event->has_value()) Take(std::move(**event), admission);
  }
}

void Intake::Take(ActMessage message, Admission& admission) {
  Arrival arrival;
  const absl::Status contents = DecodeContents(message.request, arrival);
  if (!contents.ok()) {
    message.stream->Refuse(contents);
    return;
  }
  if (message.request.has_rows()) {
    auto rows = DecodeRows(std::move(*message.request.mutable_rows()), message.layout, shape_,
                           runtime::SystemClock().Now());
    if (!rows.ok()) {
      message.stream->Refuse(rows.status());
      return;
    }
    (*rows)->sink = message.stream;
    arrival.rows = *std::move(rows);
  }
  const bool has_rows = arrival.rows != nullptr;
  admission.Admit(std::move(arrival));
  if (!has_rows) message.stream->Release();
}

}  // namespace shoal::inference
