// SPDX-License-Identifier: Apache-2.0
// Tests that a server that ends waits for what its threads still do.
#include <spdlog/sinks/sink.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>

#include "inference/service/inference_server.h"
#include "tests/doubles/eventually.h"
#include "tests/doubles/temporary_folder.h"
#include "tests/inference/service/loopback.h"
#include "tests/rl/parameters/values.h"

namespace shoal::inference {
namespace {

// Returns nothing for a thread that ends meanwhile: reading its file then fails.
std::string LineOf(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

const std::filesystem::path kThreads = "/proc/self/task";

bool AnyThreadActs() {
  for (const auto& thread : std::filesystem::directory_iterator(kThreads)) {
    if (LineOf(thread.path() / "comm").starts_with("act-")) return true;
  }
  return false;
}

// Whether the process's first thread waits for something.
bool MainThreadWaits() {
  const std::string stat = LineOf(kThreads / std::to_string(::getpid()) / "stat");
  return stat.find(") S ") != std::string::npos;
}

// Holds the thread that logs that parameters were not saved, until the server's acting threads have
// ended and the thread that destroys the server waits for another one.
class HeldThread final : public spdlog::sinks::sink {
 public:
  void log(const spdlog::details::log_msg& message) override {
    const std::string_view text(message.payload.data(), message.payload.size());
    if (text.starts_with("event=fetch_failed")) failed_.store(true);
    if (!text.starts_with("event=parameters_not_saved")) return;
    held_.store(true);
    released_.store(doubles::Eventually([] { return !AnyThreadActs() && MainThreadWaits(); }));
  }
  void flush() override {}
  void set_pattern(const std::string&) override {}
  void set_formatter(std::unique_ptr<spdlog::formatter>) override {}

  bool held() const { return held_.load(); }
  bool released() const { return released_.load(); }
  bool failed() const { return failed_.load(); }

 private:
  std::atomic<bool> held_ = false;
  std::atomic<bool> released_ = false;
  std::atomic<bool> failed_ = false;
};

}  // namespace

TEST_CASE("A server that is destroyed while it takes a fetched version waits for that") {
  const doubles::TemporaryFolder learner;
  const doubles::TemporaryFolder folder;
  parameters::PublisherServer publisher("127.0.0.1:0",
                                        parameters::PublisherOptions{.folder = learner.path()});
  InferenceConfig config;
  config.policy.hidden = {8};
  config.policy.value_hidden = {8};
  config.policy.past_requests = false;
  config.policy.observation_size = 2;
  config.policy.head = "discrete";
  config.policy.action_count = 2;
  config.policy.content_fields = {};
  config.options.device = "cpu,cpu";
  config.options.listen = "127.0.0.1:0";
  config.options.parameters_folder = folder.path();
  config.cluster.learner = publisher.address();
  // The run's first version cannot be saved where a file has the name of its folder.
  folder.Write("initial", "");
  REQUIRE(
      parameters::ParametersFolder(learner.path()).Save(testing::VersionOf(config.policy, 0)).ok());

  const auto held = std::make_shared<HeldThread>();
  auto& sinks = spdlog::default_logger()->sinks();
  sinks.push_back(held);
  runtime::Metrics metrics;
  auto server = InferenceServer::Create(config, metrics);
  const bool began = server.ok() &&
                     publisher.publisher().Publish(testing::VersionOf(config.policy, 3)) &&
                     doubles::Eventually([&] { return held->held(); });
  if (server.ok()) server->reset();
  sinks.pop_back();
  INFO(server.status().ToString());
  REQUIRE(began);
  REQUIRE(held->released());
  REQUIRE(!held->failed());
}

}  // namespace shoal::inference
