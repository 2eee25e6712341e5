// SPDX-License-Identifier: Apache-2.0
#include "inference/core/policy_set.h"

#include <catch2/catch.hpp>
#include <vector>

#include "tests/doubles/manual_clock.h"

namespace shoal::inference {
namespace {

class NoPolicy final : public ActingPolicy {
 public:
  absl::StatusOr<model::PolicyOutputs> Act(const model::PolicyInputs&, std::size_t) const override {
    return model::PolicyOutputs();
  }
};

VersionedPolicy Policy(std::uint64_t epoch, std::uint64_t step) {
  return {{epoch, step}, std::make_shared<NoPolicy>()};
}

PolicySelector Pinned(std::uint64_t epoch, std::uint64_t step) {
  return {PolicySelector::Kind::kPinned, {epoch, step}};
}

constexpr PolicySelector kInitial{PolicySelector::Kind::kInitial};

struct PolicySetFixture {
  explicit PolicySetFixture(bool fetches = true) {
    if (!fetches) return;
    policies.OnMissing([this](const PolicySelector& selector) { asked.push_back(selector); });
  }
  doubles::ManualClock clock;
  PolicySet policies{2, clock};
  std::vector<PolicySelector> asked;
};

TEST_CASE("A server that came late has to fetch the run's first version") {
  PolicySetFixture fixture;
  fixture.policies.Put(Policy(1, 7));
  REQUIRE(absl::IsUnavailable(fixture.policies.Select(kInitial).status()));
  REQUIRE(absl::IsUnavailable(fixture.policies.Select(kInitial).status()));
  REQUIRE(fixture.asked.size() == 1);
  REQUIRE(fixture.asked[0].kind == PolicySelector::Kind::kInitial);
  fixture.policies.PutFetched(kInitial, Policy(1, 0));
  REQUIRE(fixture.policies.Select(kInitial)->version == parameters::Version{1, 0});
  REQUIRE(fixture.policies.Select(Pinned(1, 0))->version == parameters::Version{1, 0});
  REQUIRE(fixture.policies.current().version == parameters::Version{1, 7});
  for (std::uint64_t step = 8; step < 12; ++step) fixture.policies.Put(Policy(1, step));
  REQUIRE(fixture.policies.Select(kInitial)->version == parameters::Version{1, 0});
}

TEST_CASE("A pinned version that was skipped is fetched and stays while rows ask for it") {
  PolicySetFixture fixture;
  for (const std::uint64_t step : {7U, 9U}) fixture.policies.Put(Policy(1, step));
  REQUIRE(absl::IsUnavailable(fixture.policies.Select(Pinned(1, 5)).status()));
  REQUIRE(fixture.asked.back().version == parameters::Version{1, 5});
  fixture.policies.PutFetched(Pinned(1, 5), Policy(1, 5));
  for (std::uint64_t step = 10; step < 16; ++step) {
    fixture.policies.Put(Policy(1, step));
    fixture.clock.Advance(std::chrono::seconds(60));
    REQUIRE(fixture.policies.Select(Pinned(1, 5))->version == parameters::Version{1, 5});
  }
  REQUIRE(fixture.policies.current().version == parameters::Version{1, 15});
  fixture.clock.Advance(std::chrono::seconds(600));
  fixture.policies.Put(Policy(1, 16));
  REQUIRE_FALSE(fixture.policies.Select(Pinned(1, 5)).ok());
}

TEST_CASE("A version that cannot be had is not found, and is asked for again later") {
  PolicySetFixture fixture;
  fixture.policies.Put(Policy(1, 7));
  (void)fixture.policies.Select(Pinned(1, 5));
  fixture.policies.Refuse(Pinned(1, 5), runtime::NotFound("no longer kept"));
  const auto gone = fixture.policies.Select(Pinned(1, 5));
  REQUIRE(absl::IsNotFound(gone.status()));
  REQUIRE(runtime::Message(gone.status()).find("1.5 cannot be had: no longer kept") !=
          std::string::npos);
  fixture.clock.Advance(std::chrono::seconds(6));
  REQUIRE(absl::IsUnavailable(fixture.policies.Select(Pinned(1, 5)).status()));
  REQUIRE(fixture.asked.size() == 2);
}

TEST_CASE("Rows cannot make a server fetch without end") {
  PolicySetFixture fixture;
  fixture.policies.Put(Policy(1, 7));
  for (std::uint64_t step = 100; step < 1100; ++step) {
    (void)fixture.policies.Select(Pinned(1, step));
  }
  REQUIRE(fixture.asked.size() <= 256);
  REQUIRE(absl::IsNotFound(fixture.policies.Select(Pinned(1, 2000)).status()));
}

TEST_CASE("Without a learner a version that is not here is not found at once") {
  PolicySetFixture fixture(/*fetches=*/false);
  fixture.policies.Put(Policy(1, 7));
  REQUIRE(absl::IsNotFound(fixture.policies.Select(Pinned(1, 5)).status()));
  REQUIRE(absl::IsNotFound(fixture.policies.Select(kInitial).status()));
}

}  // namespace
}  // namespace shoal::inference
