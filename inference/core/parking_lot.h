// SPDX-License-Identifier: Apache-2.0
// Finished unrolls that replay has no room for, and the answers that wait with them.
//
// An environment is parked from the moment its unroll finds no room until its last unroll is taken:
// its answers wait, so its actor waits. Nothing else does. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

#include "inference/core/answer_batch.h"
#include "inference/core/inference_metrics.h"
#include "inference/core/row_block.h"
#include "inference/core/unroll.h"

namespace shoal::inference {

class ParkingLot {
 public:
  // Answers held for one environment at most: an actor that waits has few.
  static constexpr std::size_t kMaxAnswers = 16;

  // Both outlive this.
  ParkingLot(UnrollSink& sink, InferenceMetrics& metrics) : sink_(sink), metrics_(metrics) {}

  // Hands the unroll to the sink; when there is no room, parks the environment.
  void Insert(Unroll&& unroll);
  bool IsParked(std::uint64_t environment) const { return parked_.contains(environment); }
  // Holds the answer back. False when too many are held. REQUIRES: IsParked.
  bool Hold(const Row& row, RowAnswer& answer);

  // There may be room: tries again, oldest first, and adds the answers of those that are free.
  void Retry(AnswerBatch& answers);
  // Drops the unrolls that still find no room, and lets all answers go.
  void Release(AnswerBatch& answers);

  std::size_t size() const { return unrolls_.size(); }

 private:
  struct Held {
    // Keeps the message's place in the stream's window taken.
    Row row;
    RowAnswer answer;
  };
  struct Environment {
    std::size_t unrolls = 0;
    std::vector<Held> answers;
  };

  // False when there is no room.
  bool TryInsert(const Unroll& unroll);
  void Free(std::uint64_t environment, AnswerBatch& answers);

  UnrollSink& sink_;
  InferenceMetrics& metrics_;
  std::deque<Unroll> unrolls_;
  std::unordered_map<std::uint64_t, Environment> parked_;
};

}  // namespace shoal::inference
