// SPDX-License-Identifier: Apache-2.0
// Tests by a search over reachable states that no start of a goal needs fewer mutations than its
// optimum.
//
// The test covers starts of at most five mutations when SHOAL_SEARCH_MUTATIONS is 5, as in
// `./test --bars goals`, and of at most four without it. Moves are the catalog's requests to
// properties and actions of resources that the goal's side-effect budget names, the requests of the
// expert, and DELETE of members of collections that the budget names, each with and without the
// token of the last login. The search is breadth-first and visits each state once. A state is the
// bodies of the resources that moves name, the members of collections, and the set of what has
// happened so far.
#include <algorithm>
#include <catch2/catch.hpp>
#include <deque>
#include <set>
#include <string>
#include <vector>

#include "platform/runtime/random.h"
#include "redfish/capture/uri.h"
#include "redfish/catalog/catalog.h"
#include "redfish/goals/goal.h"
#include "redfish/goals/plan.h"
#include "tests/doubles/environment_number.h"
#include "tests/mockserver/goals/goal_starts.h"
#include "tests/mockserver/service/worlds.h"

namespace shoal::mockserver {
namespace {

using redfish::Episode;

constexpr const char* kCapture = "dmtf-rackmount1";

const redfish::Catalog& CatalogOfCapture() {
  static const auto catalog =
      redfish::Catalog::Build(WorldOf(kCapture)->capture(), *TestSchema()).value();
  return *catalog;
}

class Search {
 public:
  explicit Search(const redfish::AppliedGoal& goal, const Episode& episode) : episode_(episode) {
    Instance instance(WorldOf(kCapture));
    REQUIRE(Begin(instance, episode).ok());
    start_.push_back({instance, "", 0});
    InstanceClient expert(instance);
    REQUIRE(redfish::RunPlan(goal.PlanOf(episode), expert).ok());
    REQUIRE(instance.Evaluate().satisfied);
    for (const Move& move : expert.moves()) moves_.insert(move);
    AddBudget();
    // Only for goals about sessions does it matter which session sends a request.
    if (episode.watch->ToJson().dump().find("\"Session\"") != std::string::npos) {
      for (const Move& move : std::set<Move>(moves_)) {
        moves_.insert({move.method, move.uri, move.body, !move.by_session});
      }
    }
    for (const Move& move : moves_) shown_.insert(redfish::CanonicalUri(move.uri));
  }

  // Returns the least number of moves that reach the goal, or `limit` if fewer do not.
  std::int64_t Least(std::int64_t limit) {
    std::deque<Node> open = start_;
    std::set<std::string> seen;
    while (!open.empty()) {
      Node node = std::move(open.front());
      open.pop_front();
      if (node.instance.Evaluate().satisfied) return node.depth;
      if (node.depth + 1 >= limit) continue;
      for (const Move& move : moves_) {
        if (move.by_session && node.token.empty()) continue;
        Node next = node;
        ++next.depth;
        Make(next.instance, move, next.token);
        if (next.instance.Evaluate().satisfied) return next.depth;
        if (seen.insert(Key(next)).second) open.push_back(std::move(next));
      }
      REQUIRE(seen.size() < 200'000);
    }
    return limit;
  }

  std::size_t moves() const { return moves_.size(); }

 private:
  struct Node {
    Instance instance;
    std::string token;
    std::int64_t depth = 0;
  };

  void AddBudget() {
    runtime::Random random(1);
    std::set<std::string> named;
    for (const redfish::PropertyPath& allowed : episode_.watch->allowed()) {
      std::string uri = allowed.uri;
      if (uri.ends_with("/*")) uri.resize(uri.size() - 2);
      named.insert(uri);
      shown_.insert(uri);
      if (allowed.pointer == "/Members") AddDeletes(uri);
    }
    for (const redfish::Candidate& candidate : CatalogOfCapture().candidates()) {
      if (!candidate.IsMutation() || candidate.method == redfish::kWaitMethod) continue;
      const bool is_named = std::any_of(named.begin(), named.end(), [&](const std::string& uri) {
        return candidate.uri == uri || candidate.uri.starts_with(uri + "/Actions/");
      });
      if (!is_named) continue;
      const Json body = redfish::BindSlots(candidate, episode_.slot_values, random);
      if (candidate.method == "PATCH" && !IsWithinBudget(candidate.uri, body)) continue;
      moves_.insert({candidate.method, candidate.uri, body, false});
    }
  }

  // Returns whether the PATCH writes a property that the goal may change.
  bool IsWithinBudget(const std::string& uri, const Json& body) const {
    const Json flat = body.flatten();
    return std::any_of(flat.items().begin(), flat.items().end(),
                       [&](const auto& leaf) { return episode_.watch->Allows(uri, leaf.key()); });
  }

  void AddDeletes(const std::string& collection) {
    for (const Json& member : At(start_.front().instance, collection, "/Members")) {
      moves_.insert({"DELETE", redfish::LinkTarget(member), nullptr, false});
    }
  }

  std::string Key(const Node& node) const {
    std::string key = node.token.empty() ? "-" : "+";
    for (const std::string& uri : shown_) {
      const Json* const json = node.instance.Find(uri);
      key += json == nullptr ? "-" : json->dump();
    }
    std::set<std::string> happened;
    for (const redfish::HistoryRecord& record : node.instance.history()) {
      happened.insert(record.kind + record.uri + record.detail.dump());
    }
    for (const std::string& record : happened) key += record;
    return key;
  }

  const Episode& episode_;
  std::deque<Node> start_;
  std::set<Move> moves_;
  std::set<std::string> shown_;
};

std::int64_t MostMutations() { return doubles::EnvironmentNumber("SHOAL_SEARCH_MUTATIONS", 4); }

}  // namespace

TEST_CASE("No start of a goal on rackmount1 is left with fewer mutations than it says") {
  std::set<std::string> proven;
  for (const auto& goal : GoalsOf(kCapture)) {
    std::set<std::pair<std::string, std::int64_t>> done;
    for (std::uint64_t number = 0; number < 40; ++number) {
      const Episode episode = *goal->DrawEpisode(13, number, redfish::Split::kTrain);
      if (episode.optimum > MostMutations()) continue;
      if (!done.emplace(episode.situation, episode.optimum).second) continue;
      Search search(*goal, episode);
      INFO(goal->goal().name() << " " << episode.situation << ", " << search.moves() << " moves");
      REQUIRE(search.Least(episode.optimum) == episode.optimum);
      proven.insert(goal->goal().name());
    }
  }
  REQUIRE(proven.size() == GoalsOf(kCapture).size());
}

}  // namespace shoal::mockserver
