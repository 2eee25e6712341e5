// SPDX-License-Identifier: Apache-2.0
// A trained policy that finds the requests of an operation: it acts on the twin of the host as it
// acted on simulated services in training.
//
// The policy reads the sentence of the episode, and if it does not reach the goal with that one,
// sentences of the goal's training with the same values. The first attempt counts that reaches the
// goal without side effects, and of its requests those without which the goal is not reached
// (operate/shortening.h).
//
// Solve blocks. Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "actor/environments/environment_options.h"
#include "operate/solver.h"
#include "platform/runtime/clock.h"
#include "platform/runtime/status.h"
#include "redfish/schema/schema.h"

namespace shoal::actor {

struct PolicySolverOptions {
  // "host:port" of the inference server that has the policy.
  std::string inference = {};
  // How the policy is called, such as "the policy of runs/latest".
  std::string name = {};
  // Those with which the policy was trained.
  EnvironmentOptions environment = {};
  // The most attempts, at least 1, each with another sentence.
  std::uint64_t attempts = 8;
  // How long all attempts at one goal may take.
  runtime::Duration patience = std::chrono::minutes(5);
};

class PolicySolver final : public operate::Solver {
 public:
  // Called a few times a second while Solve waits. An error ends it.
  using Check = std::function<absl::Status()>;

  PolicySolver(PolicySolverOptions options, std::shared_ptr<const redfish::Schema> schema,
               Check check);

  // REQUIRES: the twin has the watch of the episode.
  // FAILED_PRECONDITION when no attempt reaches the goal without side effects, DEADLINE_EXCEEDED
  // when the attempts took too long. Other errors are those of `check` and of the server.
  absl::Status Solve(const redfish::AppliedGoal& goal, const redfish::Episode& episode,
                     operate::Twin& twin) override;
  std::string name() const override { return options_.name; }

 private:
  const PolicySolverOptions options_;
  const std::shared_ptr<const redfish::Schema> schema_;
  const Check check_;
};

}  // namespace shoal::actor
