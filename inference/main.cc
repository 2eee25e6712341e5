// SPDX-License-Identifier: Apache-2.0
#include <chrono>

#include "inference/service/inference_server.h"
#include "inference/service/target_priorities.h"
#include "platform/runtime/heap.h"
#include "platform/runtime/log.h"
#include "platform/runtime/metrics.h"
#include "platform/runtime/program.h"
#include "rl/algorithms/algorithm_options.h"
#include "rl/model/policy.h"

using namespace shoal;

int main(int argc, char** argv) {
  runtime::KeepFreedMemory();
  runtime::Program program("inference", "Answers actors with actions and builds unrolls.");
  inference::InferenceConfig config;
  program.AddSection("inference", config.options);
  program.AddSection("policy", config.policy);
  algorithms::AlgorithmOptions algorithm;
  program.AddSection("algorithm", algorithm);
  if (const auto code = program.Parse(argc, argv)) return *code;
  if (const absl::Status appended = algorithm.AppendMembers(config.policy); !appended.ok()) {
    return program.Fail(appended);
  }
  config.priority = inference::TargetPriorities(algorithm);
  config.run = program.run();
  config.cluster = program.cluster();
  config.index = program.index();

  model::SetTorchThreads(config.run, config.options.torch_threads);
  runtime::Metrics metrics;
  if (auto status = metrics.Expose(config.options.metrics_listen); !status.ok()) {
    return program.Fail(status);
  }
  const std::chrono::milliseconds grace(config.options.drain_ms);
  auto server = inference::InferenceServer::Create(std::move(config), metrics);
  if (!server.ok()) return program.Fail(server.status());
  spdlog::info("event=listening address={}", (*server)->address());

  const int code = program.WaitForStop();

  const absl::Status drained = (*server)->Drain(grace);
  if (!drained.ok()) {
    spdlog::warn("event=drain_incomplete reason={}", runtime::Quoted(runtime::Message(drained)));
  }
  spdlog::info("event=stopped");
  return code;
}
