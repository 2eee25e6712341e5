// SPDX-License-Identifier: Apache-2.0
// Holds the finished unrolls that replay has no room for, and the answers that wait with them.
//
// An environment is parked from the moment its unroll finds no room until its last unroll is
// inserted. Meanwhile its answers are held, so its actor waits; other environments go on. Not
// thread-safe.
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
  // The limit on answers held for one environment. An actor that waits sends few rows.
  static constexpr std::size_t kMaxAnswers = 16;

  // Both references must outlive this object.
  ParkingLot(UnrollSink& sink, InferenceMetrics& metrics) : sink_(sink), metrics_(metrics) {}

  // Hands the unroll to the sink. If there is no room, parks the environment.
  void Insert(Unroll&& unroll);
  // Parks the environment as if there were no room, until Retry.
  void Park(Unroll&& unroll);
  // Marks the unroll that was parked last as the last one of a round that was played in `played`.
  // REQUIRES: it has not been inserted.
  void EndRound(const parameters::Version& played) { unrolls_.back().ends_round = played; }
  bool IsParked(std::uint64_t environment) const { return parked_.contains(environment); }
  // Holds the answer back. Returns false when too many are held. REQUIRES: IsParked.
  bool Hold(const Row& row, RowAnswer& answer);

  // Tries the parked unrolls again, oldest first, and adds the answers of environments that are
  // free.
  void Retry(AnswerBatch& answers);
  // Drops the unrolls that still find no room, flushes the sink and adds all held answers to
  // `answers`.
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

  // Returns false when there is no room.
  bool TryInsert(const Unroll& unroll);
  void Free(std::uint64_t environment, AnswerBatch& answers);

  UnrollSink& sink_;
  InferenceMetrics& metrics_;
  std::deque<Unroll> unrolls_;
  std::unordered_map<std::uint64_t, Environment> parked_;
};

}  // namespace shoal::inference
