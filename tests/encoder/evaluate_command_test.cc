// SPDX-License-Identifier: Apache-2.0
#include "encoder/evaluate_command.h"

#include <catch2/catch.hpp>
#include <sstream>

#include "platform/runtime/atomic_file.h"
#include "tests/doubles/temporary_folder.h"
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

TEST_CASE(
    "sentences of one's own take the place of the evaluation's, for the goals that have any") {
  const doubles::TemporaryFolder folder;
  EvaluateOptions options = OnCatfish();
  options.by_goal = true;
  options.phrasings = folder.At("own.toml");
  std::ostringstream out;
  REQUIRE(absl::IsNotFound(Evaluate(options, out)));
  const auto score_of = [&](const std::string& sentence) {
    REQUIRE(runtime::WriteFileAtomically(options.phrasings, "power_on = [\"" + sentence + "\"]\n")
                .ok());
    std::ostringstream printed;
    REQUIRE(Evaluate(options, printed).ok());
    REQUIRE(Contains(printed.str(), "  power_on "));
    REQUIRE_FALSE(Contains(printed.str(), "  locate "));
    const std::string last = LastLine(printed);
    return std::stod(last.substr(last.find("mrr=") + 4));
  };
  REQUIRE(score_of("Reset the computer system with ResetType On") > score_of("Bring me tea"));
  options.split = "train";
  REQUIRE(absl::IsInvalidArgument(Evaluate(options, out)));
  options.split = "evaluate";
  options.said = "tests/text/intent/people.tsv";
  REQUIRE(absl::IsInvalidArgument(Evaluate(options, out)));
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
