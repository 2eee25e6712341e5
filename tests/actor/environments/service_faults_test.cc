// SPDX-License-Identifier: Apache-2.0
#include "actor/environments/service_faults.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "actor/environments/inprocess_service.h"
#include "actor/environments/redfish_environment.h"
#include "mockserver/faults/fault.h"
#include "tests/actor/demonstrations/played.h"

namespace shoal::actor {

TEST_CASE("Episodes meet faults of any rate and latency up to those of the knobs") {
  const FaultOptions worst{.rate = 0.4, .latency_ms = 100};
  double least = 1;
  double most = 0;
  std::int64_t slowest = 0;
  for (std::uint64_t episode = 0; episode < 200; ++episode) {
    runtime::Random random(7, episode);
    const ServiceFaults faults = DrawFaults(worst, random);
    REQUIRE(faults.rate <= worst.rate);
    REQUIRE(faults.latency.count() >= 0);
    REQUIRE(faults.latency.count() <= worst.latency_ms);
    least = std::min(least, faults.rate);
    most = std::max(most, faults.rate);
    slowest = std::max<std::int64_t>(slowest, faults.latency.count());
  }
  // One of 200 uniform draws falls in each tenth, but for a chance of 1e-9.
  REQUIRE(least < 0.04);
  REQUIRE(most > 0.36);
  REQUIRE(slowest > 90);
}

TEST_CASE("A share of the worst faults bounds rate and latency, and with none there are none") {
  const FaultOptions worst{.rate = 0.4, .latency_ms = 100};
  for (std::uint64_t episode = 0; episode < 200; ++episode) {
    runtime::Random half(7, episode);
    runtime::Random whole(7, episode);
    runtime::Random none(7, episode);
    const ServiceFaults faults = DrawFaults(worst, half, 0.5);
    REQUIRE(faults.rate == Approx(DrawFaults(worst, whole).rate / 2));
    REQUIRE(faults.latency.count() <= 50);
    REQUIRE(ToJson(DrawFaults(worst, none, 0))["faults"].empty());
  }
}

TEST_CASE("The share of episodes works by tasks, half of them without any time to wait") {
  const FaultOptions options{.tasks = 0.5, .task_ms = 8'000};
  int with_tasks = 0;
  int at_once = 0;
  std::chrono::milliseconds longest{0};
  for (std::uint64_t episode = 0; episode < 1000; ++episode) {
    runtime::Random random(7, episode);
    const ServiceFaults faults = DrawFaults(options, random);
    REQUIRE(ToJson(faults)["faults"].size() == (faults.task ? 1 : 0));
    if (!faults.task) continue;
    ++with_tasks;
    at_once += faults.task->count() == 0 ? 1 : 0;
    longest = std::max(longest, *faults.task);
  }
  // Five standard deviations of a binomial draw.
  REQUIRE(std::abs(with_tasks - 500) < 80);
  REQUIRE(std::abs(at_once - with_tasks / 2) < 60);
  REQUIRE(longest.count() <= 8'000);
  REQUIRE(longest.count() > 7'000);
}

TEST_CASE("An episode's faults are a function of its draws") {
  const FaultOptions worst{.rate = 0.4, .latency_ms = 100};
  const auto draw = [&](std::uint64_t episode) {
    runtime::Random random(7, episode);
    return ToJson(DrawFaults(worst, random));
  };
  REQUIRE(draw(1) == draw(1));
  REQUIRE(draw(1) != draw(2));
}

TEST_CASE("The mock server reads faults of any seed") {
  const auto read = mockserver::FaultSet::Parse(ToJson({.rate = 0.25,
                                                        .latency = std::chrono::milliseconds(30),
                                                        .task = std::chrono::milliseconds(700),
                                                        .seed = ~std::uint64_t{0} >> 1}));
  INFO(read.status());
  REQUIRE(read.ok());
  REQUIRE((*read)->seed() == ~std::uint64_t{0} >> 1);
  REQUIRE((*read)->faults().size() == 3);
  const mockserver::Fault& busy = (*read)->faults()[0];
  REQUIRE(busy.probability == 0.25);
  REQUIRE(std::get<mockserver::StatusFault>(busy.effect).status == 503);
  const mockserver::Fault& slow = (*read)->faults()[1];
  REQUIRE(std::get<mockserver::LatencyFault>(slow.effect).latency.count() == 30);
  const mockserver::Fault& task = (*read)->faults()[2];
  REQUIRE(std::get<mockserver::TaskFault>(task.effect).duration.count() == 700);
  for (const mockserver::Fault& fault : (*read)->faults()) {
    REQUIRE(fault.Fits(mockserver::ParseMethod("POST"), "/redfish/v1/Systems/1"));
  }
}

// A simulated service that nobody can make misbehave, as a real one.
class SoundService final : public RedfishService {
 public:
  explicit SoundService(const Worlds& worlds) : service_(worlds) {}

  absl::StatusOr<ServiceFaults> SetFaults(const ServiceFaults&) override { return ServiceFaults(); }
  void Reset(const std::string& capture, const redfish::Episode& episode, ResetDone done) override {
    service_.Reset(capture, episode, std::move(done));
  }
  void Send(const ServiceRequest& request, Done done) override {
    service_.Send(request, std::move(done));
  }
  void Advance(std::chrono::seconds by, Done done) override {
    service_.Advance(by, std::move(done));
  }

 private:
  InProcessService service_;
};

TEST_CASE("Episodes are longer for tasks only where the service sets the tasks") {
  constexpr std::int64_t kLimit = 4;
  const RedfishData data = LoadInProcess({.captures = {"openbmc-stock"}, .goals = {1}});
  auto tasks = std::make_shared<RedfishTasks>(*data.tasks);
  tasks->options.faults = {.tasks = 1, .task_ms = 5'000};
  tasks->options.limit_per_expert_request = 1.5;
  tasks->options.episode_limit = 3 * kLimit;
  tasks->limits.assign(tasks->pairs.size(), kLimit);
  const auto& candidates = tasks->catalogs.at("openbmc-stock").catalog->candidates();
  const auto look = std::find_if(candidates.begin(), candidates.end(),
                                 [](const auto& candidate) { return candidate.method == "GET"; });
  const auto longest = [&](std::unique_ptr<RedfishService> service) {
    RedfishEnvironment environment(tasks, std::move(service), std::make_shared<ResponseCache>());
    std::int64_t most = 0;
    for (std::uint64_t episode = 0; episode < 20; ++episode) {
      Transition transition = Await(nullptr, [&](auto done) {
        environment.Reset({.environment_id = 1, .episode = episode}, done);
      });
      while (transition.end == End::kNone) {
        transition =
            Await(nullptr, [&](auto done) { environment.Step(look - candidates.begin(), done); });
      }
      most = std::max<std::int64_t>(most, environment.facts().steps);
    }
    return most;
  };
  REQUIRE(longest(std::make_unique<InProcessService>(data.worlds)) > kLimit);
  REQUIRE(longest(std::make_unique<SoundService>(data.worlds)) <= kLimit);
}

TEST_CASE("An episode without faults clears those of the one before") {
  const auto read = mockserver::FaultSet::Parse(ToJson({}));
  REQUIRE(read.ok());
  REQUIRE((*read)->faults().empty());
}

}  // namespace shoal::actor
