// SPDX-License-Identifier: Apache-2.0
#include "actor/environments/service_faults.h"

#include <nlohmann/json.hpp>

namespace shoal::actor {
namespace {

constexpr const char* kEverything = "/redfish/v1/**";

}  // namespace

void FaultOptions::Visit(runtime::Visitor& visitor) {
  visitor.Knob("rate", rate,
               {.help = "largest share of requests answered 503; each episode draws its own",
                .min = 0,
                .max = 0.9});
  visitor.Knob("latency_ms", latency_ms,
               {.help = "longest delay of answers on the service's clock; each episode draws its "
                        "own",
                .unit = "ms",
                .min = 0,
                .max = 600'000});
  visitor.Knob("tasks", tasks,
               {.help = "share of episodes on simulated services in which each change is answered "
                        "202 and made by a task",
                .min = 0,
                .max = 1});
  visitor.Knob(
      "task_ms", task_ms,
      {.help = "longest time of such a task on the service's clock; each episode draws its "
               "own, and half of them take none",
       .unit = "ms",
       .min = 0,
       .max = 600'000});
}

ServiceFaults DrawFaults(const FaultOptions& options, runtime::Random& random, double share) {
  ServiceFaults faults;
  faults.rate = share * options.rate * random.Uniform();
  const auto longest = static_cast<std::uint64_t>(share * static_cast<double>(options.latency_ms));
  faults.latency = std::chrono::milliseconds(random.Below(longest + 1));
  // The mock server's seeds are signed numbers.
  faults.seed = random() >> 1;
  // Nothing is drawn where there are none, so that other episodes stay as they were.
  if (options.tasks > 0 && random.Uniform() < share * options.tasks) {
    const auto most = static_cast<std::uint64_t>(share * static_cast<double>(options.task_ms));
    faults.task = std::chrono::milliseconds(random.Below(2) == 0 ? 0 : random.Below(most + 1));
  }
  return faults;
}

nlohmann::json ToJson(const ServiceFaults& faults) {
  nlohmann::json set = {{"seed", faults.seed}, {"faults", nlohmann::json::array()}};
  if (faults.rate > 0) {
    set["faults"].push_back(
        {{"name", "busy"}, {"path", kEverything}, {"status", 503}, {"probability", faults.rate}});
  }
  if (faults.latency.count() > 0) {
    set["faults"].push_back(
        {{"name", "slow"}, {"path", kEverything}, {"latency_ms", faults.latency.count()}});
  }
  // The last one: a request at which the service is busy starts no task.
  if (faults.task) {
    set["faults"].push_back(
        {{"name", "task"}, {"path", kEverything}, {"task_ms", faults.task->count()}});
  }
  return set;
}

}  // namespace shoal::actor
