// SPDX-License-Identifier: Apache-2.0
#include "cli/results/exchange.h"

#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace shoal::cli {
namespace {

using EpisodeKey = std::tuple<std::string, std::string, std::int64_t>;

EpisodeKey KeyOf(const EpisodeOutcome& episode) {
  return {episode.goal, episode.capture, episode.episode};
}

// Returns the requests that may have changed something.
std::vector<std::string> ChangesOf(const EpisodeOutcome& episode) {
  std::vector<std::string> changes;
  for (const std::string& request : episode.requests) {
    for (const char* method : {"POST ", "PATCH ", "PUT ", "DELETE "}) {
      if (request.starts_with(method)) changes.push_back(request);
    }
  }
  return changes;
}

bool IsRight(const EpisodeOutcome& episode) {
  return episode.reached && episode.mutations <= episode.optimum;
}

}  // namespace

double ExchangeScore::share() const {
  return pairs == 0 ? 0.0 : static_cast<double>(followed) / static_cast<double>(pairs);
}

ExchangeScore CompareExchanged(std::span<const EpisodeOutcome> drawn,
                               std::span<const EpisodeOutcome> exchanged) {
  std::map<EpisodeKey, const EpisodeOutcome*> twins;
  for (const EpisodeOutcome& episode : exchanged) {
    if (episode.policy == "learned" && episode.exchanged) twins[KeyOf(episode)] = &episode;
  }
  ExchangeScore score;
  for (const EpisodeOutcome& one : drawn) {
    const auto found = twins.find(KeyOf(one));
    if (one.policy != "learned" || found == twins.end()) continue;
    const EpisodeOutcome& other = *found->second;
    const bool right = IsRight(one) && IsRight(other);
    const bool differ = ChangesOf(one) != ChangesOf(other);
    if (right && !differ) continue;
    ++score.pairs;
    score.followed += right && differ ? 1 : 0;
  }
  return score;
}

}  // namespace shoal::cli
