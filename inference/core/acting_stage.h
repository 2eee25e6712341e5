// SPDX-License-Identifier: Apache-2.0
// The acting stage is the thread that takes batches from the batcher and runs them through the
// engine.
//
// Acting starts with the first parameters; until then rows wait in the batcher. In deterministic
// mode training rows pass a LockstepGate; evaluation rows are batched separately and never wait for
// it. Whoever publishes parameters or finds that replay has room must wake the batcher.
// Thread-safe.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "inference/core/act_engine.h"
#include "inference/core/batcher.h"
#include "inference/core/inference_metrics.h"
#include "inference/core/lockstep_gate.h"
#include "inference/core/policy_set.h"
#include "platform/runtime/thread.h"

namespace shoal::inference {

class ActingStage {
 public:
  // Lockstep is off when `lockstep_environments` is 0. The referenced objects must outlive the
  // stage.
  ActingStage(Batcher& batcher, ActEngine& engine, PolicySet& policies, InferenceMetrics& metrics,
              std::size_t lockstep_environments);
  // Stops at once and drops the rows that still wait.
  ~ActingStage();

  // Answers the rows that wait, drops unrolls for which replay has no room, and ends the thread.
  void Drain();

 private:
  void Run();
  void Act(Batcher::Batch batch);
  void ActInLockstep(std::vector<Row> rows, bool draining);
  void Evaluate(std::vector<Row> rows);

  Batcher& batcher_;
  ActEngine& engine_;
  PolicySet& policies_;
  InferenceMetrics& metrics_;
  std::optional<LockstepGate> gate_;
  runtime::Thread thread_;
};

}  // namespace shoal::inference
