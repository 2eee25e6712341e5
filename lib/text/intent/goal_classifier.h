// SPDX-License-Identifier: Apache-2.0
// How likely a sentence asks for each goal, by its vector: softmax regression on the goals' own
// phrasings, and on sentences that ask for none of them.
//
// The vector is that of any TextEncoder, so a better encoder improves the classifier without a
// change here. Values are replaced by words for their kinds before a sentence is encoded, because
// a value says nothing about the goal. Training is deterministic: the same goals, refused sentences
// and encoder give the same classifier.
//
// Immutable, safe for any number of threads. It borrows the encoder, which must outlive it.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "platform/runtime/status.h"
#include "redfish/goals/goal.h"
#include "text/intent/sentence.h"
#include "text/lexical/text_encoder.h"

namespace shoal::intent {

class GoalClassifier {
 public:
  // Trains on `suite` and `refused`. The error is the encoder's.
  static absl::StatusOr<GoalClassifier> Train(const redfish::GoalSuite& suite,
                                              std::span<const redfish::PhrasePattern> refused,
                                              const tokens::TextEncoder& encoder);

  // Returns the probability of each goal in the suite's order, and behind them that of none.
  absl::StatusOr<std::vector<double>> Probabilities(const Sentence& sentence) const;

 private:
  GoalClassifier(const tokens::TextEncoder& encoder, std::size_t classes);
  void Fit(std::span<const float> vectors, std::span<const std::size_t> labels);

  const tokens::TextEncoder* encoder_;
  std::size_t classes_;
  std::size_t dimension_;
  std::vector<float> weights_;  // [classes, dimension + 1]; the last column is the bias
};

}  // namespace shoal::intent
