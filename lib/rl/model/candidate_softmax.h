// SPDX-License-Identifier: Apache-2.0
// The CPU arithmetic for one row of logits: adding the similarity, softmax, and its gradient.
//
// These are pure functions. The row stays in a core's cache from one function to the next; each
// function reads or writes it once, in single precision, with the machine's vector instructions. An
// illegal candidate has the logit kIllegalLogit; its probability and its gradient are exactly 0.
#pragma once

#include <span>

namespace shoal::model {

// The sums that softmax needs over a row of logits x whose maximum is m.
struct SoftmaxRow {
  float maximum = 0;
  // The sum of exp(x - m).
  float sum = 0;
  // The sum of exp(x - m) (x - m).
  float weighted = 0;

  // Returns log p of an action whose logit is `logit`.
  double LogProbability(float logit) const;
  // Returns -sum p log p.
  double Entropy() const;
};

// Computes logits[i] += scale * cosine[i] + shift. REQUIRES: equal sizes.
void AddSimilarity(std::span<float> logits, std::span<const float> cosine, float scale,
                   float shift);

// Computes the sums of a row. REQUIRES: at least one logit.
SoftmaxRow Summarise(std::span<const float> logits);

// Computes out[i] = exp(logits[i] - maximum). REQUIRES: equal sizes; no logit above `maximum`.
void Exponentials(std::span<const float> logits, float maximum, std::span<float> out);

// Returns the inner product. REQUIRES: equal sizes.
float Dot(std::span<const float> a, std::span<const float> b);

// Replaces each logit x by exp(x - maximum) * (constant + slope * (x - maximum)).
void SoftmaxGradient(std::span<float> logits, float maximum, float constant, float slope);

}  // namespace shoal::model
