// SPDX-License-Identifier: Apache-2.0
// Decodes an unroll from the wire into arrays that are safe to train on.
//
// All checks are made here, once: names, dtypes, shapes and byte counts; numbers that are not
// finite; actions that are out of range or illegal; unknown keys and catalogs. A peer's mistake
// costs its unroll, never the learner.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "learner/unrolls/content_table.h"
#include "learner/unrolls/unroll_use.h"
#include "platform/content/content_key.h"
#include "platform/runtime/status.h"
#include "proto/unroll.pb.h"
#include "rl/model/candidate_mark.h"
#include "rl/model/candidate_table.h"
#include "rl/model/policy_spec.h"
#include "rl/parameters/version.h"

namespace shoal::learner {

// One unroll of T rows and the bootstrap row. Vectors are row-major. rl/model/policy.h defines O,
// F, D, S, n.
struct DecodedUnroll {
  // The decoder takes it for the first use.
  UnrollUse key;
  std::int64_t length = 0;  // T
  // How many of the first rows are also in the environment's unroll before.
  std::int64_t overlap = 0;
  std::string encoder_version;

  std::vector<float> observation;                 // [T+1, O]; empty with a convolution
  std::vector<std::uint8_t> frames;               // [T+1, O]          (convolution)
  std::vector<content::ContentKey> content_keys;  // [C], distinct
  std::vector<ContentTable::Vector> contents;     // [C]
  std::vector<std::int32_t> content_index;        // [T+1, F] into contents, or -1
  std::vector<std::shared_ptr<const model::CandidateTable>> tables;
  std::vector<std::int32_t> catalog;             // [T+1] into tables  (candidates)
  model::MarkRows marks;                         // T+1 rows           (candidate_marks)
  std::vector<std::uint8_t> legal;               // [T+1, n]; empty: all  (discrete)
  std::vector<float> past_requests;              // [D]       (past_requests)
  std::vector<float> core_state;                 // [S]
  std::vector<std::int64_t> action;              // [T]; -1 in FINAL rows; empty with a box
  std::vector<float> box_action;                 // [T, n], as in UnrollBatch  (box)
  std::vector<float> behaviour_log_probability;  // [T]
  std::vector<float> reward;                     // [T]
  std::vector<float> value;                      // [T+1]
  std::vector<std::uint8_t> flags;               // [T+1]
  std::vector<float> weight;                     // [T], 0 or 1
  std::vector<parameters::Version> acted;        // [T]
  std::optional<std::int64_t> group;             // of episodes that share a start
  std::vector<std::int64_t> episode_id;          // [T+1]
  std::vector<std::uint8_t> relabelled;          // [T], 1 where hindsight set the goal

  // The number of rows with weight.
  std::int64_t steps = 0;

  // What the round knows of the sample; the decoder leaves it alone. They are those of
  // replay::client::SampledUnroll.
  std::size_t shard = 0;
  double probability = 1;
  double least_probability = 1;
};

class UnrollDecoder {
 public:
  // Longer unrolls are refused.
  static constexpr std::int64_t kMaxLength = 1 << 16;

  // Unrolls of another policy than `policy_id` are refused. The first `burn_in` rows of an unroll
  // carry no weight: the core's state, as it was stored when they acted, is renewed by them with
  // the parameters of today (Kapturowski et al. 2019, "Recurrent experience replay in distributed
  // reinforcement learning", section 3). A row with which an episode begins, and those after it,
  // need no burn-in, but rows that the unroll before has too were learned from there. `contents`
  // must outlive the decoder.
  UnrollDecoder(const model::PolicySpec& spec, ContentTable& contents, std::uint32_t policy_id = 0,
                std::int64_t burn_in = 0)
      : spec_(spec), contents_(contents), policy_id_(policy_id), burn_in_(burn_in) {}

  // Returns the columns that every unroll must have, as replay compares them (replay/signature.h).
  std::string Signature() const;

  // Returns INVALID_ARGUMENT, which names the column and the reason, or NOT_FOUND, which names the
  // content or catalog.
  absl::StatusOr<DecodedUnroll> Decode(const proto::Unroll& unroll) const;

 private:
  class Columns;

  absl::Status CheckPolicy(const Columns& columns) const;
  absl::Status DecodeOverlap(const Columns& columns, DecodedUnroll& out) const;
  absl::Status DecodeObservation(const Columns& columns, DecodedUnroll& out) const;
  absl::Status DecodeFrames(const Columns& columns, DecodedUnroll& out) const;
  absl::Status DecodeContents(const Columns& columns, const std::string& encoder_version,
                              DecodedUnroll& out) const;
  absl::Status DecodeCatalogs(const Columns& columns, const proto::Unroll& unroll,
                              DecodedUnroll& out) const;
  absl::Status DecodeMarks(const Columns& columns, DecodedUnroll& out) const;
  absl::Status DecodeSteps(const Columns& columns, DecodedUnroll& out) const;
  absl::Status DecodeState(const Columns& columns, DecodedUnroll& out) const;
  absl::Status CheckActions(const DecodedUnroll& unroll) const;

  const model::PolicySpec spec_;
  ContentTable& contents_;
  const std::uint32_t policy_id_;
  const std::int64_t burn_in_;
};

}  // namespace shoal::learner
