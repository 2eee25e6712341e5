// SPDX-License-Identifier: Apache-2.0
// What a Learner consists of. Its source makes the parts, in Learner::Start and what that calls.
// Only the sources of the learner and of its holder see it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "learner/asynchronous/gradient_worker.h"
#include "learner/circuit_breaker.h"
#include "learner/cloning/cloning.h"
#include "learner/cloning/demonstration_table.h"
#include "learner/learner.h"
#include "learner/learner_holder.h"
#include "learner/learner_metrics.h"
#include "learner/publication.h"
#include "learner/unrolls/content_table.h"
#include "learner/unrolls/episode_returns.h"
#include "learner/unrolls/quarantine.h"
#include "learner/unrolls/round.h"
#include "learner/unrolls/unroll_decoder.h"
#include "learner/unrolls/unroll_ledger.h"
#include "platform/runtime/clock.h"
#include "platform/runtime/large_memory.h"
#include "platform/runtime/metrics.h"
#include "platform/transport/server.h"
#include "replay/client/sampler.h"
#include "rl/algorithms/policy_trainer.h"
#include "rl/collectives/gradient_client.h"
#include "rl/collectives/gradient_hub.h"
#include "rl/collectives/gradient_reducer.h"
#include "rl/parameters/evaluation_report.h"
#include "rl/parameters/version.h"
#include "rl/parameters/version_wire.h"
#include "rl/training/shared_checkpoints.h"

namespace shoal::learner {

class SamplerSource final : public UnrollSource {
 public:
  explicit SamplerSource(replay::client::Sampler& sampler) : sampler_(sampler) {}
  absl::StatusOr<replay::client::SampledUnroll> Next(std::chrono::milliseconds timeout) override {
    return sampler_.Next(timeout);
  }
  void Want(std::size_t count, const parameters::Version& played) override {
    sampler_.Want(count, parameters::ToProto(played));
  }

 private:
  replay::client::Sampler& sampler_;
};

struct Learner::Parts {
  runtime::Metrics metrics;
  // The group with which this rank is in step. With asynchronous gradients it ends before training,
  // and the rank is a group of its own from then on.
  std::unique_ptr<collectives::GradientReducer> joined;
  std::unique_ptr<collectives::GradientReducer> reducer;
  std::size_t ranks = 1;
  // With asynchronous gradients: that of rank 0 applies them, that of another rank computes them.
  std::unique_ptr<algorithms::PolicyTrainer> trainer;
  // For the copies that checkpoints are written from.
  runtime::LargeMemoryPool snapshots;
  // Those of the group, or with asynchronous gradients, once training begins, those of this rank.
  std::unique_ptr<training::SharedCheckpoints> checkpoints;
  std::unique_ptr<UnrollLedger> ledger;
  std::unique_ptr<LearnerMetrics> reports;    // rank 0
  std::unique_ptr<Publication> publication;   // rank 0
  std::unique_ptr<transport::Server> health;  // the first rank of a node, if it is to say so
  std::unique_ptr<ContentTable> contents;
  std::unique_ptr<Cloning> cloning;                    // null without demonstrations
  std::unique_ptr<DemonstrationTable> demonstrations;  // null without a demonstration ratio
  std::unique_ptr<UnrollDecoder> decoder;
  std::unique_ptr<replay::client::Sampler> sampler;
  std::unique_ptr<SamplerSource> source;
  std::optional<Quarantine> quarantine;
  // With synchronous gradients.
  std::unique_ptr<Round> round;
  // With asynchronous ones.
  std::unique_ptr<algorithms::PolicyTrainer> workers_trainer;  // rank 0
  std::unique_ptr<collectives::GradientClient> client;
  std::unique_ptr<GradientWorker> worker;
  std::unique_ptr<Holder> holder;                 // rank 0
  std::unique_ptr<collectives::GradientHub> hub;  // rank 0

  std::optional<CircuitBreaker> breaker;
  // Rank 0's evaluations that no update has been judged by yet.
  std::vector<parameters::EvaluationReport> evaluations;
  // On the update that was judged last.
  Verdict verdict;

  parameters::Version version;
  // How many updates and clonings the published parameters had, and those from which this epoch
  // began.
  std::int64_t published_number = -1;
  std::int64_t epoch_number = -1;
  // Rank 0's last published version, and whether that said that there is a checkpoint of it.
  std::optional<parameters::Version> published;
  bool published_with_checkpoint = false;
  std::string encoder_version;
  EpisodeReturns episodes;
  // As this rank hears of them, since the last rollback.
  RecentReturns recent_returns;
  // Whether rank 0 keeps the best checkpoints, as it said when an update was judged last.
  bool keeps_best = false;
  // What the newest of the evaluations returned that the last update to count was told of. Nothing
  // where it was told of none.
  std::optional<double> evaluation_return;
  double environment_steps = 0;
  // The newest checkpoint that counts, and the one that is under way.
  SavedState saved;
  SavedState saving;
  // Whether this run has a checkpoint of its own that the loss of one folder would leave.
  bool has_checkpoint = false;
  // Whether the number of updates has asked for a checkpoint since one was last begun.
  bool checkpoint_was_due = false;
  // Whether the time between checkpoints was over when the round began.
  bool is_checkpoint_time = false;
  // Those of earlier processes of this run.
  double earlier_environment_steps = 0;
  // Those that replay had taken in when the round began, since this process started, as rank 0 has
  // heard.
  double inserted_steps = 0;
  runtime::TimePoint last_checkpoint = runtime::SystemClock().Now();
  int failures_in_a_row = 0;
  // Whether ids of trained unrolls, and versions that were condemned, wait for room on the disk.
  bool ids_wait = false;
  bool quarantine_waits = false;
  // The number of unrolls of this rank in a round, and the largest of any rank.
  std::size_t share = 0;
  std::size_t largest_share = 0;
  // The unrolls of the round in progress: those of replay, and then demonstrations.
  std::vector<DecodedUnroll> unrolls;
  std::size_t from_replay = 0;
  UpdateRecord record;
};

}  // namespace shoal::learner
