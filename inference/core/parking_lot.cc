// SPDX-License-Identifier: Apache-2.0
#include "inference/core/parking_lot.h"

#include <utility>

#include "platform/runtime/log.h"

namespace shoal::inference {

bool ParkingLot::TryInsert(const Unroll& unroll) {
  const absl::Status inserted = sink_.TryInsert(unroll);
  if (absl::IsResourceExhausted(inserted)) return false;
  if (!inserted.ok()) {
    metrics_.dropped_unrolls.Increment();
    spdlog::warn("event=unroll_dropped environment={} first_sequence={} reason={}",
                 unroll.environment, unroll.first_sequence,
                 runtime::Quoted(runtime::Message(inserted)));
    return true;
  }
  metrics_.unrolls.Increment();
  metrics_.unroll_version_spread.Observe(
      unroll.newest.epoch == unroll.oldest.epoch
          ? static_cast<double>(unroll.newest.step - unroll.oldest.step)
          : 0.0);
  return true;
}

void ParkingLot::Insert(Unroll&& unroll) {
  if (unrolls_.empty() && TryInsert(unroll)) return;
  Park(std::move(unroll));
}

void ParkingLot::Park(Unroll&& unroll) {
  ++parked_[unroll.environment].unrolls;
  unrolls_.push_back(std::move(unroll));
  metrics_.SetWaiting(WaitReason::kReplay, parked_.size());
}

bool ParkingLot::Hold(const Row& row, RowAnswer& answer) {
  std::vector<Held>& held = parked_[row.environment()].answers;
  if (held.size() >= kMaxAnswers) return false;
  held.push_back({row, std::move(answer)});
  return true;
}

void ParkingLot::Free(std::uint64_t environment, AnswerBatch& answers) {
  const auto found = parked_.find(environment);
  if (--found->second.unrolls > 0) return;
  for (Held& held : found->second.answers) {
    answers.Add(held.row, std::move(held.answer));
  }
  parked_.erase(found);
}

void ParkingLot::Retry(AnswerBatch& answers) {
  while (!unrolls_.empty() && TryInsert(unrolls_.front())) {
    Free(unrolls_.front().environment, answers);
    unrolls_.pop_front();
  }
  metrics_.SetWaiting(WaitReason::kReplay, parked_.size());
}

void ParkingLot::Release(AnswerBatch& answers) {
  Retry(answers);
  metrics_.dropped_unrolls.Increment(static_cast<double>(unrolls_.size()));
  for (const Unroll& unroll : unrolls_) Free(unroll.environment, answers);
  unrolls_.clear();
  sink_.Flush();
  metrics_.SetWaiting(WaitReason::kReplay, 0);
}

}  // namespace shoal::inference
