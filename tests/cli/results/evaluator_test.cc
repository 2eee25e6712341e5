// SPDX-License-Identifier: Apache-2.0
#include "cli/results/evaluator.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "tests/doubles/manual_clock.h"
#include "tests/doubles/temporary_folder.h"

namespace shoal::cli {
namespace {

using std::chrono::seconds;

// An evaluator whose actor is a shell script. $OUTPUT is the file of episodes.
class Scripted {
 public:
  explicit Scripted(const std::string& script) {
    const std::string program =
        folder.Write("actor", "#!/bin/sh\nOUTPUT=" + folder.At("e.jsonl") + "\n" + script + "\n");
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    evaluator.emplace(
        EvaluatorOptions{.program = program, .config_path = "", .folder = folder.path()}, clock);
  }

  // Polls until the evaluation has ended, for at most ten seconds, and returns its result.
  absl::StatusOr<Evaluation> Outcome() {
    const auto end = runtime::SystemClock().Now() + seconds(10);
    while (runtime::SystemClock().Now() < end) {
      if (auto outcome = evaluator->Poll()) return *outcome;
      ::usleep(2000);
    }
    return runtime::Internal("it did not end");
  }

  doubles::TemporaryFolder folder;
  doubles::ManualClock clock;
  std::optional<Evaluator> evaluator;
};

constexpr char kEpisode[] = R"(echo '{"policy":"learned","goal":"1","capture":"a"}' >> $OUTPUT)";

}  // namespace

TEST_CASE("an evaluation says how far it is and how long it will take, its budget at most") {
  Scripted scripted(std::string(R"(echo '{"pairs":71,"episodes":100}' > $OUTPUT
echo '{"policy":"current","goal":"1","capture":"a","satisfied_at_start":true}' >> $OUTPUT
)") + kEpisode + "\n" +
                    kEpisode +
                    "\ntouch "
                    "$OUTPUT.there; while ! [ -e $OUTPUT.go ]; do sleep 0.01; done");
  REQUIRE(scripted.evaluator
              ->Start({.name = "e", .policies = {"learned"}, .episodes = 1, .budget = seconds(90)})
              .ok());
  const auto end = runtime::SystemClock().Now() + seconds(10);
  while (!std::filesystem::exists(scripted.folder.At("e.jsonl.there"))) {
    REQUIRE(runtime::SystemClock().Now() < end);
    ::usleep(2000);
  }
  REQUIRE(scripted.evaluator->Progress().has_value());
  scripted.clock.Advance(seconds(1));
  const auto progress = scripted.evaluator->Progress();
  REQUIRE(progress->played == 2);
  REQUIRE(progress->seconds_left == Approx(49));
  REQUIRE(ToText(*progress) == "evaluating 71 pairs: 2 of 100 episodes, about 50 s left");
  scripted.clock.Advance(seconds(59));
  REQUIRE(scripted.evaluator->Progress()->seconds_left == Approx(30));
  scripted.folder.Write("e.jsonl.go", "");
  REQUIRE(scripted.Outcome().ok());
}

TEST_CASE("an evaluation that is killed at its deadline counts if each pair was played") {
  for (const bool all : {true, false}) {
    Scripted scripted(std::string(R"(echo '{"pairs":2,"episodes":20}' > $OUTPUT
echo '{"goal":"2","capture":"a","given_up":"status 400"}' >> $OUTPUT
)") + (all ? kEpisode : "true") +
                      R"(
printf '{"policy":"current","goal":"1' >> $OUTPUT
touch $OUTPUT.there; while true; do sleep 0.01; done)");
    REQUIRE(
        scripted.evaluator
            ->Start(
                {.name = "e", .policies = {"learned"}, .episodes = 10, .deadline = seconds(100)})
            .ok());
    const auto end = runtime::SystemClock().Now() + seconds(10);
    while (!std::filesystem::exists(scripted.folder.At("e.jsonl.there"))) {
      REQUIRE(runtime::SystemClock().Now() < end);
      ::usleep(2000);
    }
    const auto progress = scripted.evaluator->Progress();
    REQUIRE(progress->pairs == 1);
    REQUIRE(progress->planned == 10);
    scripted.clock.Advance(seconds(101));
    const auto outcome = scripted.Outcome();
    INFO(outcome.status().ToString());
    REQUIRE(outcome.ok() == all);
    if (all) {
      REQUIRE(outcome->pairs.size() == 1);
    } else {
      REQUIRE(absl::IsDeadlineExceeded(outcome.status()));
    }
  }
}

TEST_CASE("an evaluation of several versions tells what each of them returned") {
  Scripted scripted(R"(echo '{"pairs":1,"episodes":6}' > $OUTPUT
for episode in 0 1 2; do
  echo '{"policy":"1.7","episode":'$episode',"return":5}' >> $OUTPUT
  echo '{"policy":"1.9","episode":'$episode',"return":'$episode'}' >> $OUTPUT
done)");
  REQUIRE(scripted.evaluator->Start({.name = "e", .policies = {"1.7", "1.9"}, .episodes = 2}).ok());
  REQUIRE(scripted.Outcome().ok());
  for (const auto& [version, mean] : {std::pair{"1.7", 5.0}, {"1.9", 0.5}}) {
    const absl::StatusOr<Evaluation> own = scripted.evaluator->Of(version);
    REQUIRE(own.ok());
    REQUIRE(own->Total("learned").episodes == 2);
    REQUIRE(own->Total("learned").mean_return() == Approx(mean));
  }
}

TEST_CASE("the newest parameters are told from other policies under either of their names") {
  for (const char* name : {"learned", "current"}) {
    Scripted scripted(std::string(R"(echo '{"pairs":1,"episodes":2}' > $OUTPUT
echo '{"policy":")") + name +
                      R"(","return":5}' >> $OUTPUT
echo '{"policy":"uniform","return":1}' >> $OUTPUT)");
    REQUIRE(
        scripted.evaluator->Start({.name = "e", .policies = {"learned", "uniform"}, .episodes = 1})
            .ok());
    REQUIRE(scripted.Outcome().ok());
    const absl::StatusOr<Evaluation> own = scripted.evaluator->Of("learned");
    REQUIRE(own.ok());
    REQUIRE(own->Total("learned").episodes == 1);
    REQUIRE(own->Total("learned").mean_return() == Approx(5));
    REQUIRE(own->Total("uniform").episodes == 0);
  }
}

TEST_CASE("an evaluation of several versions that is killed counts if each of them was played") {
  for (const bool both : {true, false}) {
    Scripted scripted(std::string(R"(echo '{"pairs":1,"episodes":4}' > $OUTPUT
echo '{"policy":"1.7","return":5}' >> $OUTPUT
)") + (both ? R"(echo '{"policy":"1.9","return":5}' >> $OUTPUT)" : "true") +
                      "\ntouch $OUTPUT.there; while true; do sleep 0.01; done");
    REQUIRE(
        scripted.evaluator
            ->Start(
                {.name = "e", .policies = {"1.7", "1.9"}, .episodes = 2, .deadline = seconds(100)})
            .ok());
    const auto end = runtime::SystemClock().Now() + seconds(10);
    while (!std::filesystem::exists(scripted.folder.At("e.jsonl.there"))) {
      REQUIRE(runtime::SystemClock().Now() < end);
      ::usleep(2000);
    }
    scripted.clock.Advance(seconds(101));
    REQUIRE(scripted.Outcome().ok() == both);
  }
}

TEST_CASE("of an evaluation that fails, the versions count of which all episodes were played") {
  Scripted scripted(R"(echo '{"pairs":1,"episodes":4}' > $OUTPUT
for episode in 0 1; do echo '{"policy":"1.7","episode":'$episode',"return":5}' >> $OUTPUT; done
echo '{"policy":"1.9","return":5}' >> $OUTPUT
printf '{"policy":"1.9","ret' >> $OUTPUT
exit 1)");
  const EvaluationRequest request = {
      .name = "e", .policies = {"1.7", "1.9", "1.11"}, .episodes = 2};
  REQUIRE(scripted.evaluator->Start(request).ok());
  REQUIRE_FALSE(scripted.evaluator->PlayedAllOf("1.7"));
  REQUIRE_FALSE(scripted.Outcome().ok());
  REQUIRE(scripted.evaluator->PlayedAllOf("1.7"));
  REQUIRE_FALSE(scripted.evaluator->PlayedAllOf("1.9"));
  REQUIRE_FALSE(scripted.evaluator->PlayedAllOf("1.11"));
  const absl::StatusOr<Evaluation> own = scripted.evaluator->Of("1.7");
  REQUIRE(own.ok());
  REQUIRE(own->Total("learned").episodes == 2);
  // Nothing of it is left to the next one.
  REQUIRE(scripted.evaluator->Start(request).ok());
  REQUIRE_FALSE(scripted.evaluator->PlayedAllOf("1.7"));
}

TEST_CASE("an evaluation that another try would not mend says so in one line") {
  Scripted scripted(
      "echo 'T info event=start'; echo 'T error event=failed code=NOT_FOUND message=\"no capture "
      "\\\"x\\\"\"'; exit 78");
  REQUIRE(scripted.evaluator->Start({.name = "e", .policies = {"learned"}}).ok());
  const absl::Status status = scripted.Outcome().status();
  REQUIRE(absl::IsInvalidArgument(status));
  REQUIRE(runtime::Message(status) == "the evaluation cannot be made: no capture \"x\"");
}

}  // namespace shoal::cli
