// SPDX-License-Identifier: Apache-2.0
// The loop of one rank where gradients are asynchronous: it collects unrolls, computes their
// gradient at its copy of the parameters, sends it to the holder, and goes on with the parameters
// that it gets.
//
// A rank waits for unrolls and for the holder, never for another rank. Its round ends when it has
// its share, and after learner.round_timeout_ms with at least half of it; with fewer it only asks
// for parameters, which also tells the holder that it lives. On policy the holder decides which
// uses of unrolls count, and logs them; here no use is taken twice. Where parameters are of a new
// epoch, because the holder went back to a checkpoint, the run's quarantine is read again. Used
// from one thread.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "learner/asynchronous/gradient_note.h"
#include "learner/cloning/cloning.h"
#include "learner/unrolls/episode_returns.h"
#include "learner/unrolls/quarantine.h"
#include "learner/unrolls/round.h"
#include "learner/unrolls/unroll_ledger.h"
#include "platform/runtime/status.h"
#include "replay/client/sampler.h"
#include "rl/algorithms/algorithm_options.h"
#include "rl/algorithms/policy_trainer.h"
#include "rl/collectives/gradient_client.h"
#include "rl/model/policy_spec.h"
#include "rl/parameters/version.h"

namespace shoal::learner {

// What a worker works with. All of it outlives the worker.
struct WorkerParts {
  algorithms::PolicyTrainer& trainer;
  collectives::GradientClient& client;
  replay::client::Sampler& sampler;
  UnrollSource& source;
  const UnrollDecoder& decoder;
  // Null without demonstrations.
  const Cloning* cloning = nullptr;
};

struct WorkerOptions {
  model::PolicySpec policy;
  RoundOptions round;
  algorithms::AlgorithmOptions algorithm;
  // The folder of the run.
  std::string folder;
  UnrollLedgerOptions ledger;
};

class GradientWorker {
 public:
  // The errors are those of UnrollLedger::Create and Quarantine::Read.
  static absl::StatusOr<std::unique_ptr<GradientWorker>> Create(const WorkerOptions& options,
                                                                const WorkerParts& parts);

  // Works until `stopped` returns true or the holder asks to leave, and leaves. After any other
  // error than the client's the caller must tell the others (GradientClient::Abort).
  absl::Status Run(const std::function<bool()>& stopped);

 private:
  GradientWorker(const WorkerOptions& options, const WorkerParts& parts, Quarantine quarantine,
                 std::unique_ptr<UnrollLedger> ledger);

  // Returns false if the rank is to leave.
  absl::StatusOr<bool> RunRound(const std::function<bool()>& stopped);
  absl::Status Train();
  // Sends the gradient, or only asks for parameters if it is empty, and adopts what comes.
  absl::Status Exchange(std::vector<float> gradient);
  absl::Status Adopt(const collectives::SharedParameters& shared);
  std::string Note();

  const WorkerOptions options_;
  const WorkerParts parts_;
  Quarantine quarantine_;
  const std::unique_ptr<UnrollLedger> ledger_;
  Round round_;

  collectives::ParameterNumber number_;
  parameters::Version version_;
  std::int64_t target_number_ = 0;
  bool told_to_leave_ = false;
  EpisodeReturns episodes_;
  std::vector<DecodedUnroll> unrolls_;
  // What is to be told with the next gradient, the time of rounds without one included.
  GradientNote note_;
  // Of the exchange before.
  double exchanging_seconds_ = 0;
};

}  // namespace shoal::learner
