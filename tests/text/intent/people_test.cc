// SPDX-License-Identifier: Apache-2.0
// The bar of people's own sentences: people.tsv holds, for each sentence, the capture, the goal or
// "-" for a sentence that must be refused, and the values as JSON. SHOAL_SAID names another file;
// with SHOAL_SAID_SHOW the sentences of it that are misunderstood are printed.
// operators.tsv and strangers.tsv have more of the kind.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/text/intent/shipped_parser.h"

namespace shoal::intent {
namespace {

using Json = nlohmann::json;

struct Said {
  std::string capture;
  std::string goal;
  Json values;
  std::string text;
};

std::vector<Said> ReadSaid(const std::string& path) {
  std::vector<Said> all;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.starts_with('#')) continue;
    std::vector<std::string> columns;
    for (std::size_t at = 0; columns.size() < 4;) {
      const std::size_t tab = columns.size() == 3 ? line.npos : line.find('\t', at);
      columns.push_back(line.substr(at, tab == line.npos ? tab : tab - at));
      at = tab + 1;
    }
    all.push_back({columns[0], columns[1], Json::parse(columns[2]), columns[3]});
  }
  return all;
}

struct Tally {
  int valid = 0;
  int exact = 0;
  int refused_valid = 0;
  int wrong = 0;
  int refused_wrong = 0;
};

void Show(const Said& said, const Intent& intent) {
  if (std::getenv("SHOAL_SAID_SHOW") == nullptr) return;
  std::printf("%s\n  wants %s %s on %s\n  reads %s %s %s\n", said.text.c_str(), said.goal.c_str(),
              said.values.dump().c_str(), said.capture.c_str(), intent.goal.c_str(),
              Json(intent.values).dump().c_str(), intent.refusal.c_str());
}

Tally Judge(const std::string& path) {
  Tally tally;
  for (const Said& said : ReadSaid(path)) {
    const std::vector<Intent> intents = *ParserOf(said.capture).ParseGoals(said.text);
    const Intent& intent = intents.front();
    const bool refused = !intent.refusal.empty();
    if (said.goal == "-") {
      ++tally.wrong;
      tally.refused_wrong += refused ? 1 : 0;
      if (!refused) Show(said, intent);
      continue;
    }
    ++tally.valid;
    tally.refused_valid += refused ? 1 : 0;
    const bool same = !refused && intents.size() == 1 && intent.goal == said.goal &&
                      Json(intent.values) == said.values;
    tally.exact += same ? 1 : 0;
    if (!same) Show(said, intent);
  }
  return tally;
}

std::string Totals(const Tally& tally) {
  const auto text = [](int number) { return std::to_string(number); };
  return "exact " + text(tally.exact) + " of " + text(tally.valid) + ", refused " +
         text(tally.refused_valid) + "; refused rightly " + text(tally.refused_wrong) + " of " +
         text(tally.wrong);
}

TEST_CASE("People's own sentences are understood, and what is no goal is refused") {
  const char* const path = std::getenv("SHOAL_SAID");
  const Tally tally = Judge(path != nullptr ? path : "tests/text/intent/people.tsv");
  INFO(Totals(tally));
  REQUIRE(tally.valid >= 200);
  REQUIRE(tally.wrong >= 60);
  REQUIRE(tally.exact >= 0.90 * tally.valid);
  REQUIRE(tally.refused_valid <= 0.03 * tally.valid);
  REQUIRE(tally.refused_wrong >= 0.95 * tally.wrong);
}

TEST_CASE("Operators of different habits are understood") {
  const Tally tally = Judge("tests/text/intent/operators.tsv");
  INFO(Totals(tally));
  REQUIRE(tally.valid >= 500);
  REQUIRE(tally.wrong >= 180);
  REQUIRE(tally.exact >= 0.97 * tally.valid);
  REQUIRE(tally.refused_valid <= 0.02 * tally.valid);
  REQUIRE(tally.refused_wrong >= 0.97 * tally.wrong);
}

TEST_CASE("Strangers are mostly understood") {
  const Tally tally = Judge("tests/text/intent/strangers.tsv");
  INFO(Totals(tally));
  REQUIRE(tally.valid >= 850);
  REQUIRE(tally.wrong >= 230);
  REQUIRE(tally.exact >= 0.90 * tally.valid);
  REQUIRE(tally.refused_valid <= 0.06 * tally.valid);
  REQUIRE(tally.refused_wrong >= 0.94 * tally.wrong);
}

}  // namespace
}  // namespace shoal::intent
