// SPDX-License-Identifier: Apache-2.0
#include "mockserver/messages/glob.h"

#include <catch2/catch.hpp>
#include <random>
#include <regex>

namespace shoal::mockserver {
namespace {

using Pieces = std::vector<std::string_view>;

std::optional<Pieces> Match(const std::string& pattern, std::string_view path) {
  return Glob::Parse(pattern).value().Match(path);
}

TEST_CASE("A star stays within its segment, two stars do not") {
  REQUIRE(Match("/a/*/c", "/a/b/c") == Pieces{"b"});
  REQUIRE(Match("/a/*/c", "/a/b/b/c") == std::nullopt);
  REQUIRE(Match("/a/**/c", "/a/b/b/c") == Pieces{"b/b"});
  REQUIRE(Match("/a/*", "/a/b") == Pieces{"b"});
  REQUIRE(Match("/a/*", "/a/") == Pieces{""});
  REQUIRE(Match("/a/*", "/a") == std::nullopt);
  REQUIRE(Match("/**", "/a/b") == Pieces{"a/b"});
  REQUIRE(Match("/a", "/a") == Pieces{});
  REQUIRE(Match("/a", "/ab") == std::nullopt);
  REQUIRE(Match("/a.c", "/abc") == std::nullopt);
  REQUIRE(Match("/*/Actions/*.Reset", "/1/Actions/ComputerSystem.Reset") ==
          Pieces{"1", "ComputerSystem"});
  REQUIRE(Match("/**a*b", "/a/xab") == Pieces{"a/x", ""});
}

TEST_CASE("Globs match what the regular expressions for them match") {
  std::minstd_rand random(7);
  const auto text = [&](std::string_view letters, std::size_t longest) {
    std::string made = "/";
    for (std::size_t left = random() % longest; left > 0; --left) {
      made += letters[random() % letters.size()];
    }
    return made;
  };
  int matches = 0;
  for (int i = 0; i < 20'000; ++i) {
    const std::string pattern = text("ab/*", 8);
    const auto glob = Glob::Parse(pattern);
    if (!glob.ok()) continue;
    std::string expression;
    for (std::size_t at = 0; at < pattern.size(); ++at) {
      const bool across = pattern.compare(at, 2, "**") == 0;
      if (across) ++at;
      expression += across ? ".*" : pattern[at] == '*' ? "[^/]*" : std::string(1, pattern[at]);
    }
    const std::regex oracle(expression);
    for (int j = 0; j < 5; ++j) {
      const std::string path = text("aab/", 10);
      INFO(pattern << " " << path);
      const auto pieces = glob->Match(path);
      REQUIRE(pieces.has_value() == std::regex_match(path, oracle));
      if (!pieces) continue;
      ++matches;
      REQUIRE(pieces->size() == glob->wildcards());
    }
  }
  REQUIRE(matches > 1000);
}

TEST_CASE("A path that is too long matches nothing, and patterns have limits") {
  const std::string longest(Glob::kMaximumLength - 1, 'a');
  REQUIRE(Match("/**", "/" + longest).has_value());
  REQUIRE_FALSE(Match("/**", "/a" + longest).has_value());
  REQUIRE(Glob::Parse("/" + longest).ok());
  for (const std::string& wrong :
       {std::string("a"), std::string(), "/a" + longest, std::string("/*/*/*/*/*/*/*/*/*")}) {
    REQUIRE(Glob::Parse(wrong).status().code() == absl::StatusCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace shoal::mockserver
