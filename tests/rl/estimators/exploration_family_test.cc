// SPDX-License-Identifier: Apache-2.0
#include "rl/estimators/exploration_family.h"

#include <catch2/catch.hpp>

#include "rl/estimators/value_transform.h"

namespace shoal::estimators {
namespace {

TEST_CASE("NGU's family of 32 has the published betas and gammas") {
  const auto family = NguFamily(32);
  REQUIRE(family.size() == 32);
  const auto beta = [](double value) { return Approx(value).margin(5e-7); };
  REQUIRE(family[0].beta == 0);
  REQUIRE(family[8].beta == beta(.002795));
  REQUIRE(family[15].beta == beta(.150000));
  REQUIRE(family[16].beta == beta(.198227));
  REQUIRE(family[20].beta == beta(.289666));
  REQUIRE(family[31].beta == .3);
  const auto gamma = [](double value) { return Approx(value).margin(5e-7); };
  REQUIRE(family[0].gamma == .997);
  REQUIRE(family[1].gamma == gamma(.996881));
  REQUIRE(family[16].gamma == gamma(.994415));
  REQUIRE(family[30].gamma == gamma(.990381));
  REQUIRE(family[31].gamma == Approx(.99));
}

TEST_CASE("Agent57's family of 32 has the published gammas, and NGU's betas") {
  const auto family = Agent57Family(32);
  const auto gamma = [](double value) { return Approx(value).margin(1e-6); };
  REQUIRE(family[0].gamma == .9999);
  REQUIRE(family[1].gamma == gamma(.997004));
  REQUIRE(family[3].gamma == gamma((.997 + .9999) / 2));
  REQUIRE(family[6].gamma == gamma(.9999));
  REQUIRE(family[7].gamma == .997);
  REQUIRE(family[8].gamma == .997);
  REQUIRE(family[31].gamma == gamma(.99));
  for (std::size_t i = 9; i < 32; ++i) REQUIRE(family[i].gamma < family[i - 1].gamma);
  for (std::size_t i = 0; i < 32; ++i) REQUIRE(family[i].beta == NguFamily(32)[i].beta);
}

TEST_CASE("small families are defined, and begin with a policy that only exploits") {
  for (std::size_t size = 1; size <= 12; ++size) {
    for (const auto& family : {NguFamily(size), Agent57Family(size)}) {
      REQUIRE(family.size() == size);
      REQUIRE(family[0].beta == 0);
      if (size > 1) REQUIRE(family.back().beta == .3);
      for (const ExplorationPolicy& policy : family) {
        REQUIRE(policy.gamma >= .99 - 1e-12);
        REQUIRE(policy.gamma <= .9999);
        REQUIRE(policy.beta >= 0);
        REQUIRE(policy.beta <= .3);
      }
    }
  }
  REQUIRE(NguFamily(0).empty());
}

TEST_CASE("action values of two networks are mixed in the units of rewards") {
  const double mixed = MixedActionValue(SignedHyperbolic(40), SignedHyperbolic(-6), .3);
  REQUIRE(mixed == Approx(SignedHyperbolic(40 - .3 * 6)));
  REQUIRE(MixedActionValue(.7, 100, 0) == Approx(.7));
}

}  // namespace
}  // namespace shoal::estimators
