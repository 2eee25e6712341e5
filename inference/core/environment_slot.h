// SPDX-License-Identifier: Apache-2.0
// The state that the server keeps for one environment: its incarnation, its position and its
// memory.
//
// A step takes effect exactly once. A repeated (incarnation, sequence) gets the stored answer, a
// row of an older incarnation is fenced, and a newer incarnation starts afresh. An end row that
// comes after later rows is accepted without effect: its episode was truncated when those came. Not
// thread-safe.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "inference/core/environment_state.h"
#include "inference/core/row_block.h"
#include "inference/core/unroll_builder.h"
#include "platform/content/content_key.h"

namespace shoal::inference {

class EnvironmentSlot {
 public:
  // The number of answers kept for repeats.
  static constexpr std::size_t kStoredAnswers = 4;

  struct Decision {
    enum class Kind : std::uint8_t {
      // A new row. Its sequence number is taken.
      kProceed,
      // An end row of an episode that does not run here. Its sequence number is taken.
      kIgnore,
      // A row seen before, or an end row that comes too late. `answer` is the answer to give.
      kRepeat,
      // A row seen before, whose answer is still being computed.
      kBeingAnswered,
      kFenced,
      // `answer.error` says why. The sequence number is not taken.
      kInvalid,
    };
    Kind kind = Kind::kProceed;
    RowAnswer answer = {};
    // True if an earlier row or end never came. The running episode is then truncated without a
    // final observation.
    bool lost = false;
  };

  // Decides about `row` and advances the state if the row is taken.
  Decision Take(const Row& row);
  // Keeps `answer` for repeats of its row.
  void Store(const RowAnswer& answer);

  // Mark that the row enters a forward pass or has left it.
  void BeginAnswer(const Row& row) { being_answered_ = row.sequence(); }
  void EndAnswer() { being_answered_.reset(); }

  std::uint64_t incarnation() const { return incarnation_; }
  std::uint64_t next_sequence() const { return next_sequence_; }

  // Goes on with a saved state, in its incarnation, as the environment of `row`. Where the state is
  // of another policy or environment: INVALID_ARGUMENT, and a slot that knows nothing. REQUIRES:
  // there is a builder.
  absl::Status Resume(EnvironmentState state, const Row& row, const PolicyShape& shape);

  // The memory of the episode before its next row.
  std::vector<float> core_state;     // [S]
  std::vector<float> past_requests;  // [D]
  // The number of actions that the episode has asked for so far.
  std::uint32_t step = 0;
  // The running episode, and what it has done so far where the engine notes it.
  std::uint64_t episode = 0;
  EpisodeActions actions;
  // The same by the content that candidates are compared with.
  std::map<content::ContentKey, std::uint32_t> steps_about;
  // The engine's time when the last row came.
  std::chrono::minutes last_row{0};
  // Set for training environments only.
  std::unique_ptr<UnrollBuilder> builder;

 private:
  struct Stored {
    std::uint64_t sequence = 0;
    RowStatus status = RowStatus::kOk;
    std::int64_t action = -1;
    std::vector<float> box_action = {};
    parameters::Version version = {};
    bool used = false;
  };

  void Reset(const Row& row);
  Decision Repeat(const Row& row) const;
  static Decision Invalid(const Row& row, std::string error);

  bool known_ = false;
  std::uint64_t incarnation_ = 0;
  std::uint64_t next_sequence_ = 0;
  // True while an episode that began here has not ended.
  bool running_ = false;
  std::optional<std::uint64_t> being_answered_;
  std::array<Stored, kStoredAnswers> stored_;
  std::size_t next_stored_ = 0;
};

}  // namespace shoal::inference
