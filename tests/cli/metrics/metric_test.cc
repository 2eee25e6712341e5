// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "cli/metrics/metric_text.h"
#include "cli/metrics/metric_totals.h"
#include "cli/session/progress.h"

namespace shoal::cli {
namespace {

std::vector<MetricSample> Parse(const std::string& text) {
  auto samples = ParseMetricText(text);
  REQUIRE(samples.ok());
  return *samples;
}

std::string ActorText(int steps, int episodes, int clean, double returns) {
  return "# TYPE shoal_environment_steps_total counter\nshoal_environment_steps_total " +
         std::to_string(steps) + "\n# TYPE shoal_episodes_total counter\nshoal_episodes_total " +
         std::to_string(episodes) +
         "\n# TYPE shoal_episode_clean_total counter\nshoal_episode_clean_total " +
         std::to_string(clean) +
         "\n# TYPE shoal_episode_return_sum gauge\nshoal_episode_return_sum " +
         std::to_string(returns) + "\n";
}

// Returns the line by which a process describes one of its metrics.
std::string Info(const std::string& metric, const std::string& more) {
  return "shoal_metric_info{metric=\"" + metric + "\"," + more + "} 1\n";
}

MetricTable ActorTable() {
  MetricTable table;
  table.Update(Parse(Info("shoal_episode_clean_total",
                          "kind=\"counter\",draw=\"value\",over=\"shoal_episodes_total\","
                          "status=\"success\"") +
                     Info("shoal_episode_return_sum",
                          "kind=\"gauge\",draw=\"value\",over=\"shoal_episodes_total\","
                          "status=\"return\"")));
  return table;
}

using Status = std::vector<std::pair<std::string, double>>;

}  // namespace

TEST_CASE("names, labels and values are read from the text format") {
  const auto samples = Parse(
      "# HELP a Some \"help\" {x}\n# TYPE a counter\na{goal=\"1\",text=\"q\\\"{}\\n\"} 3\n"
      "# TYPE b gauge\nb 1.5 1700000000\n# TYPE c histogram\nc_bucket{le=\"+Inf\"} 2\nc_sum 7\n");
  REQUIRE(samples.size() == 4);
  REQUIRE(samples[0].name == "a");
  REQUIRE(samples[0].counter);
  REQUIRE(samples[0].labels.at("goal") == "1");
  REQUIRE(samples[0].labels.at("text") == "q\"{}\n");
  REQUIRE(samples[0].value == 3);
  REQUIRE_FALSE(samples[1].counter);
  REQUIRE(samples[1].value == 1.5);
  REQUIRE(samples[3].counter);
}

TEST_CASE("a line that is no metric is named") {
  for (const std::string text : {"a{b=\"c} 1\n", "a\n", "a b\n", "{} 1\n"}) {
    const auto samples = ParseMetricText(text);
    REQUIRE(absl::IsInvalidArgument(samples.status()));
    REQUIRE(runtime::Message(samples.status()).find(text.substr(0, text.size() - 1)) !=
            std::string::npos);
  }
}

TEST_CASE("counters go on where a process that was started again begins at zero") {
  MetricTotals totals;
  totals.Update("actor-0", Parse(ActorText(100, 10, 5, -8)));
  totals.Update("actor-1", Parse(ActorText(7, 1, 1, 1)));
  totals.Update("actor-0", Parse(ActorText(150, 12, 6, -9)));
  REQUIRE(totals.Counter("shoal_environment_steps_total") == 157);
  totals.Update("actor-0", Parse(ActorText(30, 3, 3, 2)));
  REQUIRE(totals.Counter("shoal_environment_steps_total") == 187);
  REQUIRE(totals.Counter("shoal_episode_return_sum") == Approx(-9 + 2 + 1));
}

TEST_CASE("gauges are averaged over processes") {
  MetricTotals totals;
  totals.Update("a", Parse("# TYPE g gauge\ng 1\n"));
  totals.Update("b", Parse("# TYPE g gauge\ng 2\n"));
  REQUIRE(totals.Gauge("g") == 1.5);
  REQUIRE(totals.LeastGauge("g") == 1);
  REQUIRE_FALSE(totals.Gauge("h"));
}

TEST_CASE("progress is about the last seconds, not about the whole run") {
  MetricTotals totals;
  ProgressTracker tracker(true);
  const MetricTable table = ActorTable();
  for (int second = 0; second <= 60; ++second) {
    const bool late = second > 30;
    const int steps = late ? 3000 + (second - 30) * 500 : second * 100;
    const int episodes = steps / 10;
    const int clean = late ? episodes - 300 : 0;
    totals.Update("actor-0", Parse(ActorText(steps, episodes, clean, clean)));
    const Progress progress = tracker.Observe(second, totals, table);
    if (second != 60) continue;
    REQUIRE(progress.environment_steps == 18000);
    REQUIRE(progress.environment_steps_per_second == Approx(500));
    REQUIRE(progress.status == Status{{"success", 1.0}, {"return", 1.0}});
  }
}

TEST_CASE("the status line says how much is left, and what matters before column 80") {
  Progress progress = {.seconds = 90, .environment_steps = 123456, .updates = 12};
  progress.status = {{"success", 0.5}, {"return", 12.25}};
  progress.environment_steps_per_second = 1500;
  const std::string line = StatusLine(progress, {.seconds = 360.0}, 8);
  REQUIRE(line.starts_with("[##......] 1:30 left 4:30  1500 steps/s  success 0.50  return 12.25"));
  REQUIRE(line.find("updates 12") < 70);
  REQUIRE(line.ends_with("steps 123.5k"));
  REQUIRE(StatusLine(progress, {}, 8).find("left") == std::string::npos);
}

TEST_CASE("what a process says of a metric decides what becomes of its values") {
  MetricTable table;
  MetricTotals totals;
  ProgressTracker tracker(true);
  const auto text = [](double idle, double busy, int done) {
    return Info("shoal_wait_seconds_total", "kind=\"counter\",draw=\"shares\"") +
           Info("shoal_done_total", "kind=\"counter\",draw=\"rate\"") +
           Info("shoal_depth", "kind=\"gauge\",draw=\"value\",group=\"queue\",status=\"depth\"") +
           Info("shoal_secret", "kind=\"gauge\",draw=\"never\"") +
           "# TYPE shoal_wait_seconds_total counter\nshoal_wait_seconds_total{reason=\"idle\"} " +
           std::to_string(idle) + "\nshoal_wait_seconds_total{reason=\"busy\"} " +
           std::to_string(busy) + "\n# TYPE shoal_done_total counter\nshoal_done_total " +
           std::to_string(done) + "\nshoal_depth 7\nshoal_secret 1\nshoal_unknown 2\n";
  };
  Progress progress;
  for (int second = 0; second < 3; ++second) {
    const auto samples = Parse(text(second * 0.25, second * 0.75, second * 40));
    table.Update(samples);
    totals.Update("a", samples);
    progress = tracker.Observe(second, totals, table);
  }
  REQUIRE(progress.details == std::map<std::string, double>{{"wait_seconds/idle", 0.25},
                                                            {"wait_seconds/busy", 0.75},
                                                            {"done_per_second", 40},
                                                            {"depth", 7}});
  REQUIRE(progress.status == Status{{"depth", 7}});
  REQUIRE(ToJson(progress).find("\"depth\":7") != std::string::npos);

  const auto copy = MetricTable::Parse(table.ToJson());
  REQUIRE(copy.ok());
  REQUIRE(copy->rows().at("shoal_depth").group == "queue");
  REQUIRE(copy->rows().size() == 4);
  REQUIRE(absl::IsInvalidArgument(MetricTable::Parse("{").status()));
}

TEST_CASE("a histogram that is drawn as shares has that of each bucket in the last seconds") {
  MetricTable table;
  MetricTotals totals;
  ProgressTracker tracker(false);
  const auto text = [](int few, int some, int all) {
    return Info("shoal_ages", "kind=\"histogram\",draw=\"shares\"") +
           "# TYPE shoal_ages histogram\nshoal_ages_count " + std::to_string(all) +
           "\nshoal_ages_sum 9\nshoal_ages_bucket{le=\"2\"} " + std::to_string(few) +
           "\nshoal_ages_bucket{le=\"16\"} " + std::to_string(some) +
           "\nshoal_ages_bucket{le=\"+Inf\"} " + std::to_string(all) + "\n";
  };
  Progress progress;
  for (const auto& samples : {Parse(text(100, 100, 100)), Parse(text(101, 103, 108))}) {
    table.Update(samples);
    totals.Update("a", samples);
    progress = tracker.Observe(progress.seconds + 1, totals, table);
  }
  REQUIRE(progress.details == std::map<std::string, double>{
                                  {"ages/2", 0.125}, {"ages/16", 0.25}, {"ages/+Inf", 0.625}});
  REQUIRE(totals.Counters() ==
          std::map<std::string, double>{{"shoal_ages_count", 108}, {"shoal_ages_sum", 9}});
}

TEST_CASE("a gauge that is drawn by its labels has a mean over processes for each") {
  MetricTable table;
  MetricTotals totals;
  ProgressTracker tracker(false);
  const auto text = [](int first, int second) {
    return Info("shoal_items", "kind=\"gauge\",draw=\"labels\"") + "shoal_items{table=\"games\"} " +
           std::to_string(first) + "\nshoal_items{table=\"unrolls\"} " + std::to_string(second) +
           "\n";
  };
  for (const auto& [process, samples] : std::map<std::string, std::vector<MetricSample>>{
           {"replay-0", Parse(text(10, 100))}, {"replay-1", Parse(text(20, 300))}}) {
    table.Update(samples);
    totals.Update(process, samples);
  }
  REQUIRE(tracker.Observe(0, totals, table).details ==
          std::map<std::string, double>{{"items/games", 15}, {"items/unrolls", 200}});
}

TEST_CASE("a counter that is drawn by its labels has an increase per second for each") {
  MetricTable table;
  MetricTotals totals;
  ProgressTracker tracker(false);
  const auto observe = [&](double seconds, int first, int second) {
    for (const auto& [process, value] :
         std::map<std::string, int>{{"actor-0", first}, {"actor-1", second}}) {
      const auto samples =
          Parse(Info("shoal_cpu_total", "kind=\"counter\",draw=\"labels\"") +
                "# TYPE shoal_cpu_total counter\nshoal_cpu_total{program=\"actor\"} " +
                std::to_string(value) + "\n");
      table.Update(samples);
      totals.Update(process, samples);
    }
    return tracker.Observe(seconds, totals, table).details;
  };
  REQUIRE(observe(0, 100, 7).empty());
  REQUIRE(observe(2, 103, 8) == std::map<std::string, double>{{"cpu/actor", 2}});
}

TEST_CASE("an environment without goals has no success") {
  MetricTotals totals;
  ProgressTracker tracker(false);
  totals.Update("a", Parse(ActorText(0, 0, 0, 0)));
  tracker.Observe(0, totals, ActorTable());
  totals.Update("a", Parse(ActorText(100, 10, 0, 50)));
  REQUIRE(tracker.Observe(1, totals, ActorTable()).status == Status{{"return", 5}});
}

}  // namespace shoal::cli
