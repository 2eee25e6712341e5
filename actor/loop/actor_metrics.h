// SPDX-License-Identifier: Apache-2.0
// The metrics of an actor process. Thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <utility>

#include "actor/loop/episode_plan.h"
#include "inference/client/act_client.h"
#include "platform/runtime/metrics.h"
#include "platform/runtime/mutex.h"

namespace shoal::actor {

// The things that an environment may wait for.
enum class Wait : std::uint8_t {
  // The service answers a request.
  kEnvironment,
  // The environment's row waits for others to fill a message.
  kMessage,
  // Inference answers.
  kInference,
  // There is no connection to inference.
  kConnection,
  // A service was lost or refused a start, and the environment pauses before it tries again.
  kBackoff,
};
inline constexpr std::size_t kWaits = 5;

// Why an episode was cut off before its end.
enum class AbortReason : std::uint8_t {
  kEnvironmentLost,
  kServerRestarted,
  kRowRefused,
  // The service refused to begin the episode, and its pair was given up.
  kStartRefused,
};
inline constexpr std::size_t kAbortReasons = 4;

class ActorMetrics {
 public:
  // `metrics` outlives this.
  explicit ActorMetrics(runtime::Metrics& metrics);

  void CountStep() { steps_.Increment(); }
  void CountEpisode(const EpisodeResult& result) ABSL_LOCKS_EXCLUDED(mutex_);
  void CountAbort(AbortReason reason);
  void CountWait(Wait reason, double seconds);
  void CountFenced() { fenced_.Increment(); }
  // Tells the stage of the curriculum in which episodes begin from now on.
  void SetCurriculumStage(std::int64_t stage);
  void CountAchieved(std::size_t goals) { achieved_.Increment(static_cast<double>(goals)); }
  // Counts a goal under which an episode was to be told again: in so many rows, or in none where it
  // could not be.
  void CountRelabelled(std::size_t rows);
  // `before` and `now` are two readings of one client's status_counts().
  void CountStatuses(const inference::client::RowStatusCounts& before,
                     const inference::client::RowStatusCounts& now);

 private:
  struct PairCounters {
    prometheus::Counter& episodes;
    prometheus::Counter& successes;
    prometheus::Counter& clean;
    prometheus::Counter& satisfied_at_start;
    prometheus::Counter& steps;
    prometheus::Counter& mutations;
    prometheus::Counter& optimum;
    prometheus::Counter& client_errors;
    // A gauge, as returns may be negative.
    prometheus::Gauge& return_sum;
  };
  PairCounters& CountersLocked(const std::string& goal, const std::string& capture)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  runtime::Metrics& metrics_;
  prometheus::Counter& steps_;
  prometheus::Counter& fenced_;
  prometheus::Counter& achieved_;
  prometheus::Counter& relabelled_episodes_;
  prometheus::Counter& relabelled_rows_;
  prometheus::Counter& not_relabelled_;
  std::array<prometheus::Counter*, std::tuple_size_v<inference::client::RowStatusCounts>>
      statuses_ = {};
  std::array<prometheus::Counter*, kWaits> waits_ = {};
  std::array<prometheus::Counter*, kAbortReasons> aborts_ = {};

  runtime::Mutex mutex_;
  std::map<std::pair<std::string, std::string>, PairCounters> pairs_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace shoal::actor
