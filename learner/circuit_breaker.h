// SPDX-License-Identifier: Apache-2.0
// The circuit breaker of a learner: it judges each update before the update counts, and says
// whether to go on, to undo the update, to learn more gently for a while, to go back to a good
// checkpoint, or to end.
//
// Two kinds of symptoms are told apart. A sudden one is seen in one update, which is then undone: a
// number that is not finite, a gradient norm far above those before, and a KL divergence above its
// limit. When max_skips updates in a row are undone, the learner rolls back. A lasting one takes
// `patience` updates: its count rises by one with each update that shows it, falls by one with each
// that does not, and at `patience` the learner rolls back. Among these are the share of clipped
// rows, the entropy, the effective sample size, the explained variance, the return of episodes, the
// share of episodes that were lost, and the difference between the log-probabilities that inference
// and learner give the same action. An update that has nothing to judge a symptom by, such as one
// without ended episodes, leaves its count alone. Evaluations, which are rarer than updates, have a
// patience of their own, counted in evaluations. They are judged by their return alone, and beside
// that of the episodes trained on since the evaluation before: where evaluations fall and those do
// not, the policy exploits what training rewards, or has learned its tasks by heart.
//
// States, as of a breaker of electric circuits (Nygard 2007, "Release It!", section 5.2):
//   kClosed    Updates go on as usual.
//   kSoftened  A symptom goes on: a lasting one has counted half its patience, or soften_skips of
//              the last `window` updates were undone. The learning rate is scaled by rate_factor(),
//              and a penalty on the KL, which asynchronous gradients exclude, by kl_factor(). The
//              breaker closes after soften_updates updates in a row that are accepted while no
//              lasting symptom counts. max_skips updates that are undone before that, in a row or
//              not, lead to a rollback.
//   kOpen      A rollback was ordered, and no update may be judged before RolledBack.
//   kHalfOpen  Probation after a rollback: the next probation_updates updates use a learning rate
//              scaled by rate_factor(). The breaker closes after them. Gradient norms from before
//              the rollback are forgotten, so one that is lastingly higher is accepted then.
//              Returns are not: the parameters of the checkpoint have earned them.
// Past max_rollbacks rollbacks the verdict is kEnd; settled_updates updates without a rollback
// restore them all.
//
// A rollback should go to parameters that did not show the symptom yet, such as those of the last
// evaluation that was as good as those before. A symptom that comes again before its patience is
// over is the same one, though its count was 0 in between. Sudden ones are one in this respect.
//
// The same vitals in the same order give the same verdicts: there is neither clock nor chance. So
// ranks that are shown the numbers of rank 0 decide alike. Not thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "platform/runtime/config.h"

namespace shoal::learner {

struct CircuitBreakerOptions {
  // This many updates undone in a row lead to a rollback.
  std::int64_t max_skips = 10;
  // An update is undone if its gradient norm exceeds the median of the last `window` by this many
  // mean deviations; as deviation counts the median absolute deviation, or a tenth of the median if
  // that is more. 0 for never.
  double gradient_norm_deviations = 500;
  // An update is undone if its approximate KL divergence is above this. 0 for never.
  double max_kl = 5;
  // The count at which a lasting symptom leads to a rollback.
  std::int64_t patience = 20;
  // The limits of lasting symptoms. The defaults never show one.
  double max_clip_fraction = 1;
  double min_entropy = -1e9;
  double min_effective_sample_size = 0;
  double min_explained_variance = -1e9;
  // The same measure as for gradient norms, by which returns of episodes are below the median. 0
  // for never.
  double return_deviations = 0;
  // The same for the mean return of an evaluation, with the last evaluation_window of them to
  // compare with and evaluation_patience in place of patience.
  double evaluation_deviations = 0;
  std::int64_t evaluation_patience = 2;
  // The same for evaluations between which the return of episodes is not so far below its own
  // median, with divergence_patience.
  double divergence_deviations = 0;
  std::int64_t divergence_patience = 3;
  std::int64_t evaluation_window = 10;
  // The share of ended episodes that were lost, as by an error of the environment. 1 for never.
  double max_lost_episodes = 1;
  // The mean absolute difference of log-probabilities, in nats. 0 for never.
  double max_log_probability_drift = 0;
  // How many healthy updates are compared with; none is compared before a fifth of them.
  std::int64_t window = 100;
  // A learner softens when so many of the last `window` updates were undone.
  std::int64_t soften_skips = 5;
  // The factors of the learning rate and of the coefficient of a penalty on the KL until so many
  // healthy updates in a row. 0 updates for never.
  double soften_rate = 0.5;
  double soften_kl_penalty = 2;
  std::int64_t soften_updates = 20;
  std::int64_t probation_updates = 20;
  double probation_rate = 0.1;
  // The rollbacks in a row after which training ends. 0 ends it in place of the first.
  std::int64_t max_rollbacks = 3;
  std::int64_t settled_updates = 1000;

  void Visit(runtime::Visitor& visitor);
};

// What the breaker looks at, and what rank 0 says along with it. It has no pointers, so its bytes
// can be sent to other ranks.
struct UpdateVitals {
  // The number of the parameters that the update began with, as checkpoints are numbered.
  std::int64_t begins_with = 0;
  // False if loss, gradient or parameters were not finite; then nothing else is looked at.
  bool finite = true;
  double gradient_norm = 0;
  double approximate_kl = 0;
  double clip_fraction = 0;
  double entropy = 0;
  double effective_sample_size = 1;
  double explained_variance = 0;
  // The episodes that ended in the unrolls of the update, and their mean return.
  std::int64_t episodes = 0;
  double episode_return = 0;
  // Those that were cut off without a last observation, which are not among these.
  std::int64_t lost_episodes = 0;
  // The mean absolute difference between the log-probabilities of inference and of the learner, by
  // the same parameters, over so many rows.
  double log_probability_drift = 0;
  double current_rows = 0;
  // The evaluations since the last update, and the mean return of the newest one.
  std::int64_t evaluations = 0;
  double evaluation_return = 0;
  // Not looked at: whether the best checkpoints are kept, which decides what all ranks save and go
  // back to.
  bool keeps_best = false;
};

enum class Symptom {
  kNotFinite,
  kGradientNorm,
  kKl,
  kClipFraction,
  kEntropy,
  kEffectiveSampleSize,
  kExplainedVariance,
  kReturn,
  kEvaluationReturn,
  kDivergence,
  kLostEpisodes,
  kLogProbabilityDrift,
};
inline constexpr std::size_t kSymptoms = 12;

enum class BreakerAction { kGoOn, kSkip, kRollBack, kEnd };
enum class BreakerState { kClosed, kSoftened, kOpen, kHalfOpen };

// The names of logs and metrics, such as "not_finite" and "roll_back".
const char* ToString(Symptom symptom);
const char* ToString(BreakerAction action);

struct Verdict {
  BreakerAction action = BreakerAction::kGoOn;
  // Why; nothing with kGoOn, unless it softens.
  std::optional<Symptom> symptom = {};
  // Whether the updates that follow are softened, and were not before.
  bool softens = false;
  // With kRollBack: parameters up to this number did not show the symptom yet.
  std::int64_t healthy_number = 0;
};

// Whether returns tell of the symptom, which then tell good parameters from bad ones, too.
bool IsOfReturns(Symptom symptom);

class CircuitBreaker {
 public:
  explicit CircuitBreaker(const CircuitBreakerOptions& options) : options_(options) {}

  // Judges an update. With any verdict but kGoOn it must be undone. REQUIRES: the state is not
  // kOpen.
  Verdict Judge(const UpdateVitals& vitals);
  // Begins probation once the learner is back at a checkpoint. REQUIRES: the state is kOpen.
  void RolledBack();

  BreakerState state() const { return state_; }
  // Returns true if what was trained so far may become a checkpoint to go back to: no lasting
  // symptom counts, the last update was not undone, and learning is neither softened nor in
  // probation.
  bool healthy() const;
  // The same of what training ends with, which softened learning does not keep from being saved.
  bool healthy_at_end() const;
  // By what to scale the learning rate of the next update.
  double rate_factor() const;
  // By what to scale the coefficient of a penalty on the KL in it.
  double kl_factor() const {
    return state_ == BreakerState::kSoftened ? options_.soften_kl_penalty : 1;
  }

 private:
  // The last values of healthy updates.
  class Baseline {
   public:
    void Add(double value, std::int64_t window);
    // By how many deviations `value` is above the median; nothing without enough values, or where
    // all are 0.
    std::optional<double> DeviationsOf(double value, std::int64_t window) const;
    void Clear() { values_.clear(); }

   private:
    std::deque<double> values_;
  };

  // How a symptom went.
  struct Course {
    // As the manual page says. That of sudden ones says nothing.
    std::int64_t count = 0;
    // The newest parameters that did not show it, and those from before it began.
    std::optional<std::int64_t> last_healthy = {};
    std::optional<std::int64_t> healthy_before = {};
    // How often it has not been shown since it was.
    std::int64_t quiet = 0;

    // Follows an update that could tell.
    void Follow(bool shows, std::int64_t number, std::int64_t patience);
  };

  std::optional<Symptom> SuddenSymptom(const UpdateVitals& vitals) const;
  // The mean return of the episodes since the last evaluation. REQUIRES: there are some.
  double TrainedReturn() const {
    return trained_return_sum_ / static_cast<double>(trained_episodes_);
  }
  void ForgetTrained();
  // Whether the numbers say anything about the lasting symptom, be it good or bad.
  bool CanTell(Symptom symptom, const UpdateVitals& vitals) const;
  bool Shows(Symptom symptom, const UpdateVitals& vitals) const;
  std::int64_t PatienceWith(Symptom symptom) const;
  std::int64_t CountOf(Symptom symptom) const;
  bool AnyCounts() const;
  Verdict Undo(Symptom symptom, std::int64_t number);
  Verdict RollBack(Symptom symptom, const Course& course);
  void Accept(const UpdateVitals& vitals);
  // What an accepted update changes about softening.
  Verdict FollowSoftening();
  // Begins to soften; false where that is not wanted or the learning rate is scaled already.
  bool Soften();

  const CircuitBreakerOptions options_;
  BreakerState state_ = BreakerState::kClosed;
  Baseline gradient_norms_;
  Baseline returns_;
  Baseline evaluation_returns_;
  // What the episodes between evaluations returned, and those since the last one.
  Baseline trained_returns_;
  std::int64_t trained_episodes_ = 0;
  double trained_return_sum_ = 0;
  // Those of lasting symptoms, by symptom, and the one of all that are sudden.
  std::array<Course, kSymptoms> lasting_{};
  Course sudden_;
  std::int64_t skips_in_a_row_ = 0;
  std::int64_t judged_updates_ = 0;
  // Which of these were undone: of the last `window`, or since learning was softened.
  std::deque<std::int64_t> undone_;
  // The healthy updates in a row since learning was softened.
  std::int64_t calm_updates_ = 0;
  std::int64_t rollbacks_in_a_row_ = 0;
  // Those since the last rollback.
  std::int64_t accepted_updates_ = 0;
};

}  // namespace shoal::learner
