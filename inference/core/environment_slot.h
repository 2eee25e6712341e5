// SPDX-License-Identifier: Apache-2.0
// What the server knows of one environment: who speaks for it, where it is, what it remembers.
//
// A step is effectively once: a repeated (incarnation, sequence) gets the stored answer, an older
// incarnation is fenced, a newer one starts anew. An end row that comes after later rows is
// accepted and changes nothing: its episode was cut off when they came. Not thread-safe.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "inference/core/row_block.h"
#include "inference/core/unroll_builder.h"

namespace shoal::inference {

class EnvironmentSlot {
 public:
  // Answers kept for repeats.
  static constexpr std::size_t kStoredAnswers = 4;

  struct Decision {
    enum class Kind : std::uint8_t {
      // A new row; the sequence is taken.
      kProceed,
      // An end row of an episode that does not run here; the sequence is taken.
      kIgnore,
      // Seen before, or an end row that comes too late: `answer` is what was or is to be said.
      kRepeat,
      // Seen before, its answer is being made.
      kBeingAnswered,
      kFenced,
      // `answer.error` says why; the sequence is not taken.
      kInvalid,
    };
    Kind kind = Kind::kProceed;
    RowAnswer answer = {};
    // An earlier row or end never came: the running episode is truncated without final observation.
    bool lost = false;
  };

  // Decides about `row` and, when it is taken, moves on.
  Decision Take(const Row& row);
  // Keeps `answer` for repeats of its row.
  void Store(const RowAnswer& answer);

  // The row goes into / came out of a forward pass.
  void BeginAnswer(const Row& row) { being_answered_ = row.sequence(); }
  void EndAnswer() { being_answered_.reset(); }

  std::uint64_t incarnation() const { return incarnation_; }

  // State of the episode, all before its next row.
  std::vector<float> core_state;     // [S]
  std::vector<float> past_requests;  // [D]
  // Actions asked for so far.
  std::uint32_t step = 0;
  // The owner's time when its last row came.
  std::chrono::minutes last_row{0};
  // Train environments only.
  std::unique_ptr<UnrollBuilder> builder;

 private:
  struct Stored {
    std::uint64_t sequence = 0;
    RowStatus status = RowStatus::kOk;
    std::int64_t action = -1;
    parameters::Version version = {};
    bool used = false;
  };

  void Reset(const Row& row);
  Decision Repeat(const Row& row) const;
  static Decision Invalid(const Row& row, std::string error);

  bool known_ = false;
  std::uint64_t incarnation_ = 0;
  std::uint64_t next_sequence_ = 0;
  // An episode runs: it began here and has not ended.
  bool running_ = false;
  std::optional<std::uint64_t> being_answered_;
  std::array<Stored, kStoredAnswers> stored_;
  std::size_t next_stored_ = 0;
};

}  // namespace shoal::inference
