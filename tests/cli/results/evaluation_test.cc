// SPDX-License-Identifier: Apache-2.0
#include "cli/results/evaluation.h"

#include <catch2/catch.hpp>

#include "cli/session/best_version.h"
#include "cli/session/stop_rule.h"

namespace shoal::cli {
namespace {

std::string Line(const std::string& policy, const std::string& goal, const std::string& capture,
                 bool success, int collateral, int steps, int mutations, int optimum,
                 bool satisfied = false) {
  return "{\"policy\":\"" + policy + "\",\"goal\":\"" + goal + "\",\"capture\":\"" + capture +
         "\",\"success\":" + (success ? "true" : "false") +
         ",\"satisfied_at_start\":" + (satisfied ? "true" : "false") +
         ",\"collateral\":" + std::to_string(collateral) + ",\"steps\":" + std::to_string(steps) +
         ",\"mutations\":" + std::to_string(mutations) + ",\"optimum\":" + std::to_string(optimum) +
         ",\"status_4xx\":1,\"return\":0.5}\n";
}

Evaluation EvaluationOf(const std::string& lines) {
  auto evaluation = ParseEvaluation(lines, 100);
  REQUIRE(evaluation.ok());
  return *evaluation;
}

}  // namespace

TEST_CASE("success needs the goal and no collateral change; satisfied starts are not counted") {
  const Evaluation evaluation = EvaluationOf(Line("current", "1", "a", true, 0, 3, 2, 1) +
                                             Line("current", "1", "a", true, 2, 9, 9, 1) +
                                             Line("1.27", "2", "a", false, 0, 16, 4, 1) +
                                             Line("current", "2", "a", true, 0, 1, 1, 1, true) +
                                             Line("uniform", "1", "a", false, 0, 16, 8, 1));
  const Score total = evaluation.Total("learned");
  REQUIRE(total.episodes == 3);
  REQUIRE(total.satisfied_at_start == 1);
  REQUIRE(total.success_rate() == Approx(1.0 / 3));
  REQUIRE(total.reached_rate() == Approx(2.0 / 3));
  REQUIRE(total.clean_rate() == Approx(2.0 / 3));
  REQUIRE(total.steps_per_optimal() == Approx(3.0));
  REQUIRE(total.mutations_per_optimal() == Approx(2.0));
  REQUIRE(total.client_error_rate() == Approx(3.0 / 28));
  REQUIRE(evaluation.Total("learned", "2").success_rate() == 0);
}

TEST_CASE("what failed episodes left open is counted for each pair, the most frequent first") {
  const auto line = [](const std::string& policy, int episode, const std::string& open) {
    return "{\"policy\":\"" + policy +
           "\",\"goal\":\"1\",\"capture\":\"a\",\"episode\":" + std::to_string(episode) +
           ",\"success\":false,\"open\":[" + open + "]}\n";
  };
  const Evaluation evaluation = EvaluationOf(
      line("learned", 0, "\"exists /a\"") + line("learned", 1, "\"equals /b /C\",\"exists /a\"") +
      line("learned", 2, "") + line("uniform", 0, "\"equals /d /E\""));
  const Score total = evaluation.Total("learned");
  REQUIRE(total.open == std::map<std::string, std::int64_t>{{"exists /a", 2}, {"equals /b /C", 1}});
  const std::string table = FormatTable(evaluation, "");
  REQUIRE(table.find("exists /a") < table.find("equals /b /C"));
  REQUIRE(table.find("/d /E") == std::string::npos);
  REQUIRE(ToJson(evaluation, "").find("\"exists /a\": 2") != std::string::npos);
}

TEST_CASE("the first episodes that count are counted, by number and in any order of lines") {
  const auto line = [](int episode, bool success, bool satisfied) {
    return "{\"policy\":\"learned\",\"goal\":\"1\",\"capture\":\"a\",\"episode\":" +
           std::to_string(episode) + ",\"success\":" + (success ? "true" : "false") +
           ",\"satisfied_at_start\":" + (satisfied ? "true" : "false") + "}\n";
  };
  const auto evaluation = ParseEvaluation(
      line(4, false, false) + line(2, true, false) + line(0, true, true) + line(1, true, false), 2);
  REQUIRE(evaluation.ok());
  const Score total = evaluation->Total("learned");
  REQUIRE(total.episodes == 2);
  REQUIRE(total.success_rate() == 1);
  REQUIRE(total.satisfied_at_start == 1);
}

TEST_CASE("ratios are of sums, so long episodes weigh more") {
  const Evaluation evaluation = EvaluationOf(Line("learned", "1", "a", true, 0, 1, 1, 1) +
                                             Line("learned", "5", "a", true, 0, 6, 4, 2));
  REQUIRE(evaluation.Total("learned").steps_per_optimal() == Approx(7.0 / 3));
}

TEST_CASE("a held-out capture is in no total") {
  const Evaluation evaluation = EvaluationOf(Line("learned", "1", "a", true, 0, 1, 1, 1) +
                                             Line("learned", "1", "b", false, 0, 1, 1, 1));
  REQUIRE(evaluation.Total("learned", "", "", "b").success_rate() == 1);
  REQUIRE(evaluation.Total("learned", "", "b").success_rate() == 0);
  REQUIRE(FormatTable(evaluation, "b").find("learned, zero-shot on b") != std::string::npos);
}

TEST_CASE("goals stand in the order of their numbers") {
  const Evaluation evaluation = EvaluationOf(Line("learned", "11", "a", true, 0, 1, 1, 1) +
                                             Line("learned", "2", "a", true, 0, 1, 1, 1));
  REQUIRE(evaluation.goals() == std::vector<std::string>{"2", "11"});
}

TEST_CASE("a line that does not parse is named by its number") {
  const auto evaluation = ParseEvaluation(Line("learned", "1", "a", true, 0, 1, 1, 1) + "{\n", 100);
  REQUIRE(absl::IsInvalidArgument(evaluation.status()));
  REQUIRE(runtime::Message(evaluation.status()).starts_with("line 2 "));
}

TEST_CASE("a pair that was given up is named with its reason, and is in no score") {
  const Evaluation evaluation =
      EvaluationOf("{\"pairs\":2,\"episodes\":20}\n" + Line("learned", "1", "a", true, 0, 1, 1, 1) +
                   Line("learned", "8", "a", false, 0, 1, 1, 1) +
                   "{\"goal\":\"8\",\"capture\":\"a\",\"given_up\":\"status 400\"}\n");
  REQUIRE(evaluation.Total("learned").episodes == 1);
  REQUIRE(evaluation.Total("learned").success_rate() == 1);
  REQUIRE(evaluation.given_up.size() == 1);
  const std::string table = FormatTable(evaluation, "");
  REQUIRE(table.find("8     a        status 400") != std::string::npos);
  REQUIRE(ToJson(evaluation, "").find("\"reason\": \"status 400\"") != std::string::npos);
}

TEST_CASE("training ends after enough good evaluations in a row, and only then") {
  StopRule rule({.stop_evaluations = 2, .stop_score = 0.9, .stop_mutations = 1.3});
  const Evaluation good = EvaluationOf(Line("learned", "1", "a", true, 0, 2, 1, 1));
  const Evaluation wasteful = EvaluationOf(Line("learned", "1", "a", true, 0, 2, 2, 1));
  const Evaluation bad = EvaluationOf(Line("learned", "1", "a", false, 0, 2, 1, 1));
  REQUIRE_FALSE(rule.Observe(good, 100));
  REQUIRE_FALSE(rule.Observe(bad, 200));
  REQUIRE_FALSE(rule.Observe(good, 300));
  REQUIRE_FALSE(rule.Observe(wasteful, 400));
  REQUIRE_FALSE(rule.Observe(good, 500));
  REQUIRE_FALSE(rule.reached_steps());
  REQUIRE(rule.Observe(good, 600));
  // The policy was good enough as early as in the first of the two.
  REQUIRE(rule.reached_steps() == 500);
}

TEST_CASE("a policy that fresh episodes do not confirm was not good enough") {
  StopRule rule({.stop_evaluations = 2, .stop_score = 0.9});
  const Evaluation good = EvaluationOf(Line("learned", "1", "a", true, 0, 2, 1, 1));
  const Evaluation bad = EvaluationOf(Line("learned", "1", "a", false, 0, 2, 1, 1));
  REQUIRE_FALSE(rule.Observe(good, 100));
  REQUIRE(rule.Observe(good, 200));
  REQUIRE_FALSE(rule.Confirm(bad));
  REQUIRE_FALSE(rule.reached_steps());
  REQUIRE_FALSE(rule.Observe(good, 300));
  REQUIRE(rule.Observe(good, 400));
  REQUIRE(rule.Confirm(good));
  REQUIRE(rule.reached_steps() == 300);
}

TEST_CASE("a policy that takes too many steps goes on training, however well it succeeds") {
  StopRule rule({.stop_evaluations = 1, .stop_score = 0.9, .stop_steps = 1.5});
  REQUIRE_FALSE(rule.Observe(EvaluationOf(Line("learned", "1", "a", true, 0, 2, 1, 1)), 0));
  REQUIRE(rule.Observe(EvaluationOf(Line("learned", "1", "a", true, 0, 1, 1, 1)), 0));
}

TEST_CASE("an evaluation is better by its success, and among equals by its steps") {
  const auto score = [](int good, int steps) {
    std::string lines;
    for (int i = 0; i < 1000; ++i) {
      lines +=
          Line("learned", std::to_string(i / 10), std::to_string(i % 10), i < good, 0, steps, 1, 1);
    }
    return EvaluationOf(lines).Total("learned");
  };
  REQUIRE(IsBetter(true, score(900, 9), score(890, 1), 0.9));
  REQUIRE_FALSE(IsBetter(true, score(890, 1), score(900, 9), 0.9));
  REQUIRE(IsBetter(true, score(900, 2), score(900, 3), 0.9));
  REQUIRE_FALSE(IsBetter(true, score(900, 3), score(900, 3), 0.9));
  // Small losses do not add up over a run.
  REQUIRE(IsBetter(true, score(896, 2), score(900, 3), 0.9));
  REQUIRE_FALSE(IsBetter(true, score(892, 1), score(896, 2), 0.9));
}

TEST_CASE("one pair that was not learned keeps training going, whatever the mean") {
  StopRule rule({.stop_evaluations = 1, .stop_score = 0.6, .stop_pair_success = 0.5});
  const std::string good = Line("learned", "1", "a", true, 0, 1, 1, 1) +
                           Line("learned", "1", "b", true, 0, 1, 1, 1) +
                           Line("uniform", "1", "b", false, 0, 1, 1, 1);
  const std::string bad = Line("learned", "2", "b", false, 0, 1, 1, 1);
  REQUIRE(EvaluationOf(good + bad).Total("learned").success_rate() > 0.6);
  REQUIRE_FALSE(rule.Observe(EvaluationOf(good + bad), 0));
  REQUIRE(rule.Observe(EvaluationOf(good + bad + Line("learned", "2", "b", true, 0, 1, 1, 1)), 0));
  REQUIRE(rule.Observe(EvaluationOf(good), 0));
}

TEST_CASE("without goals the bar is the mean return alone") {
  StopRule rule({.stop_evaluations = 1, .stop_score = 475, .stop_pair_success = 0.5});
  REQUIRE_FALSE(rule.Observe(EvaluationOf("{\"policy\":\"learned\",\"return\":470}\n"), 0));
  REQUIRE(rule.Observe(EvaluationOf("{\"policy\":\"learned\",\"return\":480}\n"), 0));
}

TEST_CASE("a bar below 0 is a bar for negative returns") {
  StopRule rule({.stop_evaluations = 1, .stop_score = -100});
  REQUIRE_FALSE(rule.Observe(EvaluationOf("{\"policy\":\"learned\",\"return\":-101}\n"), 0));
  REQUIRE(rule.Observe(EvaluationOf("{\"policy\":\"learned\",\"return\":-99}\n"), 0));
}

TEST_CASE("without a bar training never ends early") {
  StopRule rule({.stop_evaluations = 1});
  REQUIRE_FALSE(rule.Observe(EvaluationOf("{\"policy\":\"learned\",\"return\":1e6}\n"), 0));
}

TEST_CASE("an evaluation without episodes never ends training") {
  StopRule rule({.stop_evaluations = 1, .stop_score = 0});
  REQUIRE_FALSE(rule.Observe(EvaluationOf(""), 0));
}

}  // namespace shoal::cli
