// SPDX-License-Identifier: Apache-2.0
// The thread that acts: takes batches from the batcher and runs them through the engine.
//
// Acting begins with the first parameters; until then rows wait in the batcher. In deterministic
// mode train rows pass a LockstepGate, evaluation rows are batched apart and never wait for it.
// Whoever has news - parameters, room in replay - wakes the batcher.
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
  // `lockstep_environments`: 0 for none. References outlive this.
  ActingStage(Batcher& batcher, ActEngine& engine, PolicySet& policies, InferenceMetrics& metrics,
              std::size_t lockstep_environments);
  // Ends at once; rows that wait are dropped.
  ~ActingStage();

  // Answers what waits, unrolls without room in replay are dropped; the thread then ends.
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
