// SPDX-License-Identifier: Apache-2.0
#include "actor/loop/fault_curriculum.h"

#include <catch2/catch.hpp>
#include <vector>

#include "actor/actor.h"
#include "platform/runtime/random.h"

namespace shoal::actor {
namespace {

// Returns the shares in which episodes begin whose success falls as they meet more.
std::vector<double> Shares(const CurriculumOptions& options, std::uint64_t seed) {
  FaultCurriculum curriculum(options);
  runtime::Random random(seed);
  std::vector<double> shares;
  for (int episode = 0; episode < 2000; ++episode) {
    shares.push_back(curriculum.share());
    curriculum.Note(shares.back(), random.Uniform() > 0.3 * shares.back());
  }
  return shares;
}

}  // namespace

TEST_CASE("The share of the worst faults never falls, goes through all stages and ends with all") {
  const std::vector<double> shares = Shares({.stages = 4, .success = 0.6, .episodes = 20}, 1);
  REQUIRE(shares.front() == 0);
  REQUIRE(shares.back() == 1);
  for (std::size_t i = 1; i < shares.size(); ++i) {
    const double step = shares[i] - shares[i - 1];
    REQUIRE((step == 0 || step == 0.25));
  }
}

TEST_CASE("The same results give the same stages") {
  const CurriculumOptions options{.stages = 10, .success = 0.8, .episodes = 30};
  REQUIRE(Shares(options, 3) == Shares(options, 3));
  REQUIRE(Shares(options, 3) != Shares(options, 4));
}

TEST_CASE("A stage takes its episodes, and goes on while too few of the last ones succeed") {
  FaultCurriculum curriculum({.stages = 1, .success = 0.75, .episodes = 4});
  for (int i = 0; i < 3; ++i) REQUIRE_FALSE(curriculum.Note(0, true));
  REQUIRE(curriculum.stage() == 0);
  FaultCurriculum failing({.stages = 1, .success = 0.75, .episodes = 4});
  for (int i = 0; i < 100; ++i) REQUIRE_FALSE(failing.Note(0, i % 2 == 0));
  REQUIRE(failing.share() == 0);
  // The last four are success, failure, success, success.
  REQUIRE_FALSE(failing.Note(0, true));
  REQUIRE(failing.Note(0, true));
  REQUIRE(failing.share() == 1);
  REQUIRE_FALSE(failing.Note(1, true));
  REQUIRE(failing.stage() == 1);
}

TEST_CASE("Episodes that began in an earlier stage do not count") {
  FaultCurriculum curriculum({.stages = 2, .success = 1, .episodes = 1});
  REQUIRE(curriculum.Note(0, true));
  REQUIRE_FALSE(curriculum.Note(0, true));
  REQUIRE(curriculum.share() == 0.5);
}

TEST_CASE("Without stages episodes meet all faults") {
  FaultCurriculum curriculum({});
  REQUIRE(curriculum.share() == 1);
  REQUIRE_FALSE(curriculum.Note(1, true));
}

TEST_CASE("A curriculum of no faults is refused by the names of the knobs") {
  ActorOptions actor;
  actor.curriculum.stages = 3;
  runtime::ClusterOptions cluster;
  cluster.inference = {"127.0.0.1:1"};
  const absl::Status status =
      Actor::Create({.actor = actor, .environment = {}, .cluster = cluster, .run = {}}).status();
  REQUIRE(absl::IsInvalidArgument(status));
  REQUIRE(runtime::Message(status).find("actor.curriculum.stages") != std::string::npos);
  REQUIRE(runtime::Message(status).find("environment.faults.rate") != std::string::npos);
}

}  // namespace shoal::actor
