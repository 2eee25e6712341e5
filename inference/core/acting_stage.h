// SPDX-License-Identifier: Apache-2.0
// The acting stage is the thread that takes batches from a batcher and runs them through its
// engine. With several devices each has a stage; lock step needs all environments in one.
//
// Acting starts with the first parameters; until then rows wait in the batcher. In deterministic
// mode training rows pass a LockstepGate; evaluation rows are batched separately and never wait for
// it. There the state of all environments is kept after each round, before the round's last unrolls
// go to replay, so that whichever checkpoint a learner starts again from, its environments are
// known. When that happens, they go on where they were. Whoever publishes parameters or finds that
// replay has room must wake the batcher. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "inference/core/act_engine.h"
#include "inference/core/batcher.h"
#include "inference/core/environment_state.h"
#include "inference/core/inference_metrics.h"
#include "inference/core/lockstep_gate.h"
#include "inference/core/policy_set.h"
#include "platform/runtime/thread.h"

namespace shoal::inference {

class ActingStage {
 public:
  struct Lockstep {
    // The number of training environments; 0 turns lockstep off.
    std::size_t environments = 0;
    // How many unrolls each of them delivers in a round, and how many in the first one.
    std::size_t unrolls = 1;
    std::size_t first_unrolls = 1;
    // Null to keep no states.
    RoundStates* states = nullptr;
  };

  // The referenced objects must outlive the stage. `thread` is the name of its thread.
  ActingStage(Batcher& batcher, ActEngine& engine, PolicySet& policies, InferenceMetrics& metrics,
              const Lockstep& lockstep, const std::string& thread = "act");
  // Stops at once and drops the rows that still wait.
  ~ActingStage();

  // Answers the rows that wait, drops unrolls for which replay has no room, and ends the thread.
  void Drain();

 private:
  void Run();
  void Act(Batcher::Batch batch);
  void ActInLockstep(std::vector<Row> rows, bool draining);
  // Goes back to where the environments were when the learner's state was saved.
  void BeginEpoch(const VersionedPolicy& current);
  void KeepRound(const VersionedPolicy& acted);
  void Evaluate(std::vector<Row> rows);

  Batcher& batcher_;
  ActEngine& engine_;
  PolicySet& policies_;
  InferenceMetrics& metrics_;
  RoundStates* const states_;
  std::optional<LockstepGate> gate_;
  // Those of the last step in lockstep.
  std::uint64_t epoch_ = 0;
  std::uint64_t update_ = 0;
  runtime::Thread thread_;
};

}  // namespace shoal::inference
