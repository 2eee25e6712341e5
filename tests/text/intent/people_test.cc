// SPDX-License-Identifier: Apache-2.0
// The bar of people's own sentences: people.tsv holds, for each sentence, the capture, the goal or
// "-" for a sentence that must be refused, and the values as JSON. SHOAL_SAID names another file;
// with SHOAL_SAID_SHOW the sentences of it that are misunderstood are printed.
// operators.tsv and strangers.tsv have more of the kind; dangerous.tsv has what must not be
// understood as what it almost says. With SHOAL_SAID_EVERY=N only each N-th sentence is read, and
// nothing is asked of the shares: with sanitizers reading takes ten times as long.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/doubles/environment_number.h"
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

// Judges one of `every` sentences.
Tally Judge(const std::string& path, std::size_t every) {
  Tally tally;
  const std::vector<Said> all = ReadSaid(path);
  for (std::size_t i = 0; i < all.size(); i += every) {
    const Said& said = all[i];
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

// How many sentences of a file there are at least, and which shares of them.
struct Bars {
  int valid = 0;
  int wrong = 0;
  double exact = 0.0;
  double refused_valid = 0.0;
  double refused_wrong = 0.0;
};

void RequireUnderstood(const std::string& path, const Bars& bars) {
  const int every = doubles::EnvironmentNumber("SHOAL_SAID_EVERY", 1);
  REQUIRE(every > 0);
  const Tally tally = Judge(path, static_cast<std::size_t>(every));
  INFO(Totals(tally));
  if (every > 1) {
    REQUIRE(tally.valid * every >= bars.valid / 2);
    return;
  }
  REQUIRE(tally.valid >= bars.valid);
  REQUIRE(tally.wrong >= bars.wrong);
  REQUIRE(tally.exact >= bars.exact * tally.valid);
  REQUIRE(tally.refused_valid <= bars.refused_valid * tally.valid);
  REQUIRE(tally.refused_wrong >= bars.refused_wrong * tally.wrong);
}

TEST_CASE("People's own sentences are understood, and what is no goal is refused") {
  const char* const path = std::getenv("SHOAL_SAID");
  const Bars kept = {200, 60, 0.90, 0.03, 0.95};
  if (path != nullptr) {
    RequireUnderstood(path, kept);
  } else {
    RequireUnderstood("tests/text/intent/people.tsv", {350, 210, 0.97, 0.02, 0.98});
  }
}

TEST_CASE("Operators of different habits are understood") {
  RequireUnderstood("tests/text/intent/operators.tsv", {500, 180, 0.98, 0.01, 0.98});
}

TEST_CASE("Strangers are mostly understood") {
  RequireUnderstood("tests/text/intent/strangers.tsv", {2240, 605, 0.95, 0.029, 0.97});
}

TEST_CASE(
    "What almost asks for something that would do harm is refused, a remark beside it is not") {
  RequireUnderstood("tests/text/intent/dangerous.tsv", {79, 281, 1.0, 0.0, 1.0});
}

}  // namespace
}  // namespace shoal::intent
