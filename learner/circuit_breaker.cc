// SPDX-License-Identifier: Apache-2.0
#include "learner/circuit_breaker.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "platform/runtime/check.h"
#include "platform/runtime/median.h"

namespace shoal::learner {
namespace {

constexpr double kMostUpdates = 1e9;
constexpr std::int64_t kLeastShareOfWindow = 5;
constexpr double kLeastDeviation = 0.1;
constexpr std::array<Symptom, 9> kLasting = {
    Symptom::kClipFraction,      Symptom::kEntropy,      Symptom::kEffectiveSampleSize,
    Symptom::kExplainedVariance, Symptom::kReturn,       Symptom::kEvaluationReturn,
    Symptom::kDivergence,        Symptom::kLostEpisodes, Symptom::kLogProbabilityDrift};

std::size_t IndexOf(Symptom symptom) { return static_cast<std::size_t>(symptom); }

}  // namespace

void CircuitBreakerOptions::Visit(runtime::Visitor& visitor) {
  visitor.Knob("max_skips", max_skips,
               {.help = "updates undone in a row before parameters go back to a checkpoint",
                .unit = "updates",
                .min = 1,
                .max = kMostUpdates});
  visitor.Knob("gradient_norm_deviations", gradient_norm_deviations,
               {.help = "an update is undone if its gradient norm is above the median of those "
                        "before by so many median absolute deviations (a tenth of the median at "
                        "least); 0: never",
                .min = 0});
  visitor.Knob("max_kl", max_kl,
               {.help = "an update is undone if its approximate KL divergence is above this; 0: "
                        "never",
                .unit = "nats",
                .min = 0});
  visitor.Knob("patience", patience,
               {.help = "updates that must show a lasting symptom, less those that do not, before "
                        "parameters go back to a checkpoint",
                .unit = "updates",
                .min = 1,
                .max = kMostUpdates});
  visitor.Knob(
      "max_clip_fraction", max_clip_fraction,
      {.help = "a lasting symptom: a larger share of clipped rows; 1: never", .min = 0, .max = 1});
  visitor.Knob("min_entropy", min_entropy,
               {.help = "a lasting symptom: a lower entropy of the policy", .unit = "nats"});
  visitor.Knob("min_effective_sample_size", min_effective_sample_size,
               {.help = "a lasting symptom: a smaller share of rows that importance weights leave; "
                        "0: never",
                .min = 0,
                .max = 1});
  visitor.Knob("min_explained_variance", min_explained_variance,
               {.help = "a lasting symptom: a lower explained variance of returns", .max = 1});
  visitor.Knob("return_deviations", return_deviations,
               {.help = "a lasting symptom: returns of episodes below the median of those before "
                        "by so many median absolute deviations (a tenth of the median at least); "
                        "0: never",
                .min = 0});
  visitor.Knob("evaluation_deviations", evaluation_deviations,
               {.help = "a lasting symptom: the return of an evaluation below the median of those "
                        "before by so many median absolute deviations (a tenth of the median at "
                        "least); 0: never",
                .min = 0});
  visitor.Knob("evaluation_patience", evaluation_patience,
               {.help = "evaluations that must show it, less those that do not, before parameters "
                        "go back to a checkpoint",
                .unit = "evaluations",
                .min = 1,
                .max = kMostUpdates});
  visitor.Knob("divergence_deviations", divergence_deviations,
               {.help = "a lasting symptom: the return of an evaluation so far below the median of "
                        "those before, while episodes that were trained on returned no less than "
                        "before by the same measure; 0: never",
                .min = 0});
  visitor.Knob("divergence_patience", divergence_patience,
               {.help = "evaluations that must show it, less those that do not, before parameters "
                        "go back to a checkpoint",
                .unit = "evaluations",
                .min = 1,
                .max = kMostUpdates});
  visitor.Knob("evaluation_window", evaluation_window,
               {.help = "healthy evaluations whose median is compared with",
                .unit = "evaluations",
                .min = 5,
                .max = 100000});
  visitor.Knob("max_lost_episodes", max_lost_episodes,
               {.help = "a lasting symptom: a larger share of ended episodes that were lost, as by "
                        "errors of environments; 1: never",
                .min = 0,
                .max = 1});
  visitor.Knob("max_log_probability_drift", max_log_probability_drift,
               {.help = "a lasting symptom: a larger mean difference between the log-probabilities "
                        "that inference and the learner give actions by the same parameters, which "
                        "learner.publication_encoding may round for inference; 0: never",
                .unit = "nats",
                .min = 0});
  visitor.Knob("window", window,
               {.help = "healthy updates whose medians are compared with",
                .unit = "updates",
                .min = 5,
                .max = 100000});
  visitor.Knob(
      "soften_skips", soften_skips,
      {.help = "updates undone among the last `window` from which on learning is softened; "
               "with a lasting symptom it is at half its patience",
       .unit = "updates",
       .min = 1,
       .max = kMostUpdates});
  visitor.Knob("soften_rate", soften_rate,
               {.help = "factor of the learning rate while it is softened", .min = 0, .max = 1});
  visitor.Knob("soften_kl_penalty", soften_kl_penalty,
               {.help = "factor of algorithm.kl_coefficient, which asynchronous gradients exclude, "
                        "while learning is softened",
                .min = 1});
  visitor.Knob("soften_updates", soften_updates,
               {.help = "healthy updates in a row after which softening ends; 0: never soften",
                .unit = "updates",
                .min = 0,
                .max = kMostUpdates});
  visitor.Knob(
      "probation_updates", probation_updates,
      {.help = "updates after a rollback with a lower learning rate and without checkpoints",
       .unit = "updates",
       .min = 1,
       .max = kMostUpdates});
  visitor.Knob("probation_rate", probation_rate,
               {.help = "factor of the learning rate in these", .min = 0, .max = 1});
  visitor.Knob("max_rollbacks", max_rollbacks,
               {.help = "rollbacks in a row before training ends with exit code 79",
                .unit = "rollbacks",
                .min = 0,
                .max = kMostUpdates});
  visitor.Knob("settled_updates", settled_updates,
               {.help = "updates without a rollback after which earlier ones do not count any more",
                .unit = "updates",
                .min = 1,
                .max = kMostUpdates});
}

const char* ToString(Symptom symptom) {
  switch (symptom) {
    case Symptom::kNotFinite:
      return "not_finite";
    case Symptom::kGradientNorm:
      return "gradient_norm";
    case Symptom::kKl:
      return "kl";
    case Symptom::kClipFraction:
      return "clip_fraction";
    case Symptom::kEntropy:
      return "entropy";
    case Symptom::kEffectiveSampleSize:
      return "effective_sample_size";
    case Symptom::kExplainedVariance:
      return "explained_variance";
    case Symptom::kReturn:
      return "return";
    case Symptom::kEvaluationReturn:
      return "evaluation_return";
    case Symptom::kDivergence:
      return "divergence";
    case Symptom::kLostEpisodes:
      return "lost_episodes";
    case Symptom::kLogProbabilityDrift:
      return "log_probability_drift";
  }
  return "unknown";
}

const char* ToString(BreakerAction action) {
  switch (action) {
    case BreakerAction::kGoOn:
      return "go_on";
    case BreakerAction::kSkip:
      return "skip";
    case BreakerAction::kRollBack:
      return "roll_back";
    case BreakerAction::kEnd:
      return "end";
  }
  return "unknown";
}

bool IsOfReturns(Symptom symptom) {
  return symptom == Symptom::kReturn || symptom == Symptom::kEvaluationReturn ||
         symptom == Symptom::kDivergence;
}

void CircuitBreaker::Course::Follow(bool shows, std::int64_t number, std::int64_t patience) {
  if (!shows) {
    count = std::max<std::int64_t>(count - 1, 0);
    ++quiet;
    last_healthy = number;
    return;
  }
  ++count;
  if (!healthy_before || quiet >= patience) healthy_before = last_healthy.value_or(number);
  quiet = 0;
}

void CircuitBreaker::Baseline::Add(double value, std::int64_t window) {
  values_.push_back(value);
  if (static_cast<std::int64_t>(values_.size()) > window) values_.pop_front();
}

std::optional<double> CircuitBreaker::Baseline::DeviationsOf(double value,
                                                             std::int64_t window) const {
  if (kLeastShareOfWindow * static_cast<std::int64_t>(values_.size()) < window) return std::nullopt;
  std::vector<double> values(values_.begin(), values_.end());
  const double median = runtime::Median(values);
  for (double& apart : values) apart = std::abs(apart - median);
  const double deviation =
      std::max(runtime::Median(std::move(values)), kLeastDeviation * std::abs(median));
  if (deviation == 0) return std::nullopt;
  return (value - median) / deviation;
}

std::optional<Symptom> CircuitBreaker::SuddenSymptom(const UpdateVitals& vitals) const {
  if (!vitals.finite) return Symptom::kNotFinite;
  if (options_.max_kl > 0 && vitals.approximate_kl > options_.max_kl) return Symptom::kKl;
  if (options_.gradient_norm_deviations == 0) return std::nullopt;
  const auto above = gradient_norms_.DeviationsOf(vitals.gradient_norm, options_.window);
  if (above && *above > options_.gradient_norm_deviations) return Symptom::kGradientNorm;
  return std::nullopt;
}

bool CircuitBreaker::CanTell(Symptom symptom, const UpdateVitals& vitals) const {
  switch (symptom) {
    case Symptom::kReturn:
      return options_.return_deviations > 0 && vitals.episodes > 0;
    case Symptom::kEvaluationReturn:
      return options_.evaluation_deviations > 0 && vitals.evaluations > 0;
    case Symptom::kDivergence:
      return options_.divergence_deviations > 0 && vitals.evaluations > 0 && trained_episodes_ > 0;
    case Symptom::kLostEpisodes:
      return vitals.episodes + vitals.lost_episodes > 0;
    case Symptom::kLogProbabilityDrift:
      return options_.max_log_probability_drift > 0 && vitals.current_rows > 0;
    default:
      return true;
  }
}

void CircuitBreaker::ForgetTrained() {
  trained_episodes_ = 0;
  trained_return_sum_ = 0;
}

std::int64_t CircuitBreaker::PatienceWith(Symptom symptom) const {
  if (symptom == Symptom::kEvaluationReturn) return options_.evaluation_patience;
  return symptom == Symptom::kDivergence ? options_.divergence_patience : options_.patience;
}

bool CircuitBreaker::Shows(Symptom symptom, const UpdateVitals& vitals) const {
  switch (symptom) {
    case Symptom::kClipFraction:
      return vitals.clip_fraction > options_.max_clip_fraction;
    case Symptom::kEntropy:
      return vitals.entropy < options_.min_entropy;
    case Symptom::kEffectiveSampleSize:
      return vitals.effective_sample_size < options_.min_effective_sample_size;
    case Symptom::kExplainedVariance:
      return vitals.explained_variance < options_.min_explained_variance;
    case Symptom::kReturn: {
      const auto above = returns_.DeviationsOf(vitals.episode_return, options_.window);
      return above && *above < -options_.return_deviations;
    }
    case Symptom::kEvaluationReturn: {
      const auto above =
          evaluation_returns_.DeviationsOf(vitals.evaluation_return, options_.evaluation_window);
      return above && *above < -options_.evaluation_deviations;
    }
    case Symptom::kDivergence: {
      const double limit = -options_.divergence_deviations;
      const auto evaluated =
          evaluation_returns_.DeviationsOf(vitals.evaluation_return, options_.evaluation_window);
      const auto trained =
          trained_returns_.DeviationsOf(TrainedReturn(), options_.evaluation_window);
      return evaluated && trained && *evaluated < limit && *trained >= limit;
    }
    case Symptom::kLostEpisodes: {
      const auto lost = static_cast<double>(vitals.lost_episodes);
      return lost > options_.max_lost_episodes * (lost + static_cast<double>(vitals.episodes));
    }
    case Symptom::kLogProbabilityDrift:
      return vitals.log_probability_drift > options_.max_log_probability_drift;
    default:
      return false;
  }
}

Verdict CircuitBreaker::Judge(const UpdateVitals& vitals) {
  SHOAL_CHECK(state_ != BreakerState::kOpen);
  ++judged_updates_;
  if (const auto sudden = SuddenSymptom(vitals)) return Undo(*sudden, vitals.begins_with);
  skips_in_a_row_ = 0;
  sudden_.Follow(false, vitals.begins_with, options_.patience);
  trained_episodes_ += vitals.episodes;
  trained_return_sum_ += static_cast<double>(vitals.episodes) * vitals.episode_return;
  for (const Symptom symptom : kLasting) {
    if (!CanTell(symptom, vitals)) continue;
    Course& course = lasting_[IndexOf(symptom)];
    course.Follow(Shows(symptom, vitals), vitals.begins_with, PatienceWith(symptom));
    if (course.count >= PatienceWith(symptom)) return RollBack(symptom, course);
  }
  Accept(vitals);
  return FollowSoftening();
}

Verdict CircuitBreaker::Undo(Symptom symptom, std::int64_t number) {
  // It changes nothing, so the parameters that it began with are those before the symptom.
  sudden_.last_healthy = number;
  sudden_.Follow(true, number, options_.patience);
  calm_updates_ = 0;
  ++skips_in_a_row_;
  undone_.push_back(judged_updates_);
  const bool softened = state_ == BreakerState::kSoftened;
  if (!softened) {
    std::erase_if(undone_, [this](std::int64_t update) {
      return update <= judged_updates_ - options_.window;
    });
  }
  const auto undone = static_cast<std::int64_t>(undone_.size());
  if (skips_in_a_row_ >= options_.max_skips || (softened && undone >= options_.max_skips)) {
    return RollBack(symptom, sudden_);
  }
  return {BreakerAction::kSkip, symptom, undone >= options_.soften_skips && Soften()};
}

bool CircuitBreaker::Soften() {
  if (state_ != BreakerState::kClosed || options_.soften_updates == 0) return false;
  state_ = BreakerState::kSoftened;
  calm_updates_ = 0;
  undone_.clear();
  return true;
}

Verdict CircuitBreaker::FollowSoftening() {
  if (state_ == BreakerState::kSoftened) {
    calm_updates_ = AnyCounts() ? 0 : calm_updates_ + 1;
    if (calm_updates_ < options_.soften_updates) return {};
    state_ = BreakerState::kClosed;
    undone_.clear();
    return {};
  }
  for (const Symptom symptom : kLasting) {
    if (2 * CountOf(symptom) < PatienceWith(symptom)) continue;
    if (Soften()) return {BreakerAction::kGoOn, symptom, true};
  }
  return {};
}

void CircuitBreaker::Accept(const UpdateVitals& vitals) {
  ++accepted_updates_;
  if (state_ == BreakerState::kHalfOpen && accepted_updates_ >= options_.probation_updates) {
    state_ = BreakerState::kClosed;
  }
  if (accepted_updates_ >= options_.settled_updates) rollbacks_in_a_row_ = 0;
  gradient_norms_.Add(vitals.gradient_norm, options_.window);
  if (vitals.episodes > 0 && CountOf(Symptom::kReturn) == 0) {
    returns_.Add(vitals.episode_return, options_.window);
  }
  if (vitals.evaluations == 0) return;
  if (CountOf(Symptom::kEvaluationReturn) == 0 && CountOf(Symptom::kDivergence) == 0) {
    evaluation_returns_.Add(vitals.evaluation_return, options_.evaluation_window);
    if (trained_episodes_ > 0) trained_returns_.Add(TrainedReturn(), options_.evaluation_window);
  }
  ForgetTrained();
}

Verdict CircuitBreaker::RollBack(Symptom symptom, const Course& course) {
  if (rollbacks_in_a_row_ >= options_.max_rollbacks) return {BreakerAction::kEnd, symptom};
  ++rollbacks_in_a_row_;
  state_ = BreakerState::kOpen;
  return {.action = BreakerAction::kRollBack,
          .symptom = symptom,
          .healthy_number = *course.healthy_before};
}

void CircuitBreaker::RolledBack() {
  SHOAL_CHECK(state_ == BreakerState::kOpen);
  state_ = BreakerState::kHalfOpen;
  gradient_norms_.Clear();
  lasting_.fill({});
  sudden_ = {};
  ForgetTrained();
  skips_in_a_row_ = 0;
  undone_.clear();
  accepted_updates_ = 0;
}

std::int64_t CircuitBreaker::CountOf(Symptom symptom) const {
  return lasting_[IndexOf(symptom)].count;
}

bool CircuitBreaker::AnyCounts() const {
  return std::any_of(lasting_.begin(), lasting_.end(),
                     [](const Course& course) { return course.count > 0; });
}

bool CircuitBreaker::healthy() const { return state_ == BreakerState::kClosed && healthy_at_end(); }

bool CircuitBreaker::healthy_at_end() const {
  const bool proven = state_ == BreakerState::kClosed || state_ == BreakerState::kSoftened;
  return proven && skips_in_a_row_ == 0 && !AnyCounts();
}

double CircuitBreaker::rate_factor() const {
  if (state_ == BreakerState::kSoftened) return options_.soften_rate;
  return state_ == BreakerState::kHalfOpen ? options_.probation_rate : 1;
}

}  // namespace shoal::learner
