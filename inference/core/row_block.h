// SPDX-License-Identifier: Apache-2.0
// A row block holds the decoded and checked rows of one message, as a structure of arrays.
//
// Rows refer to their block by shared_ptr, and it lives while any of them is in use. Its destructor
// gives the message's place in the stream's window back. One thread fills the block before its rows
// leave that thread. From then on the block is immutable except for `embeddings` and `candidates`:
// the elements of a row are written before that row is handed on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "inference/core/row_layout.h"
#include "platform/content/content_key.h"
#include "platform/runtime/clock.h"
#include "rl/model/candidate_mark.h"
#include "rl/model/candidate_table.h"
#include "rl/parameters/version.h"
#include "text/embedding/embedding.h"

namespace shoal::inference {

// The values of proto::RowFlag.
inline constexpr std::uint8_t kFirst = 1;
inline constexpr std::uint8_t kTerminated = 2;
inline constexpr std::uint8_t kTruncated = 4;
inline constexpr std::uint8_t kFinal = 8;

// The values of proto::RowStatus.
enum class RowStatus : std::uint8_t {
  kOk = 0,
  kAccepted = 1,
  kNeedContent = 2,
  kNeedCatalog = 3,
  kInvalid = 4,
  kFenced = 5,
  kOverloaded = 6,
  kExpired = 7,
  kResumed = 8,
};
inline constexpr std::size_t kRowStatusCount = 9;

// The actions that an episode has taken so far: those of a policy without a box, or with one, in
// the box's own units, [k, n].
struct EpisodeActions {
  std::vector<std::int64_t> discrete;
  std::vector<float> box;

  friend bool operator==(const EpisodeActions&, const EpisodeActions&) = default;
};

// The episode that an environment goes on with (environment_state.h).
struct ResumedEpisode {
  // The incarnation that it goes on in.
  std::uint64_t incarnation = 0;
  std::uint64_t episode = 0;
  std::uint64_t next_sequence = 0;
  EpisodeActions actions;
};

struct RowAnswer {
  std::uint64_t environment = 0;
  std::uint64_t sequence = 0;
  RowStatus status = RowStatus::kOk;
  std::int64_t action = -1;
  // [n], in the box's own units, where actions are points of a box.
  std::vector<float> box_action = {};
  parameters::Version version = {};
  // The missing contents with kNeedContent, or the missing catalogs with kNeedCatalog.
  std::vector<content::ContentKey> missing = {};
  // The reason with kInvalid.
  std::string error = {};
  // What to go on with, with kResumed.
  std::shared_ptr<const ResumedEpisode> resumed = nullptr;
};

// The destination of answers: a stream, or a test. Thread-safe.
class ReplySink {
 public:
  virtual ~ReplySink() = default;
  virtual void Deliver(std::vector<RowAnswer> answers) = 0;
  // Called when every row of one message has been answered or dropped.
  virtual void Release() = 0;
};

// A catalog, with its overlay if it has one, ready for the policy.
struct Candidates {
  content::ContentKey key;
  // The base of an overlay, whose table is part of this list's table. Null for a catalog.
  std::shared_ptr<const Candidates> base;
  std::shared_ptr<const model::CandidateTable> table;
  // N, which includes removed candidates.
  std::int64_t count = 0;
  // Keeps the embeddings of the list's own candidates in the content store.
  std::vector<embedding::Embedding> embeddings;
};

struct PolicySelector {
  enum class Kind : std::uint8_t { kCurrent, kPinned, kInitial, kUniform, kSimilarity };
  Kind kind = Kind::kCurrent;
  // The version with kPinned.
  parameters::Version version = {};
};

struct RowBlock {
  RowBlock() = default;
  RowBlock(const RowBlock&) = delete;
  RowBlock& operator=(const RowBlock&) = delete;
  ~RowBlock() {
    if (sink) sink->Release();
  }

  std::size_t rows = 0;  // B
  std::shared_ptr<const RowLayout> layout;
  std::vector<std::uint64_t> environments;                    // [B]
  std::vector<std::uint64_t> incarnations;                    // [B]
  std::vector<std::uint64_t> sequences;                       // [B]
  std::vector<std::uint64_t> episodes;                        // [B]
  std::vector<std::uint64_t> groups;                          // [B] or empty
  std::vector<std::uint8_t> evaluate;                         // [B]
  std::vector<std::uint8_t> relabelled;                       // [B] or empty
  std::vector<std::uint8_t> flags;                            // [B]
  std::vector<float> rewards;                                 // [B]
  std::string observations;                                   // [B, observation bytes]
  std::vector<content::ContentKey> content_keys;              // [B, F]
  std::vector<embedding::Embedding> embeddings;               // [B, F], null: no content
  std::vector<content::ContentKey> catalog_keys;              // [B] or empty
  std::vector<std::shared_ptr<const Candidates>> candidates;  // [B] or empty
  model::MarkRows marks;                                      // B rows or empty
  std::vector<std::uint8_t> legal;                            // [B, n] or empty
  std::vector<std::int64_t> forced;                           // [B] or empty
  std::vector<std::byte> extras;                              // [B, extras bytes]
  std::vector<PolicySelector> selectors;                      // [B] or empty
  // Why decoding refused a row; empty for an accepted row.
  std::vector<std::string> errors;  // [B] or empty
  runtime::TimePoint arrived;
  // Rows are not evaluated after this time.
  runtime::TimePoint deadline = runtime::TimePoint::max();
  std::shared_ptr<ReplySink> sink;
};

// One row of a block.
struct Row {
  std::shared_ptr<RowBlock> block;
  std::size_t index = 0;

  std::uint64_t environment() const { return block->environments[index]; }
  std::uint64_t incarnation() const { return block->incarnations[index]; }
  std::uint64_t sequence() const { return block->sequences[index]; }
  std::uint64_t episode() const { return block->episodes[index]; }
  std::uint8_t flags() const { return block->flags[index]; }
  std::span<const model::CandidateMark> marks() const {
    return block->marks.rows() == 0 ? std::span<const model::CandidateMark>()
                                    : block->marks.Row(index);
  }
  // The content that candidates are compared with, or zero without one.
  content::ContentKey SimilarityKey(const PolicyShape& shape) const {
    if (shape.similarity_index < 0) return {};
    return block->content_keys[index * shape.content_count +
                               static_cast<std::size_t>(shape.similarity_index)];
  }
  bool evaluate() const { return block->evaluate[index] != 0; }
  bool relabelled() const { return !block->relabelled.empty() && block->relabelled[index] != 0; }
  // True for an end row without an observation, which needs no evaluation.
  bool ends_only() const { return EndsOnly(flags()); }
  // True if the row asks for an action.
  bool acts() const { return (flags() & (kTerminated | kTruncated)) == 0; }

  static bool EndsOnly(std::uint8_t flags) {
    return (flags & kTerminated) != 0 || ((flags & kTruncated) != 0 && (flags & kFinal) == 0);
  }
};

inline RowAnswer AnswerTo(const Row& row, RowStatus status) {
  return {.environment = row.environment(), .sequence = row.sequence(), .status = status};
}

}  // namespace shoal::inference
