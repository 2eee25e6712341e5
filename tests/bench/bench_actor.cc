// SPDX-License-Identifier: Apache-2.0
// Redfish environment steps a second of one actor thread, without inference: actions are uniform
// over the whole catalog. In process, then over HTTP with the mock server on a thread of this
// process.
//
//   bench_actor [--seconds 5] [--environments 64] [--connections 4] [--capture openbmc-stock]
//
// The last line is one JSON object.
#include <CLI/CLI.hpp>
#include <boost/asio/io_context.hpp>
#include <cstdio>
#include <deque>
#include <nlohmann/json.hpp>

#include "actor/redfish_source.h"
#include "runtime/clock.h"
#include "runtime/log.h"
#include "runtime/random.h"
#include "tests/actor/http_servers.h"

namespace {

using namespace shoal;

struct Settings {
  double seconds = 5;
  std::size_t environments = 64;
  std::int64_t connections = 4;
  std::string capture = "openbmc-stock";
};

// Plays environments with random actions until the time is over.
class Players {
 public:
  Players(const actor::EnvironmentSource& source, std::size_t count)
      : environments_(source.Create(context_.get_executor(), 0, count)) {}

  double StepsPerSecond(double seconds) {
    for (std::size_t i = 0; i < environments_.size(); ++i) Reset(i);
    runtime::Clock& clock = runtime::SystemClock();
    const auto start = clock.Now();
    double elapsed = 0;
    while (elapsed < seconds && failure_.ok()) {
      for (int i = 0; i < 256; ++i) Turn();
      elapsed = std::chrono::duration<double>(clock.Now() - start).count();
    }
    return static_cast<double>(steps_) / elapsed;
  }
  const absl::Status& failure() const { return failure_; }
  std::uint64_t episodes() const { return episodes_; }

 private:
  void Turn() {
    if (ready_.empty()) {
      context_.restart();
      context_.run_one_for(std::chrono::seconds(1));
      return;
    }
    auto [index, transition] = std::move(ready_.front());
    ready_.pop_front();
    if (transition.end != actor::End::kNone) {
      ++episodes_;
      Reset(index);
      return;
    }
    ++steps_;
    const std::size_t actions = transition.observation.catalog->size();
    environments_[index]->Step(static_cast<std::int64_t>(random_.Below(actions)), Keep(index));
  }
  void Reset(std::size_t index) {
    environments_[index]->Reset({.environment_id = index, .episode = next_episode_++}, Keep(index));
  }
  actor::Environment::Done Keep(std::size_t index) {
    return [this, index](absl::StatusOr<actor::Transition> transition) {
      if (!transition.ok()) {
        failure_ = transition.status();
        return;
      }
      ready_.emplace_back(index, std::move(*transition));
    };
  }

  boost::asio::io_context context_{1};
  std::vector<std::unique_ptr<actor::Environment>> environments_;
  std::deque<std::pair<std::size_t, actor::Transition>> ready_;
  runtime::Random random_{1};
  std::uint64_t steps_ = 0;
  std::uint64_t episodes_ = 0;
  std::uint64_t next_episode_ = 0;
  absl::Status failure_;
};

absl::StatusOr<double> Measure(const Settings& settings, const actor::EnvironmentOptions& options,
                               const runtime::ClusterOptions& cluster) {
  SHOAL_ASSIGN_OR_RETURN(const auto source, actor::MakeSource({.environment = options,
                                                               .cluster = cluster,
                                                               .captures = options.captures}));
  Players players(*source, settings.environments);
  const double rate = players.StepsPerSecond(settings.seconds);
  SHOAL_RETURN_IF_ERROR(players.failure());
  return rate;
}

absl::Status Run(const Settings& settings) {
  actor::EnvironmentOptions options;
  options.captures = {settings.capture};
  options.connections = settings.connections;
  options.access = "inprocess";
  runtime::ClusterOptions cluster;
  SHOAL_ASSIGN_OR_RETURN(const double in_process, Measure(settings, options, cluster));
  SHOAL_ASSIGN_OR_RETURN(
      const actor::RedfishData data,
      actor::LoadRedfishData(
          {.environment = options, .cluster = cluster, .captures = options.captures}));
  const actor::HttpServers servers(data.worlds);
  cluster.mockserver = servers.front_server->address();
  cluster.mockserver_control = servers.control_server->address();
  options.access = "http";
  SHOAL_ASSIGN_OR_RETURN(const double http, Measure(settings, options, cluster));
  const nlohmann::json line = {{"bench", "actor"},
                               {"capture", settings.capture},
                               {"environments", settings.environments},
                               {"connections", settings.connections},
                               {"inprocess_steps_per_second", in_process},
                               {"http_steps_per_second", http}};
  std::printf("%s\n", line.dump().c_str());
  return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  CLI::App app("Environment steps a second of one actor thread");
  app.add_option("--seconds", settings.seconds, "for each kind of access");
  app.add_option("--environments", settings.environments, "played at once");
  app.add_option("--connections", settings.connections, "to the mock server");
  app.add_option("--capture", settings.capture, "by name");
  CLI11_PARSE(app, argc, argv);
  spdlog::set_level(spdlog::level::warn);
  const absl::Status status = Run(settings);
  if (status.ok()) return 0;
  std::fprintf(stderr, "bench_actor: %s\n", runtime::Message(status).c_str());
  return 1;
}
