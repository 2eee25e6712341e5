// SPDX-License-Identifier: Apache-2.0
// The bar of people's own sentences: people.tsv holds, for each sentence, the capture, the goal or
// "-" for a sentence that must be refused, and the values as JSON. SHOAL_SAID names another file.
#include <algorithm>
#include <catch2/catch.hpp>
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

TEST_CASE("People's own sentences are understood, and what is no goal is refused") {
  int valid = 0;
  int exact = 0;
  int refused_valid = 0;
  int wrong = 0;
  int refused_wrong = 0;
  const char* const path = std::getenv("SHOAL_SAID");
  for (const Said& said : ReadSaid(path != nullptr ? path : "tests/text/intent/people.tsv")) {
    const Intent intent = *ParserOf(said.capture).Parse(said.text);
    const bool refused = !intent.refusal.empty();
    if (said.goal == "-") {
      ++wrong;
      refused_wrong += refused ? 1 : 0;
      if (!refused) UNSCOPED_INFO("accepted: " << said.text << " => " << intent.goal);
      continue;
    }
    ++valid;
    refused_valid += refused ? 1 : 0;
    const bool same = !refused && intent.goal == said.goal && Json(intent.values) == said.values;
    exact += same ? 1 : 0;
    if (!same) UNSCOPED_INFO(said.text << " => " << ToJson(intent).dump());
  }
  INFO("exact " << exact << " of " << valid << ", refused " << refused_valid << "; refused rightly "
                << refused_wrong << " of " << wrong);
  REQUIRE(valid >= 200);
  REQUIRE(wrong >= 60);
  REQUIRE(exact >= 0.90 * valid);
  REQUIRE(refused_valid <= 0.03 * valid);
  REQUIRE(refused_wrong >= 0.95 * wrong);
}

}  // namespace
}  // namespace shoal::intent
