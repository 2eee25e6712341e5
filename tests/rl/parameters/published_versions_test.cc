// SPDX-License-Identifier: Apache-2.0
#include "rl/parameters/published_versions.h"

#include <catch2/catch.hpp>

#include "tests/rl/parameters/values.h"

namespace shoal::parameters {
namespace {

TEST_CASE("a version is the newest and a recent one when it is finished, and not before") {
  PublishedVersions versions({.recent_bytes = std::size_t{1} << 20});
  REQUIRE(versions.Add(Unfinished(ParametersOf(1, 1))));
  REQUIRE(versions.last() == Version{1, 1});
  REQUIRE_FALSE(versions.newest());
  REQUIRE_FALSE(versions.Recent({1, 1}));
  REQUIRE(versions.FinishNewest());
  REQUIRE(versions.newest()->sha256 == ParametersOf(1, 1).sha256);
  REQUIRE(versions.Recent({1, 1}) == versions.newest());
  REQUIRE_FALSE(versions.FinishNewest());
}

TEST_CASE("a version that was superseded is finished when somebody asks for it, once for all") {
  PublishedVersions versions({.recent_bytes = std::size_t{1} << 20});
  for (const std::uint64_t step : {1U, 2U}) {
    REQUIRE(versions.Add(Unfinished(ParametersOf(1, step))));
  }
  REQUIRE(versions.FinishNewest());
  REQUIRE(versions.newest()->version == Version{1, 2});
  REQUIRE_FALSE(versions.Recent({1, 1}));
  const auto found = versions.Find(Version{1, 1});
  REQUIRE(found.ok());
  REQUIRE((*found)->sha256 == ParametersOf(1, 1).sha256);
  REQUIRE(versions.Recent({1, 1}) == *found);
  REQUIRE(*versions.Find(Version{1, 1}) == *found);
  REQUIRE(versions.newest()->version == Version{1, 2});
}

TEST_CASE("the newest finished version stays in memory, whatever its size, until another one is") {
  PublishedVersions versions({.recent_bytes = 0});
  REQUIRE(versions.Add(Unfinished(ParametersOf(1, 1))));
  REQUIRE(versions.FinishNewest());
  REQUIRE(versions.Add(Unfinished(ParametersOf(1, 2))));
  REQUIRE(versions.newest()->version == Version{1, 1});
  REQUIRE(versions.Find(Version{1, 1}).ok());
  REQUIRE(versions.FinishNewest());
  REQUIRE(versions.newest()->version == Version{1, 2});
  REQUIRE(absl::IsNotFound(versions.Find(Version{1, 1}).status()));
}

}  // namespace
}  // namespace shoal::parameters
