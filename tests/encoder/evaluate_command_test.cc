// SPDX-License-Identifier: Apache-2.0
#include "encoder/evaluate_command.h"

#include <catch2/catch.hpp>
#include <sstream>

#include "tests/encoder/printed.h"

namespace shoal::encoder {
namespace {

EvaluateOptions OnCatfish() {
  EvaluateOptions options;
  options.captures = {"dmtf-catfish"};
  options.episodes = 3;
  return options;
}

TEST_CASE("the lexical encoder finds requests far more often than chance") {
  std::ostringstream out;
  const absl::Status status = Evaluate(OnCatfish(), out);
  INFO(status.ToString());
  REQUIRE(status.ok());
  const std::string last = LastLine(out);
  REQUIRE(last.starts_with("result encoder=lexical version=lexical-"));
  REQUIRE(Contains(last, " split=evaluate captures=1 "));
  REQUIRE(Contains(out.str(), "dmtf-catfish"));
  const double rank = std::stod(last.substr(last.find("mrr=") + 4));
  // The first of 202 candidates, in random order, would be relevant in one of a hundred cases.
  REQUIRE(rank > 0.3);
  REQUIRE(rank <= 1);
}

TEST_CASE("an evaluation with the same seed prints the same, and a row for each goal if asked") {
  EvaluateOptions options = OnCatfish();
  options.split = "train";
  options.by_goal = true;
  std::ostringstream first;
  std::ostringstream second;
  REQUIRE(Evaluate(options, first).ok());
  REQUIRE(Evaluate(options, second).ok());
  const auto table = [](const std::ostringstream& out) {
    return out.str().substr(0, out.str().find("result"));
  };
  REQUIRE(table(first) == table(second));
  REQUIRE(Contains(first.str(), "  power_on "));
  REQUIRE(Contains(LastLine(first), "split=train"));
}

TEST_CASE("an evaluation of nothing, of an unknown capture or encoder is refused") {
  std::ostringstream out;
  EvaluateOptions options;
  REQUIRE(absl::IsInvalidArgument(Evaluate(options, out)));
  options.captures = {"no-such-capture"};
  REQUIRE(absl::IsNotFound(Evaluate(options, out)));
  options.source.encoder = "none";
  REQUIRE(absl::IsInvalidArgument(Evaluate(options, out)));
}

}  // namespace
}  // namespace shoal::encoder
