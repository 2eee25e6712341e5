// SPDX-License-Identifier: Apache-2.0
#include "cli/session/evaluation_schedule.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "tests/doubles/temporary_folder.h"

namespace shoal::cli {
namespace {

// A learner's log, to which a test adds lines.
class LearnerLog {
 public:
  const std::string& path() const { return path_; }
  void Write(const std::string& text) const { std::ofstream(path_, std::ios::app) << text; }
  void Publish(double unix_seconds, int step, int epoch = 1) const {
    Write(R"({"unix_seconds":)" + std::to_string(unix_seconds) +
          R"(,"environment_steps":1,"epoch":)" + std::to_string(epoch) + R"(,"step":)" +
          std::to_string(step) + "}\n");
  }

 private:
  const doubles::TemporaryFolder folder_;
  const std::string path_ = folder_.At("learner.jsonl");
};

// Returns "version steps" of each.
std::vector<std::string> Texts(const std::vector<PublishedVersion>& versions) {
  std::vector<std::string> texts;
  for (const PublishedVersion& one : versions) {
    texts.push_back(parameters::ToString(one.version) + " " +
                    std::to_string(static_cast<int>(one.environment_steps)));
  }
  return texts;
}

// Takes all that are due.
std::vector<std::string> Taken(EvaluationSchedule& schedule) {
  std::vector<PublishedVersion> all;
  for (auto taken = schedule.Take(); !taken.empty(); taken = schedule.Take()) {
    all.insert(all.end(), taken.begin(), taken.end());
  }
  return Texts(all);
}

using Versions = std::vector<std::string>;

}  // namespace

TEST_CASE("of each multiple of the interval the first version published at it or after is judged") {
  const LearnerLog log;
  EvaluationSchedule schedule({.learner_log = log.path(), .every = 100, .retained = 1000});
  schedule.Count(10, 0);
  REQUIRE(Taken(schedule).empty());
  // 100 steps a second.
  for (int step = 1; step <= 30; ++step) log.Publish(10 + 0.4 * step, step);
  schedule.Count(20, 1000);
  REQUIRE(Taken(schedule) == Versions{"1.3 120", "1.5 200", "1.8 320", "1.10 400", "1.13 520",
                                      "1.15 600", "1.18 720", "1.20 800", "1.23 920", "1.25 1000"});
  REQUIRE(Taken(schedule).empty());
}

TEST_CASE("versions are taken in groups that do not depend on when they are asked for") {
  const LearnerLog log;
  EvaluationSchedule schedule(
      {.learner_log = log.path(), .every = 100, .group = 3, .retained = 1000});
  schedule.Count(0, 0);
  for (int step = 1; step <= 8; ++step) log.Publish(step, step);
  schedule.Count(4, 400);
  REQUIRE(Texts(schedule.Take()) == Versions{"1.1 100", "1.2 200"});
  REQUIRE(Texts(schedule.Take()) == Versions{"1.3 300", "1.4 400"});
  schedule.Count(8, 800);
  const std::vector<PublishedVersion> rest = schedule.Take();
  REQUIRE(Texts(rest) == Versions{"1.5 500"});
  REQUIRE(rest.front().multiple == 5);
  REQUIRE(Texts(schedule.Take()) == Versions{"1.6 600", "1.7 700", "1.8 800"});
}

TEST_CASE("versions are judged however seldom the session counts steps and asks for them") {
  const LearnerLog log;
  EvaluationSchedule often({.learner_log = log.path(), .every = 50, .retained = 1000});
  EvaluationSchedule seldom({.learner_log = log.path(), .every = 50, .retained = 1000});
  often.Count(0, 0);
  seldom.Count(0, 0);
  Versions taken;
  for (int second = 1; second <= 40; ++second) {
    log.Publish(second - 0.5, second);
    often.Count(second, 20.0 * second);
    for (std::string& one : Taken(often)) taken.push_back(std::move(one));
  }
  seldom.Count(40, 800);
  REQUIRE(taken.size() == 15);
  REQUIRE(Taken(seldom) == taken);
}

TEST_CASE("a version has the steps of its own moment, of which the session hears later") {
  const LearnerLog log;
  EvaluationSchedule schedule({.learner_log = log.path(), .every = 100, .retained = 1000});
  schedule.Count(0, 0);
  log.Publish(4, 1);
  schedule.Count(3, 90);
  REQUIRE(Taken(schedule).empty());
  schedule.Count(5, 290);
  REQUIRE(Taken(schedule) == Versions{"1.1 190"});
}

TEST_CASE("a version that spans several multiples is judged once") {
  const LearnerLog log;
  EvaluationSchedule schedule({.learner_log = log.path(), .every = 100, .retained = 1000});
  schedule.Count(0, 0);
  for (int step = 1; step <= 4; ++step) log.Publish(step, step);
  schedule.Count(4, 1000);
  REQUIRE(Taken(schedule) == Versions{"1.1 250", "1.2 500", "1.3 750", "1.4 1000"});
}

TEST_CASE("an update that was not published makes no version") {
  const LearnerLog log;
  EvaluationSchedule schedule({.learner_log = log.path(), .every = 100, .retained = 1000});
  schedule.Count(0, 0);
  for (int update = 1; update <= 8; ++update) log.Publish(update, 1 + (update - 1) / 4);
  schedule.Count(8, 320);
  REQUIRE(Taken(schedule) == Versions{"1.2 200"});
}

TEST_CASE("where inference may have forgotten a version, the next of its interval is judged") {
  const LearnerLog log;
  EvaluationSchedule schedule({.learner_log = log.path(), .every = 10, .retained = 40});
  schedule.Count(0, 0);
  for (int step = 1; step <= 100; ++step) log.Publish(step, step);
  schedule.Count(100, 100);
  // 30 of the 40 are surely there: those from 71 on.
  REQUIRE(schedule.due() == 4);
  REQUIRE(Taken(schedule) == Versions{"1.71 71", "1.80 80", "1.90 90", "1.100 100"});
  REQUIRE(schedule.due() == 0);
}

TEST_CASE("some version is judged however few inference retains and however long one takes") {
  const std::int64_t retained = GENERATE(1, 2, 8);
  const LearnerLog log;
  EvaluationSchedule schedule({.learner_log = log.path(), .every = 1000, .retained = retained});
  schedule.Count(0, 0);
  int step = 0;
  double judged = 0;
  for (int evaluation = 1; evaluation <= 5; ++evaluation) {
    while (step < 255 * evaluation) {
      log.Publish(step + 1, step + 1);
      ++step;
    }
    schedule.Count(step, 10.0 * step);
    const std::vector<PublishedVersion> taken = schedule.Take();
    REQUIRE(taken.size() == 1);
    REQUIRE(taken.front().version.step + retained > static_cast<std::uint64_t>(step));
    REQUIRE(std::floor(taken.front().environment_steps / 1000) > judged);
    judged = std::floor(taken.front().environment_steps / 1000);
    REQUIRE(Taken(schedule).empty());
  }
}

TEST_CASE("the newest version takes the place of all that are due, and only where one is due") {
  const LearnerLog log;
  EvaluationSchedule schedule({.learner_log = log.path(), .every = 10, .retained = 1000});
  schedule.Count(0, 0);
  for (int step = 1; step <= 57; ++step) log.Publish(step, step);
  REQUIRE_FALSE(schedule.TakeNewest());
  schedule.Count(57, 57);
  const std::optional<PublishedVersion> newest = schedule.TakeNewest();
  REQUIRE(newest);
  REQUIRE(newest->environment_steps == 57);
  REQUIRE_FALSE(schedule.TakeNewest());
  for (int step = 58; step <= 61; ++step) log.Publish(step, step);
  schedule.Count(61, 61);
  REQUIRE(Taken(schedule) == Versions{"1.60 60"});
}

TEST_CASE("a run that goes on is judged from the first multiple above what was judged") {
  const LearnerLog log;
  log.Publish(1, 7);
  EvaluationSchedule schedule(
      {.learner_log = log.path(), .every = 100, .judged = 320, .retained = 1000});
  // The learner begins again from an older checkpoint.
  for (int step = 1; step <= 5; ++step) log.Publish(10 + step, step, 2);
  schedule.Count(10, 250);
  schedule.Count(15, 500);
  REQUIRE(Taken(schedule) == Versions{"2.3 400", "2.5 500"});
}

TEST_CASE("lines of no update and a line that is still being written are no versions") {
  const LearnerLog log;
  EvaluationSchedule schedule({.learner_log = log.path(), .every = 10, .retained = 1000});
  log.Write("{\"unix_seconds\":1,\"reason\":\"none\"}\nno json\n[1]\n");
  log.Write(R"({"unix_seconds":1,"epoch":"one","step":1})"
            "\n");
  log.Write(R"({"unix_seconds":1,"epoch":1,)");
  schedule.Count(2, 100);
  REQUIRE(Taken(schedule).empty());
  log.Write("\"step\":4}\n");
  schedule.Count(3, 110);
  REQUIRE(Taken(schedule) == Versions{"1.4 100"});
}

}  // namespace shoal::cli
