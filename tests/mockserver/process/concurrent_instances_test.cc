// SPDX-License-Identifier: Apache-2.0
// Uses many instances at once over HTTP, with faults and virtual time. What an instance answers and
// remembers depends only on its seed and its own requests.
#include <catch2/catch.hpp>
#include <cstddef>
#include <string>
#include <vector>

#include "platform/runtime/random.h"
#include "platform/runtime/thread.h"
#include "tests/mockserver/process/running.h"
#include "tests/mockserver/service/worlds.h"

namespace shoal::mockserver {
namespace {

constexpr std::size_t kInstances = 64;
constexpr std::size_t kThreads = 8;
constexpr int kRequests = 24;

const std::string kSessions = "/redfish/v1/SessionService/Sessions";

constexpr const char* kFaults = R"([
  {"name": "busy", "path": "/redfish/v1/Systems/**", "status": 503, "probability": 0.2},
  {"name": "slow", "path": "/redfish/v1/**", "latency_ms": 400, "probability": 0.2},
  {"name": "lost", "path": "/redfish/v1/**", "drop": "answer", "probability": 0.1},
  {"name": "cut", "path": "/redfish/v1/**", "malformed": "truncated", "probability": 0.1},
  {"name": "flap", "path": "/redfish/v1/SessionService/**", "status": 500,
   "flap": {"fails": 1, "works": 2}}])";

std::string Text(const absl::StatusOr<http::ClientResponse>& answer) {
  if (!answer.ok()) return "no answer\n";
  std::string text = std::to_string(answer->status) + '\n';
  for (const auto& [name, value] : answer->headers) {
    if (name != "Date") text += name + ": " + value + '\n';
  }
  return text + answer->body + '\n';
}

// Creates instance `number` and uses it. Returns its answers and its history.
std::string Use(Running& running, std::size_t number) {
  const std::string id = "n" + std::to_string(number);
  const std::string prefix = "/i/" + id;
  const Json made = {
      {"id", id}, {"seed", number}, {"power_transient_ms", 1500}, {"faults", Json::parse(kFaults)}};
  std::string text = running.Control("POST", "instances", made.dump()).body;
  runtime::Random random(number);
  for (int i = 0; i < kRequests; ++i) {
    switch (random.Below(7)) {
      case 0:
        text += Text(running.Try("GET", prefix + "/redfish/v1/Chassis"));
        break;
      case 1:
        text += Text(running.Try("PATCH", prefix + kOpenBmcSystem,
                                 Json{{"LocationIndicatorActive", i % 2 == 0}}.dump()));
        break;
      case 2:
        text +=
            Text(running.Try("POST", prefix + kOpenBmcSystem + "/Actions/ComputerSystem.Reset",
                             Json{{"ResetType", i % 2 == 0 ? "GracefulShutdown" : "On"}}.dump()));
        break;
      case 3:
        text += Text(running.Try("POST", prefix + kSessions,
                                 R"({"UserName":"root","Password":"shoal-password"})"));
        break;
      case 4:
        text +=
            running.Control("POST", "instances/" + id + "/advance", R"({"milliseconds":700})").body;
        break;
      case 5:
        // The trees that it changed are reused by the next instance that changes the same
        // resources.
        text += running.Control("GET", "instances/" + id + "/history").body;
        text += running.Control("POST", "instances/" + id + "/reset", "{}").body;
        break;
      default:
        text += Text(running.Try("GET", prefix + kOpenBmcSystem));
    }
  }
  return text + running.Control("GET", "instances/" + id + "/history").body;
}

// Returns the answers of all instances, which several threads use at once.
std::vector<std::string> UseAll(std::size_t first) {
  Running running;
  std::vector<std::string> texts(kInstances);
  std::vector<runtime::Thread> threads;
  for (std::size_t thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back("client", [&, thread] {
      for (std::size_t i = thread; i < kInstances; i += kThreads) {
        const std::size_t number = (i + first) % kInstances;
        texts[number] = Use(running, number);
      }
    });
  }
  for (runtime::Thread& thread : threads) thread.Join();
  return texts;
}

}  // namespace

TEST_CASE("64 instances driven at once repeat byte for byte with the same seeds") {
  const std::vector<std::string> once = UseAll(0);
  // The second run uses another order and other threads.
  const std::vector<std::string> again = UseAll(13);
  for (std::size_t i = 0; i < kInstances; ++i) {
    INFO("instance " << i);
    REQUIRE(once[i] == again[i]);
    REQUIRE(once[i].find(R"("kind":"fault")") != std::string::npos);
    if (i > 0) REQUIRE(once[i] != once[i - 1]);
  }
}

}  // namespace shoal::mockserver
