// SPDX-License-Identifier: Apache-2.0
#include "actor/solver/policy_solver.h"

#include <absl/strings/str_cat.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "actor/environments/environment_source.h"
#include "actor/environments/redfish_environment.h"
#include "actor/solver/attempts.h"
#include "actor/solver/twin_service.h"
#include "operate/shortening.h"
#include "redfish/catalog/catalog.h"

namespace shoal::actor {
namespace {

// Leaves the twin with the requests that are needed, if they have no side effects.
absl::Status Accept(const redfish::Watch& watch, operate::Twin& twin) {
  const auto shortened = operate::Shorten(twin.TakeSteps(), watch.predicate(), twin);
  SHOAL_RETURN_IF_ERROR(shortened.status());
  const std::int64_t effects = twin.Evaluate().collateral;
  if (effects == 0) return absl::OkStatus();
  return runtime::FailedPrecondition(
      absl::StrCat("the goal was reached with ", effects, " side effects"));
}

// Returns episodes that ask for the same in different sentences.
std::vector<redfish::Episode> Attempts(const redfish::AppliedGoal& goal,
                                       const redfish::Episode& episode, std::uint64_t count) {
  // Some goals have few sentences, so some numbers repeat one.
  constexpr std::uint64_t kDrawsPerSentence = 8;
  std::vector<redfish::Episode> episodes;
  std::set<std::string> sentences;
  const auto add = [&](const std::string& sentence) {
    if (sentence.empty() || !sentences.insert(sentence).second) return;
    episodes.push_back(episode);
    episodes.back().text = sentence;
  };
  add(episode.text);
  for (std::uint64_t number = 0; number < count * kDrawsPerSentence && episodes.size() < count;
       ++number) {
    add(goal.SentenceOf(episode, number));
  }
  return episodes;
}

}  // namespace

PolicySolver::PolicySolver(PolicySolverOptions options,
                           std::shared_ptr<const redfish::Schema> schema, Check check)
    : options_(std::move(options)), schema_(std::move(schema)), check_(std::move(check)) {}

absl::Status PolicySolver::Solve(const redfish::AppliedGoal& goal, const redfish::Episode& episode,
                                 operate::Twin& twin) {
  auto tasks = std::make_shared<RedfishTasks>();
  tasks->options = options_.environment.undisturbed();
  const std::string& name = twin.capture().name();
  tasks->pairs = {{.goal = goal.goal().name(), .capture = name}};
  tasks->limits = {options_.environment.episode_limit};
  SHOAL_ASSIGN_OR_RETURN(auto catalog, redfish::Catalog::Build(twin.capture(), *schema_));
  tasks->catalogs[name] = MakeServiceCatalog(std::move(catalog), schema_);
  tasks->given = Attempts(goal, episode, options_.attempts);
  if (tasks->given.empty()) {
    return runtime::FailedPrecondition("goal " + goal.goal().name() + " has no sentence");
  }
  const std::uint64_t attempts = tasks->given.size();
  const UniformSource source(RedfishEnvironment::Spec(), tasks->pairs, [&tasks, &twin] {
    const auto cache = std::make_shared<ResponseCache>(
        static_cast<std::size_t>(tasks->options.response_cache_bytes));
    return std::make_unique<RedfishEnvironment>(tasks, std::make_unique<TwinService>(twin), cache);
  });
  const auto judge = [&](const EpisodeResult& result) -> absl::Status {
    if (!result.facts.success) {
      return runtime::FailedPrecondition(
          absl::StrCat("after ", result.facts.steps, " requests the goal did not hold"));
    }
    return Accept(episode.watch.value(), twin);
  };
  return PlayAttempts({.inference = options_.inference,
                       .client_name = absl::StrCat("solver pid=", ::getpid()),
                       .attempts = attempts,
                       .patience = options_.patience},
                      source, judge, check_);
}

}  // namespace shoal::actor
