// SPDX-License-Identifier: Apache-2.0
// A candidate's marks are bits that say what the episode knows of the candidate, such as that its
// resource was read or that the same request was refused.
//
// The environment gives the bits their meaning. Bit k adds the k-th mark weight of the row to the
// candidate's logit, and the number of candidates that carry it is a feature of the row. Most
// candidates have no marks, so a row lists only those that do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace shoal::model {

// The most kinds of marks, since the bits of a candidate are one 32-bit number.
inline constexpr std::int64_t kMaximumMarkKinds = 32;

// A bound for AreValid that every candidate is below.
inline constexpr std::int64_t kAnyCandidate = std::int64_t{1} << 32;

struct CandidateMark {
  std::uint32_t candidate = 0;
  std::uint32_t bits = 0;

  friend bool operator==(const CandidateMark&, const CandidateMark&) = default;
};

// The marks of many rows, one row after another. The candidates of a row ascend without repeats.
struct MarkRows {
  std::vector<CandidateMark> marks;
  // The end of each row's marks in `marks`.
  std::vector<std::size_t> ends;

  std::size_t rows() const { return ends.size(); }
  std::span<const CandidateMark> Row(std::size_t row) const {
    const std::size_t begin = row == 0 ? 0 : ends[row - 1];
    return std::span(marks).subspan(begin, ends[row] - begin);
  }
  void Add(std::span<const CandidateMark> row) {
    marks.insert(marks.end(), row.begin(), row.end());
    ends.push_back(marks.size());
  }
  void Clear() {
    marks.clear();
    ends.clear();
  }
};

// Adds to `logits` the weights of each candidate's marks. `weights` has one number for each kind.
// REQUIRES: the candidates are indices into `logits`, and no bit lies beyond `weights`.
void AddMarkWeights(std::span<const CandidateMark> marks, std::span<const float> weights,
                    std::span<float> logits);

// Adds to `by_weights` the derivatives of a loss by the weights, given those by the logits.
// REQUIRES: the same.
void AddMarkGradient(std::span<const CandidateMark> marks, std::span<const float> by_logits,
                     std::span<float> by_weights);

// Writes one feature for each kind: a quarter of log(1 + the number of candidates with the mark).
void CountMarks(std::span<const CandidateMark> marks, std::span<float> features);

// Returns whether the candidates of a row ascend, lie below `candidates` and have marks of the
// first `kinds` kinds only.
bool AreValid(std::span<const CandidateMark> marks, std::int64_t candidates, std::int64_t kinds);

}  // namespace shoal::model
