// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>

#include "learner/learner.h"
#include "platform/runtime/log.h"
#include "platform/runtime/program.h"
#include "platform/runtime/status.h"
#include "platform/runtime/thread.h"
#include "rl/algorithms/trainer_memory.h"
#include "rl/collectives/gradient_reducer.h"
#include "rl/collectives/launch.h"
#include "rl/model/compute_device.h"

int main(int argc, char** argv) {
  using namespace shoal;
  collectives::LaunchOptions launch = collectives::LaunchFlags("learner", argc, argv);
  const auto launched = collectives::LaunchRanks(launch);
  if (launched.ok() && launched->exit_code) return *launched->exit_code;
  const auto environment = collectives::ReadRankEnvironment();
  if (environment.ok()) ::setenv("SHOAL_INDEX", std::to_string(environment->rank).c_str(), 0);

  runtime::Program program("learner", "Trains the policy on unrolls and publishes parameters.");
  learner::LearnerSetup setup;
  program.AddSection("learner", setup.learner);
  program.AddSection("policy", setup.policy);
  program.AddSection("algorithm", setup.algorithm);
  program.AddFlag("--world-size", launch.local_ranks,
                  "ranks to start on this node; more than one get a supervisor");
  program.AddFlag("--max-restarts", launch.supervision.max_restarts,
                  "how often in a row the supervisor starts all ranks again after one failed; a "
                  "minute of work restores them");
  program.AddFlag("--nodes", launch.nodes,
                  "how many nodes train together, as MIN:MAX: they come and go while the run goes "
                  "on, each with a learner and --world-size ranks of its own");
  program.AddFlag("--rendezvous", launch.rendezvous,
                  "where these nodes meet, as HOST:PORT, or several with commas between: the first "
                  "that is a node's own is served by it");
  program.AddFlag("--node-name", launch.node_name,
                  "what this node is called among them; the machine's name if it is not set");
  std::int64_t unroll_rows = 0;
  program.AddFlag(
      "--plan-memory", unroll_rows,
      "print as JSON what a rank of cluster.learner_ranks takes that updates on unrolls "
      "of this many rows, and stop");
  if (const auto code = program.Parse(argc, argv)) return *code;
  if (!launched.ok()) return program.Fail(launched.status());
  if (const absl::Status appended = setup.algorithm.AppendMembers(setup.policy); !appended.ok()) {
    return program.Fail(appended);
  }
  if (unroll_rows > 0) {
    const std::int64_t columns =
        learner::UnrollsOfRank(setup.learner.round_unrolls, 0, program.cluster().learner_ranks);
    // At most: contents that rows share are in a batch once.
    const std::int64_t contents = (unroll_rows + 1) * columns * setup.policy.content_count();
    const auto memory = algorithms::EstimateTrainerMemory(
        setup.policy, setup.algorithm,
        {.length = unroll_rows, .columns = columns, .contents = contents});
    if (!memory.ok()) {
      std::fprintf(stderr, "learner: %s\n", runtime::Message(memory.status()).c_str());
      return runtime::kExitConfiguration;
    }
    std::printf("%s\n", algorithms::ToJson(*memory).c_str());
    return 0;
  }
  setup.run = program.run();
  setup.cluster = program.cluster();

  if (!environment.ok()) return program.Fail(environment.status());
  setup.local_rank = environment->local_rank;
  setup.group_failures = launched->failures;
  setup.group_changes = launched->changes;
  setup.progress = launched->progress;
  collectives::GroupOptions options = setup.learner.group();
  options.progress = launched->progress;
  options.find_gpu = [&](std::int64_t local_rank) -> absl::StatusOr<std::int64_t> {
    auto gpu = model::FindGpu(setup.learner.device, local_rank);
    if (gpu.ok()) return gpu;
    return runtime::Annotate(gpu.status(), "learner.reduction is nccl, learner.device");
  };
  auto group = collectives::JoinGroup(options);
  if (!group.ok()) return program.Fail(group.status());
  auto learner = learner::Learner::Create(setup, *std::move(group));
  if (!learner.ok()) return program.Fail(learner.status());
  int failure = 0;
  runtime::Thread loop("learner", [&] {
    const absl::Status end = (*learner)->Run();
    if (!end.ok()) failure = program.Fail(end);
    program.RequestStop(failure);
  });
  const int code = program.WaitForStop();
  (*learner)->Stop();
  loop.Join();
  if ((*learner)->finished() && (*learner)->rank() == 0) {
    std::printf("digest=%s\n", (*learner)->Digest().c_str());
  }
  // A signal that comes while a failure is on its way out must not hide it.
  return failure != 0 ? failure : code;
}
