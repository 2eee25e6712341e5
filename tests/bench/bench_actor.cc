// SPDX-License-Identifier: Apache-2.0
// Measures an actor's Redfish environment steps per second, without inference: actions are uniform
// over the whole catalog. First all threads play in process. Then they play over HTTP, where one
// thread runs the mock server in this process and the others, at least one, play.
//
//   bench_actor [--seconds 5] [--environments 64] [--connections 16] [--capture openbmc-stock]
//               [--threads N: as many as processors] [--access inprocess http]
//
// The last line is one JSON object.
#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <cstdio>
#include <deque>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "actor/environments/redfish_source.h"
#include "platform/runtime/clock.h"
#include "platform/runtime/log.h"
#include "platform/runtime/random.h"
#include "platform/runtime/thread.h"
#include "tests/actor/environments/http_servers.h"
#include "tests/bench/flags.h"

namespace {

using namespace shoal;

struct Settings {
  double seconds = 5;
  // The environments and connections of each thread.
  std::size_t environments = 64;
  std::int64_t connections = actor::EnvironmentOptions().connections;
  std::string capture = "openbmc-stock";
  std::size_t threads = std::max(std::thread::hardware_concurrency(), 1U);
  std::vector<std::string> access = {"inprocess", "http"};
};

// Plays environments with random actions until the time is over.
class Players {
 public:
  Players(const actor::EnvironmentSource& source, std::uint64_t first, std::size_t count)
      : first_(first), environments_(source.Create(context_.get_executor(), first, count)) {}

  void Play(double seconds) {
    for (std::size_t i = 0; i < environments_.size(); ++i) Reset(i);
    runtime::Clock& clock = runtime::SystemClock();
    const auto start = clock.Now();
    double elapsed = 0;
    while (elapsed < seconds && failure_.ok()) {
      for (int i = 0; i < 256; ++i) Turn();
      elapsed = std::chrono::duration<double>(clock.Now() - start).count();
    }
    steps_per_second_ = static_cast<double>(steps_) / elapsed;
  }
  const absl::Status& failure() const { return failure_; }
  double steps_per_second() const { return steps_per_second_; }

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
      Reset(index);
      return;
    }
    ++steps_;
    const auto& list = *transition.observation.catalog;
    std::uint64_t action = random_.Below(list.size());
    while (std::binary_search(list.removed().begin(), list.removed().end(), action)) {
      action = random_.Below(list.size());
    }
    environments_[index]->Step(static_cast<std::int64_t>(action), Keep(index));
  }
  void Reset(std::size_t index) {
    environments_[index]->Reset({.environment_id = first_ + index, .episode = next_episode_++},
                                Keep(index));
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
  std::uint64_t first_;
  std::vector<std::unique_ptr<actor::Environment>> environments_;
  std::deque<std::pair<std::size_t, actor::Transition>> ready_;
  runtime::Random random_{1 + first_};
  std::uint64_t steps_ = 0;
  std::uint64_t next_episode_ = 0;
  double steps_per_second_ = 0;
  absl::Status failure_;
};

// Returns the environment steps per second of all threads together.
absl::StatusOr<double> Measure(const Settings& settings, const actor::EnvironmentOptions& options,
                               const runtime::ClusterOptions& cluster, std::size_t threads) {
  SHOAL_ASSIGN_OR_RETURN(const auto source, actor::MakeSource({.environment = options,
                                                               .cluster = cluster,
                                                               .captures = options.captures}));
  std::deque<Players> players;
  for (std::size_t i = 0; i < threads; ++i) {
    players.emplace_back(*source, i * settings.environments, settings.environments);
  }
  {
    std::vector<runtime::Thread> running;
    for (Players& of_thread : players) {
      running.emplace_back("players", [&] { of_thread.Play(settings.seconds); });
    }
  }
  double rate = 0;
  for (const Players& of_thread : players) {
    SHOAL_RETURN_IF_ERROR(of_thread.failure());
    rate += of_thread.steps_per_second();
  }
  return rate;
}

absl::StatusOr<double> MeasureHttp(const Settings& settings, actor::EnvironmentOptions options,
                                   std::size_t threads) {
  runtime::ClusterOptions cluster;
  SHOAL_ASSIGN_OR_RETURN(
      const actor::RedfishData data,
      actor::LoadRedfishData(
          {.environment = options, .cluster = cluster, .captures = options.captures}));
  const actor::HttpServers servers(data.worlds);
  cluster.mockserver = servers.front_server->address();
  cluster.mockserver_control = servers.control_server->address();
  options.access = "http";
  return Measure(settings, options, cluster, threads);
}

absl::Status Run(const Settings& settings) {
  actor::EnvironmentOptions options;
  options.captures = {settings.capture};
  options.connections = settings.connections;
  options.access = "inprocess";
  nlohmann::json line = {{"bench", "actor"},
                         {"capture", settings.capture},
                         {"environments", settings.environments},
                         {"connections", settings.connections}};
  for (const std::string& access : settings.access) {
    const bool http = access == "http";
    const std::size_t threads =
        http && settings.threads > 1 ? settings.threads - 1 : settings.threads;
    SHOAL_ASSIGN_OR_RETURN(const double rate, http ? MeasureHttp(settings, options, threads)
                                                   : Measure(settings, options, {}, threads));
    line[access + "_steps_per_second"] = rate;
    line[access + "_threads"] = threads;
  }
  std::printf("%s\n", line.dump().c_str());
  return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  bench::Flags flags("Environment steps a second of an actor");
  flags.Add("--seconds", settings.seconds, "for each kind of access");
  flags.Add("--environments", settings.environments, "that a thread plays at once");
  flags.Add("--connections", settings.connections, "of a thread to the mock server");
  flags.Add("--capture", settings.capture, "by name");
  flags.Add("--threads", settings.threads, "in all, one of them the mock server's over HTTP")
      .InRange(1, 256)
      .ShowDefault();
  flags.Add("--access", settings.access, "what is measured").OneOf({"inprocess", "http"});
  if (const auto code = flags.Parse(argc, argv)) return *code;
  spdlog::set_level(spdlog::level::warn);
  const absl::Status status = Run(settings);
  if (status.ok()) return 0;
  std::fprintf(stderr, "bench_actor: %s\n", runtime::Message(status).c_str());
  return 1;
}
