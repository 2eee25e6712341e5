// SPDX-License-Identifier: Apache-2.0
#include "text/language/sampler.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "platform/runtime/check.h"

namespace shoal::language {
namespace {

struct Candidate {
  std::int64_t id;
  double logit;
};

bool MoreProbable(const Candidate& a, const Candidate& b) {
  return a.logit != b.logit ? a.logit > b.logit : a.id < b.id;
}

void KeepTopK(std::vector<Candidate>& candidates, std::int64_t k) {
  const auto count = static_cast<std::size_t>(k);
  if (k == 0 || count >= candidates.size()) return;
  const auto last = candidates.begin() + static_cast<std::ptrdiff_t>(count) - 1;
  std::nth_element(candidates.begin(), last, candidates.end(), MoreProbable);
  const double least = last->logit;
  std::erase_if(candidates, [&](const Candidate& it) { return it.logit < least; });
}

// Sorts the candidates, replaces logits by weights e^(logit - greatest), and cuts at `top_p`.
void KeepTopP(std::vector<Candidate>& candidates, double top_p) {
  std::sort(candidates.begin(), candidates.end(), MoreProbable);
  const double greatest = candidates.front().logit;
  double total = 0;
  for (Candidate& candidate : candidates) {
    candidate.logit = std::exp(candidate.logit - greatest);
    total += candidate.logit;
  }
  if (top_p >= 1) return;
  double sum = 0;
  std::size_t kept = 0;
  while (kept < candidates.size() && (kept == 0 || sum < top_p * total)) {
    sum += candidates[kept++].logit;
  }
  candidates.resize(kept);
}

}  // namespace

absl::Status SamplerOptions::Validate() const {
  if (!std::isfinite(temperature) || temperature < 0) {
    return runtime::InvalidArgument("temperature is " + std::to_string(temperature) +
                                    ", not 0 or more");
  }
  if (top_k < 0) return runtime::InvalidArgument("top_k is negative");
  if (!(top_p >= 0 && top_p <= 1)) {
    return runtime::InvalidArgument("top_p is " + std::to_string(top_p) + ", not within 0 and 1");
  }
  return absl::OkStatus();
}

std::int64_t ChooseToken(std::span<const float> logits, const TokenMask& mask,
                         const SamplerOptions& options, runtime::Random& random) {
  SHOAL_CHECK(mask.size() == static_cast<std::int64_t>(logits.size()));
  std::vector<Candidate> candidates;
  for (std::int64_t id = 0; id < mask.size(); ++id) {
    const float logit = logits[static_cast<std::size_t>(id)];
    if (mask.allows(id) && std::isfinite(logit)) candidates.push_back({id, logit});
  }
  if (candidates.empty()) return -1;
  if (options.temperature == 0) {
    return std::min_element(candidates.begin(), candidates.end(), MoreProbable)->id;
  }
  for (Candidate& candidate : candidates) candidate.logit /= options.temperature;
  KeepTopK(candidates, options.top_k);
  KeepTopP(candidates, options.top_p);
  double total = 0;
  for (const Candidate& candidate : candidates) total += candidate.logit;
  double left = random.Uniform() * total;
  for (const Candidate& candidate : candidates) {
    left -= candidate.logit;
    if (left < 0) return candidate.id;
  }
  return candidates.back().id;
}

}  // namespace shoal::language
