// SPDX-License-Identifier: Apache-2.0
// The arithmetic of one row of logits on a CPU: similarity added, softmax, its gradient.
//
// Pure functions over one row that stays in a core's cache between them. Each reads or writes the
// row once, in single precision, with vector instructions of the machine at hand. An illegal
// candidate has the logit kIllegalLogit; its probability and its gradient are exactly 0.
#pragma once

#include <span>

namespace shoal::model {

// What softmax needs to know about a row of logits x with the maximum m.
struct SoftmaxRow {
  float maximum = 0;
  // The sum of exp(x - m).
  float sum = 0;
  // The sum of exp(x - m) (x - m).
  float weighted = 0;

  // log p of an action with the logit `logit`.
  double LogProbability(float logit) const;
  // -sum p log p.
  double Entropy() const;
};

// logits[i] += scale * cosine[i] + shift. REQUIRES: equal sizes.
void AddSimilarity(std::span<float> logits, std::span<const float> cosine, float scale,
                   float shift);

// REQUIRES: at least one logit.
SoftmaxRow Summarise(std::span<const float> logits);

// out[i] = exp(logits[i] - maximum). REQUIRES: equal sizes; no logit above `maximum`.
void Exponentials(std::span<const float> logits, float maximum, std::span<float> out);

// The inner product. REQUIRES: equal sizes.
float Dot(std::span<const float> a, std::span<const float> b);

// Replaces each logit x by exp(x - maximum) * (constant + slope * (x - maximum)).
void SoftmaxGradient(std::span<float> logits, float maximum, float constant, float slope);

}  // namespace shoal::model
