// SPDX-License-Identifier: Apache-2.0
#include "rl/demonstrations/demonstration_summary.h"

#include <absl/strings/str_format.h>

#include <map>
#include <utility>

namespace shoal::demonstrations {
namespace {

struct Totals {
  std::int64_t episodes = 0;
  std::int64_t steps = 0;
  std::int64_t mutations = 0;
  std::int64_t optimum = 0;

  void Add(const proto::Demonstration& demonstration) {
    ++episodes;
    steps += demonstration.unroll().length();
    mutations += demonstration.mutations();
    optimum += demonstration.optimum();
  }
};

double Per(std::int64_t sum, std::int64_t count) {
  return static_cast<double>(sum) / static_cast<double>(count > 0 ? count : 1);
}

std::string Line(const std::string& goal, const std::string& capture, const Totals& totals) {
  return absl::StrFormat("%-24s %-20s %8d %8.2f %10.2f\n", goal, capture, totals.episodes,
                         Per(totals.steps, totals.episodes),
                         totals.optimum > 0 ? Per(totals.mutations, totals.optimum) : 1.0);
}

}  // namespace

std::string Summarise(const DemonstrationFile& file) {
  // Goals and captures are listed in the order of their first appearance in the file.
  std::map<std::pair<std::string, std::string>, std::size_t> places;
  std::vector<std::pair<std::pair<std::string, std::string>, Totals>> pairs;
  Totals all;
  for (const proto::Demonstration& demonstration : file.all.demonstrations()) {
    const std::pair<std::string, std::string> name = {demonstration.goal(),
                                                      demonstration.capture()};
    const auto [place, is_new] = places.try_emplace(name, pairs.size());
    if (is_new) pairs.push_back({name, {}});
    pairs[place->second].second.Add(demonstration);
    all.Add(demonstration);
  }
  std::string text = absl::StrFormat("%-24s %-20s %8s %8s %10s\n", "goal", "capture", "episodes",
                                     "length", "/ optimum");
  for (const auto& [name, totals] : pairs) text += Line(name.first, name.second, totals);
  for (const proto::LeftOut& left_out : file.all.left_out()) {
    text += absl::StrFormat("left out: %s on %s, %d episodes: %s\n", left_out.goal(),
                            left_out.capture(), left_out.episodes(), left_out.reason());
  }
  return text + absl::StrFormat(
                    "%d demonstrations of %d goals and captures, %.2f requests long; %d texts, %d "
                    "catalogs; at most %d requests an episode\n",
                    all.episodes, pairs.size(), Per(all.steps, all.episodes),
                    file.all.contents_size(), file.all.catalogs_size(),
                    file.all.header().episode_limit());
}

}  // namespace shoal::demonstrations
