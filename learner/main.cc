// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstdlib>
#include <optional>

#include "learner/learner.h"
#include "platform/runtime/log.h"
#include "platform/runtime/program.h"
#include "platform/runtime/thread.h"
#include "rl/collectives/gradient_reducer.h"
#include "rl/collectives/launch.h"

int main(int argc, char** argv) {
  using namespace shoal;
  std::int64_t world_size = collectives::WorldSizeFlag(argc, argv);
  const auto launched = collectives::LaunchRanks(world_size);
  if (launched.ok() && launched->has_value()) return **launched;
  if (const char* rank = std::getenv("RANK")) ::setenv("SHOAL_INDEX", rank, 0);

  runtime::Program program("learner", "Trains the policy on unrolls and publishes parameters.");
  learner::LearnerSetup setup;
  program.AddSection("learner", setup.learner);
  program.AddSection("policy", setup.policy);
  program.AddSection("algorithm", setup.algorithm);
  program.AddFlag("--world-size", world_size, "ranks to start on this node");
  if (const auto code = program.Parse(argc, argv)) return *code;
  if (!launched.ok()) return program.Fail(launched.status());
  setup.run = program.run();
  setup.cluster = program.cluster();

  const auto environment = collectives::ReadRankEnvironment();
  if (!environment.ok()) return program.Fail(environment.status());
  setup.local_rank = environment->local_rank;
  auto group = collectives::JoinGroup(setup.learner.group());
  if (!group.ok()) return program.Fail(group.status());
  auto learner = learner::Learner::Create(setup, *std::move(group));
  if (!learner.ok()) return program.Fail(learner.status());
  runtime::Thread loop("learner", [&] {
    const absl::Status end = (*learner)->Run();
    program.RequestStop(end.ok() ? 0 : program.Fail(end));
  });
  const int code = program.WaitForStop();
  (*learner)->Stop();
  loop.Join();
  if ((*learner)->finished() && (*learner)->rank() == 0) {
    std::printf("digest=%s\n", (*learner)->Digest().c_str());
  }
  return code;
}
