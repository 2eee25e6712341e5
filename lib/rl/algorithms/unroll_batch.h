// SPDX-License-Identifier: Apache-2.0
// B unrolls side by side, padded to T rows: the data of one update.
//
// Row T of a column is its bootstrap row. A shorter unroll of length L has its bootstrap row at L
// and zeros (with weight 0) after it. Flags are RowFlag of proto/act.proto: FIRST and FINAL
// describe the row, TERMINATED and TRUNCATED its action. Vectors are row-major; O, F, D, S and n
// are as in model/policy.h.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "platform/runtime/status.h"
#include "rl/model/candidate_mark.h"
#include "rl/model/candidate_table.h"
#include "rl/model/policy_spec.h"

namespace shoal::algorithms {

inline constexpr std::uint8_t kFirst = 1;
inline constexpr std::uint8_t kTerminated = 2;
inline constexpr std::uint8_t kTruncated = 4;
inline constexpr std::uint8_t kFinal = 8;

struct UnrollBatch {
  std::int64_t length = 0;   // T
  std::int64_t columns = 0;  // B; 0 for a rank without data, which takes part with zero weight

  std::vector<std::int64_t> lengths;        // [B], 1 to T; empty: all T
  std::vector<float> observation;           // [T+1, B, O]; empty with a convolution
  std::vector<std::uint8_t> frames;         // [T+1, B, O]                     (convolution)
  std::vector<std::uint16_t> embeddings;    // [U, D], binary16, each content once
  std::vector<std::int32_t> content_index;  // [T+1, B, F], index into embeddings, -1: none
  std::vector<std::shared_ptr<const model::CandidateTable>> tables;  // one object for each catalog
  std::vector<std::int32_t> catalog;             // [T+1, B], index into tables      (candidates)
  model::MarkRows marks;                         // (T+1) * B rows               (candidate_marks)
  std::vector<std::uint8_t> legal;               // [T+1, B, n]; empty: all          (discrete)
  std::vector<float> past_requests;              // [B, D], before row 0             (past_requests)
  std::vector<float> core_state;                 // [B, S], before row 0
  std::vector<std::int64_t> action;              // [T, B]; -1 in FINAL rows; empty with a box
  std::vector<float> box_action;                 // [T, B, n], as in PolicyOutputs  (box)
  std::vector<float> behaviour_log_probability;  // [T, B]
  std::vector<float> reward;                     // [T, B], of the row's action
  std::vector<float> value;                      // [T+1, B], of the behaviour policy
  std::vector<std::uint8_t> flags;               // [T+1, B]
  // 0 for padding, FINAL rows and rows that are not to be learned from; 1 otherwise.
  std::vector<float> weight;  // [T, B]
  // The importance weight of each column's losses, above 0; empty: 1. It corrects for the
  // probability with which replay drew the column (Schaul et al. 2016, section 3.4), and it does
  // not change the number of rows by which sums are divided.
  std::vector<float> importance;  // [B]
  // Columns with the same number are episodes, or parts of them, with the same start; empty: all
  // count as one group.
  std::vector<std::int64_t> group;  // [B]
  // The number of publications between the version that acted and the newest one.
  std::vector<std::int64_t> staleness;  // [T, B]; may be empty
  // Whether the newest publication has the parameters that are about to be trained.
  bool newest_is_trained = false;

  // Returns INVALID_ARGUMENT naming the vector with a wrong size, index or flag.
  absl::Status Validate(const model::PolicySpec& spec) const;
};

}  // namespace shoal::algorithms
