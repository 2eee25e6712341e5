// SPDX-License-Identifier: Apache-2.0
#include "learner/circuit_breaker.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <vector>

namespace shoal::learner {
namespace {

using Action = BreakerAction;
using State = BreakerState;

UpdateVitals Healthy(double gradient_norm = 1) {
  return {.gradient_norm = gradient_norm, .approximate_kl = 0.01, .entropy = 1};
}

CircuitBreakerOptions Quick() {
  return {.max_skips = 3,
          .gradient_norm_deviations = 10,
          .max_kl = 1,
          .patience = 4,
          .window = 10,
          .soften_skips = 2,
          .soften_updates = 6,
          .probation_updates = 5,
          .max_rollbacks = 2,
          .settled_updates = 20};
}

void Pass(CircuitBreaker& breaker, int updates) {
  for (int i = 0; i < updates; ++i) REQUIRE(breaker.Judge(Healthy()).action == Action::kGoOn);
}

// What the manual page says, once more and in another way: it keeps the whole history since the
// last rollback and decides from that alone.
class Model {
 public:
  explicit Model(const CircuitBreakerOptions& options) : options_(options) {}

  Action Judge(const UpdateVitals& vitals) {
    history_.push_back({vitals, Sudden(vitals)});
    std::int64_t undone = 0;
    for (auto one = history_.rbegin(); one != history_.rend() && one->undone; ++one) ++undone;
    if (softened_from_ > 0) {
      undone = std::max(undone, history_.back().undone ? UndoneSince(softened_from_) : 0);
    }
    const std::int64_t low = EntropyCount(history_.size());
    const bool lasts = !history_.back().undone && low >= options_.patience;
    if (undone == 0 && !lasts) {
      if (Accepted() >= options_.settled_updates) rollbacks_ = 0;
      if (softened_from_ > 0 && IsCalm()) {
        softened_from_ = 0;
        undone_count_from_ = history_.size();
      } else if (2 * low >= options_.patience) {
        Soften();
      }
      return Action::kGoOn;
    }
    if (undone > 0 && undone < options_.max_skips) {
      const std::size_t window = static_cast<std::size_t>(options_.window);
      const std::size_t from = history_.size() > window ? history_.size() - window : 0;
      if (UndoneSince(std::max(from, undone_count_from_)) >= options_.soften_skips) Soften();
      return Action::kSkip;
    }
    history_.clear();
    softened_from_ = undone_count_from_ = 0;
    if (rollbacks_ == options_.max_rollbacks) return Action::kEnd;
    ++rollbacks_;
    probation_ = true;
    return Action::kRollBack;
  }

  bool InProbation() const { return probation_ && Accepted() < options_.probation_updates; }
  bool IsSoftened() const { return softened_from_ > 0; }

 private:
  void Soften() {
    if (softened_from_ == 0 && !InProbation()) softened_from_ = history_.size();
  }

  std::int64_t UndoneSince(std::size_t begin) const {
    return std::count_if(history_.begin() + static_cast<std::ptrdiff_t>(begin), history_.end(),
                         [](const Judged& one) { return one.undone; });
  }

  // Whether the last updates, all since it was softened, were healthy.
  bool IsCalm() const {
    const auto updates = static_cast<std::size_t>(options_.soften_updates);
    if (history_.size() - softened_from_ < updates) return false;
    for (std::size_t size = history_.size(); size > history_.size() - updates; --size) {
      if (history_[size - 1].undone || EntropyCount(size) > 0) return false;
    }
    return true;
  }

  struct Judged {
    UpdateVitals vitals;
    bool undone = false;
  };

  std::int64_t Accepted() const {
    return std::count_if(history_.begin(), history_.end(),
                         [](const Judged& one) { return !one.undone; });
  }

  bool Sudden(const UpdateVitals& vitals) const {
    if (!vitals.finite || vitals.approximate_kl > options_.max_kl) return true;
    std::vector<double> norms;
    for (const Judged& one : history_) {
      if (!one.undone) norms.push_back(one.vitals.gradient_norm);
    }
    const auto window = static_cast<std::size_t>(options_.window);
    if (norms.size() > window) norms.erase(norms.begin(), norms.end() - options_.window);
    if (5 * norms.size() < window) return false;
    const auto median = [](std::vector<double> values) {
      std::sort(values.begin(), values.end());
      return (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
    };
    const double middle = median(norms);
    for (double& norm : norms) norm = std::abs(norm - middle);
    const double scale = std::max(median(norms), middle / 10);
    return vitals.gradient_norm > middle + options_.gradient_norm_deviations * scale;
  }

  // The count of a low entropy after so many updates.
  std::int64_t EntropyCount(std::size_t updates) const {
    std::int64_t count = 0;
    for (std::size_t i = 0; i < updates; ++i) {
      if (history_[i].undone) continue;
      count += history_[i].vitals.entropy < options_.min_entropy ? 1 : (count > 0 ? -1 : 0);
    }
    return count;
  }

  const CircuitBreakerOptions options_;
  std::vector<Judged> history_;
  std::int64_t rollbacks_ = 0;
  bool probation_ = false;
  // After how many updates of the history it was softened; 0 while it is not.
  std::size_t softened_from_ = 0;
  // From where undone updates count towards softening.
  std::size_t undone_count_from_ = 0;
};

}  // namespace

TEST_CASE("any sequence of updates gets the verdicts of a model that remembers everything") {
  CircuitBreakerOptions options = Quick();
  options.min_entropy = 0.5;
  std::vector<int> seen(4);
  int softened = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> chance;
    const double trouble = chance(random) * 0.6;
    CircuitBreaker breaker(options);
    Model model(options);
    for (int update = 0; update < 300; ++update) {
      UpdateVitals vitals = Healthy(std::exp(chance(random)));
      if (chance(random) < trouble) {
        vitals.finite = chance(random) < 0.7;
        vitals.approximate_kl = chance(random) < 0.1 ? 2 : 0;
        if (chance(random) < 0.3) vitals.gradient_norm *= 30 * chance(random);
        vitals.entropy = chance(random);
      }
      const Verdict verdict = breaker.Judge(vitals);
      INFO("seed " << seed << " update " << update);
      REQUIRE(verdict.action == model.Judge(vitals));
      REQUIRE(verdict.symptom.has_value() == (verdict.action != Action::kGoOn || verdict.softens));
      softened += verdict.softens ? 1 : 0;
      ++seen.at(static_cast<std::size_t>(verdict.action));
      if (verdict.action == Action::kEnd) break;
      REQUIRE((breaker.state() == State::kOpen) == (verdict.action == Action::kRollBack));
      if (verdict.action == Action::kRollBack) breaker.RolledBack();
      REQUIRE((breaker.state() == State::kHalfOpen) == model.InProbation());
      REQUIRE((breaker.state() == State::kSoftened) == model.IsSoftened());
    }
  }
  REQUIRE(softened > 20);
  for (const int times : seen) REQUIRE(times > 20);
}

TEST_CASE("with the defaults nothing but broken numbers, a KL of 5 and huge gradients is undone") {
  CircuitBreaker breaker{CircuitBreakerOptions()};
  std::mt19937 random(1);
  std::lognormal_distribution<double> norm(0, 1);
  for (int update = 0; update < 5000; ++update) {
    UpdateVitals vitals = Healthy(norm(random));
    vitals.approximate_kl = 4.9;
    vitals.clip_fraction = 0.9;
    vitals.entropy = -30;
    vitals.effective_sample_size = 1e-3;
    vitals.explained_variance = -100;
    vitals.episodes = 1;
    vitals.episode_return = update < 2500 ? 500 : -500;
    vitals.evaluations = 1;
    vitals.evaluation_return = vitals.episode_return;
    vitals.lost_episodes = 1000;
    vitals.current_rows = 100;
    vitals.log_probability_drift = 10;
    REQUIRE(breaker.Judge(vitals).action == Action::kGoOn);
    REQUIRE(breaker.healthy());
  }
  REQUIRE(breaker.Judge({.finite = false}).symptom == Symptom::kNotFinite);
  REQUIRE(breaker.Judge({.approximate_kl = 5.1}).symptom == Symptom::kKl);
  REQUIRE(breaker.Judge(Healthy(1e5)).symptom == Symptom::kGradientNorm);
}

TEST_CASE("an update that was undone is no checkpoint, and the next healthy one is") {
  CircuitBreaker breaker(Quick());
  Pass(breaker, 3);
  REQUIRE(breaker.Judge({.finite = false}).action == Action::kSkip);
  REQUIRE_FALSE(breaker.healthy());
  REQUIRE_FALSE(breaker.healthy_at_end());
  Pass(breaker, 1);
  REQUIRE(breaker.healthy());
}

TEST_CASE("in probation the learning rate is scaled and no checkpoint is written") {
  CircuitBreakerOptions options = Quick();
  options.probation_rate = 0.25;
  CircuitBreaker breaker(options);
  REQUIRE(breaker.rate_factor() == 1);
  for (int i = 0; i < 3; ++i) breaker.Judge({.finite = false});
  REQUIRE(breaker.state() == State::kOpen);
  breaker.RolledBack();
  for (std::int64_t update = 0; update < options.probation_updates; ++update) {
    REQUIRE(breaker.rate_factor() == 0.25);
    REQUIRE_FALSE(breaker.healthy());
    REQUIRE_FALSE(breaker.healthy_at_end());
    Pass(breaker, 1);
  }
  REQUIRE(breaker.rate_factor() == 1);
  REQUIRE(breaker.healthy());
}

TEST_CASE("a lasting symptom softens at half its patience, until none has counted for a while") {
  CircuitBreakerOptions options = Quick();
  options.min_entropy = 0.5;
  options.soften_rate = 0.25;
  options.soften_kl_penalty = 3;
  CircuitBreaker breaker(options);
  UpdateVitals certain = Healthy();
  certain.entropy = 0.1;
  REQUIRE_FALSE(breaker.Judge(certain).softens);
  REQUIRE(breaker.rate_factor() == 1);
  const Verdict verdict = breaker.Judge(certain);
  REQUIRE(verdict.action == Action::kGoOn);
  REQUIRE(verdict.softens);
  REQUIRE(verdict.symptom == Symptom::kEntropy);
  // Two until nothing counts, of which the second is the first of the calm.
  for (std::int64_t update = 0; update <= options.soften_updates; ++update) {
    REQUIRE(breaker.rate_factor() == 0.25);
    REQUIRE(breaker.kl_factor() == 3);
    REQUIRE_FALSE(breaker.healthy());
    REQUIRE(breaker.healthy_at_end() == (update >= 2));
    const Verdict next = breaker.Judge(Healthy());
    REQUIRE_FALSE(next.softens);
    REQUIRE_FALSE(next.symptom);
  }
  REQUIRE(breaker.state() == State::kClosed);
  REQUIRE(breaker.rate_factor() == 1);
  REQUIRE(breaker.kl_factor() == 1);
  REQUIRE(breaker.healthy());
  for (int i = 0; i < 3; ++i) REQUIRE(breaker.Judge(certain).action == Action::kGoOn);
  REQUIRE(breaker.state() == State::kSoftened);
  REQUIRE(breaker.Judge(certain).action == Action::kRollBack);
  breaker.RolledBack();
  REQUIRE(breaker.rate_factor() == options.probation_rate);
  REQUIRE(breaker.kl_factor() == 1);
}

TEST_CASE("updates that are undone now and then soften, and then lead to a rollback") {
  CircuitBreakerOptions options = Quick();
  const auto undo = [](CircuitBreaker& breaker) { return breaker.Judge({.finite = false}); };
  CircuitBreaker breaker(options);
  // Further apart than a window.
  for (int i = 0; i < 5; ++i) {
    REQUIRE_FALSE(undo(breaker).softens);
    Pass(breaker, static_cast<int>(options.window) - 1);
  }
  REQUIRE_FALSE(undo(breaker).softens);
  Pass(breaker, static_cast<int>(options.window) - 2);
  REQUIRE(undo(breaker).softens);
  REQUIRE(breaker.state() == State::kSoftened);
  for (std::int64_t i = 1; i < options.max_skips; ++i) {
    Pass(breaker, static_cast<int>(options.soften_updates) - 1);
    REQUIRE(undo(breaker).action == Action::kSkip);
  }
  Pass(breaker, static_cast<int>(options.soften_updates) - 1);
  REQUIRE(undo(breaker).action == Action::kRollBack);

  options.soften_updates = 0;
  CircuitBreaker hard(options);
  for (int i = 0; i < 20; ++i) {
    REQUIRE_FALSE(undo(hard).softens);
    REQUIRE(undo(hard).action == Action::kSkip);
    Pass(hard, 1);
  }
  REQUIRE(hard.rate_factor() == 1);
}

TEST_CASE("a rollback says which parameters did not show the symptom yet") {
  CircuitBreakerOptions options = Quick();
  options.min_entropy = 0.5;
  options.evaluation_deviations = 3;
  CircuitBreaker breaker(options);
  std::int64_t number = 100;
  const auto judge = [&](UpdateVitals vitals) {
    vitals.begins_with = number;
    const Verdict verdict = breaker.Judge(vitals);
    if (verdict.action == Action::kGoOn) ++number;
    return verdict;
  };
  UpdateVitals shows = Healthy();
  std::int64_t expected = 0;
  SECTION("a lasting symptom that goes and comes again within its patience") {
    shows.entropy = 0.1;
    for (int i = 0; i < 10; ++i) judge(Healthy());
    // Nothing counts in between, so a checkpoint may be written.
    expected = number - 1;
    judge(shows);
    for (int i = 0; i < 3; ++i) judge(Healthy());
  }
  SECTION("a lasting symptom that comes again later") {
    shows.entropy = 0.1;
    judge(shows);
    for (int i = 0; i < 4; ++i) judge(Healthy());
    expected = number - 1;
  }
  SECTION("a lasting symptom from the start") {
    shows.entropy = 0.1;
    expected = number;
  }
  SECTION("a sudden symptom, which an update came between") {
    shows.finite = false;
    judge(Healthy());
    expected = number;
    judge(shows);
    judge(Healthy());
  }
  SECTION("evaluations, of which the last good one came some updates before") {
    UpdateVitals good = Healthy();
    good.evaluations = 1;
    good.evaluation_return = 100;
    for (int i = 0; i < 5; ++i) judge(good);
    expected = number - 1;
    for (int i = 0; i < 7; ++i) judge(Healthy());
    shows.evaluations = 1;
  }
  Verdict verdict;
  for (int i = 0; i < 4 && verdict.action != Action::kRollBack; ++i) verdict = judge(shows);
  REQUIRE(verdict.action == Action::kRollBack);
  REQUIRE(verdict.healthy_number == expected);
  REQUIRE(expected > 0);
}

TEST_CASE("a gradient norm that is lastingly higher costs one rollback and is accepted then") {
  CircuitBreaker breaker(Quick());
  Pass(breaker, 10);
  REQUIRE(breaker.Judge(Healthy(100)).action == Action::kSkip);
  REQUIRE(breaker.Judge(Healthy(100)).action == Action::kSkip);
  REQUIRE(breaker.Judge(Healthy(100)).action == Action::kRollBack);
  breaker.RolledBack();
  for (int i = 0; i < 50; ++i) REQUIRE(breaker.Judge(Healthy(100)).action == Action::kGoOn);
}

TEST_CASE("gradients that were all zero say nothing about the first that is not") {
  CircuitBreaker breaker(Quick());
  for (int i = 0; i < 10; ++i) breaker.Judge(Healthy(0));
  REQUIRE(breaker.Judge(Healthy(3)).action == Action::kGoOn);
}

TEST_CASE("each lasting symptom needs patience, and blocks checkpoints until it is gone") {
  struct Case {
    Symptom symptom;
    UpdateVitals vitals;
  };
  UpdateVitals clipped = Healthy();
  clipped.clip_fraction = 0.6;
  UpdateVitals certain = Healthy();
  certain.entropy = 0.05;
  UpdateVitals few = Healthy();
  few.effective_sample_size = 0.01;
  UpdateVitals unexplained = Healthy();
  unexplained.explained_variance = -2;
  UpdateVitals failing = Healthy();
  failing.episodes = 1;
  failing.episode_return = 100;
  UpdateVitals judged_worse = Healthy();
  judged_worse.evaluations = 1;
  judged_worse.evaluation_return = 100;
  UpdateVitals lost = Healthy();
  lost.episodes = 1;
  lost.episode_return = 500;
  lost.lost_episodes = 1;
  UpdateVitals drifting = Healthy();
  drifting.current_rows = 1;
  drifting.log_probability_drift = 0.2;
  CircuitBreakerOptions options = Quick();
  options.soften_updates = 0;
  options.evaluation_deviations = 3;
  options.evaluation_patience = options.patience;
  options.max_lost_episodes = 0.4;
  options.max_log_probability_drift = 0.1;
  options.max_clip_fraction = 0.5;
  options.min_entropy = 0.1;
  options.min_effective_sample_size = 0.1;
  options.min_explained_variance = -1;
  options.return_deviations = 3;
  for (const auto& [symptom, vitals] :
       {Case{Symptom::kClipFraction, clipped}, Case{Symptom::kEntropy, certain},
        Case{Symptom::kEffectiveSampleSize, few}, Case{Symptom::kExplainedVariance, unexplained},
        Case{Symptom::kReturn, failing}, Case{Symptom::kEvaluationReturn, judged_worse},
        Case{Symptom::kLostEpisodes, lost}, Case{Symptom::kLogProbabilityDrift, drifting}}) {
    CircuitBreaker breaker(options);
    UpdateVitals well = Healthy();
    well.episodes = 2;
    well.episode_return = 500;
    well.lost_episodes = 1;
    well.evaluations = 1;
    well.evaluation_return = 500;
    well.current_rows = 1;
    well.log_probability_drift = 0.05;
    for (int i = 0; i < 10; ++i) REQUIRE(breaker.Judge(well).action == Action::kGoOn);
    // Three that show it and two that do not, so that one is left.
    for (int i = 0; i < 3; ++i) REQUIRE(breaker.Judge(vitals).action == Action::kGoOn);
    for (int i = 0; i < 2; ++i) REQUIRE(breaker.Judge(well).action == Action::kGoOn);
    REQUIRE_FALSE(breaker.healthy());
    REQUIRE(breaker.Judge(well).action == Action::kGoOn);
    REQUIRE(breaker.healthy());
    for (int i = 0; i < 3; ++i) REQUIRE(breaker.Judge(vitals).action == Action::kGoOn);
    const Verdict verdict = breaker.Judge(vitals);
    REQUIRE(verdict.action == Action::kRollBack);
    REQUIRE(verdict.symptom == symptom);
  }
}

TEST_CASE("evaluations that fall while training returns as much or more are a symptom of its own") {
  CircuitBreakerOptions options = Quick();
  options.divergence_deviations = 2;
  options.divergence_patience = 3;
  CircuitBreaker breaker(options);
  // Three updates with episodes come between evaluations, and one without any.
  const auto evaluate = [&breaker](double trained, double evaluated) {
    UpdateVitals vitals = Healthy();
    Verdict verdict;
    for (std::int64_t episodes = 0; episodes <= 3; ++episodes) {
      vitals.episodes = episodes;
      vitals.episode_return = episodes == 0 ? 1e6 : trained;
      vitals.evaluations = episodes == 3 ? 1 : 0;
      vitals.evaluation_return = evaluated;
      verdict = breaker.Judge(vitals);
      if (episodes < 3) REQUIRE_FALSE(verdict.symptom);
    }
    return verdict;
  };
  const auto fails = [&](double trained) {
    for (int i = 1; i < 3; ++i) REQUIRE(evaluate(trained, 50).action == Action::kGoOn);
    const Verdict verdict = evaluate(trained, 50);
    REQUIRE(verdict.action == Action::kRollBack);
    REQUIRE(verdict.symptom == Symptom::kDivergence);
  };
  for (int i = 0; i < 10; ++i) REQUIRE_FALSE(evaluate(100, 100).symptom);
  // Both fall, which is no divergence, and neither is an evaluation within the limit.
  for (int i = 0; i < 3; ++i) REQUIRE_FALSE(evaluate(50, 81).symptom);
  SECTION("training holds") { fails(100); }
  SECTION("training rises") { fails(200); }
  SECTION("training falls too") {
    for (int i = 0; i < 20; ++i) REQUIRE(evaluate(-100, 50).action == Action::kGoOn);
  }
  SECTION("evaluations recover in between") {
    for (int i = 0; i < 10; ++i) {
      REQUIRE(evaluate(100, 50).action == Action::kGoOn);
      REQUIRE(evaluate(100, 100).action == Action::kGoOn);
    }
  }
  SECTION("the measure stays what it was, also after a rollback") {
    fails(100);
    breaker.RolledBack();
    fails(100);
  }
  SECTION("without episodes in between nothing is told") {
    UpdateVitals vitals = Healthy();
    vitals.evaluations = 1;
    vitals.evaluation_return = 50;
    for (int i = 0; i < 20; ++i) REQUIRE_FALSE(breaker.Judge(vitals).symptom);
  }
}

TEST_CASE("updates that can tell nothing of a symptom neither add to it nor take from it") {
  CircuitBreakerOptions options = Quick();
  options.return_deviations = 3;
  options.evaluation_deviations = 3;
  options.max_lost_episodes = 0.5;
  options.max_log_probability_drift = 0.1;
  UpdateVitals well = Healthy();
  well.episodes = 1;
  well.episode_return = 10;
  well.evaluations = 1;
  well.evaluation_return = 10;
  UpdateVitals failing = well;
  int patience = 4;
  SECTION("returns of episodes") { failing.episode_return = 0; }
  SECTION("returns of evaluations") {
    failing.evaluation_return = 0;
    patience = 2;
  }
  SECTION("lost episodes") { failing.lost_episodes = 2; }
  SECTION("log-probabilities") {
    failing.current_rows = 1;
    failing.log_probability_drift = 1;
  }
  CircuitBreaker breaker(options);
  for (int i = 0; i < 10; ++i) breaker.Judge(well);
  for (int i = 1; i < patience; ++i) REQUIRE(breaker.Judge(failing).action == Action::kGoOn);
  Pass(breaker, 10);
  REQUIRE(breaker.Judge(failing).action == Action::kRollBack);
}

TEST_CASE("returns that stay low after rollbacks are not the new measure, and end training") {
  CircuitBreakerOptions options = Quick();
  options.return_deviations = 3;
  options.evaluation_deviations = 3;
  UpdateVitals well = Healthy();
  well.episodes = 1;
  well.episode_return = 10;
  well.evaluations = 1;
  well.evaluation_return = 10;
  UpdateVitals failing = well;
  SECTION("of episodes") { failing.episode_return = -10; }
  SECTION("of evaluations") { failing.evaluation_return = -10; }
  CircuitBreaker breaker(options);
  for (int i = 0; i < 10; ++i) breaker.Judge(well);
  std::int64_t rollbacks = 0;
  Action last = Action::kGoOn;
  for (int i = 0; i < 100 && last != Action::kEnd; ++i) {
    last = breaker.Judge(failing).action;
    if (last != Action::kRollBack) continue;
    ++rollbacks;
    breaker.RolledBack();
  }
  REQUIRE(last == Action::kEnd);
  REQUIRE(rollbacks == options.max_rollbacks);
}

TEST_CASE("rollbacks without enough updates between them come to an end") {
  CircuitBreakerOptions options = Quick();
  const auto fail = [&options](CircuitBreaker& breaker) {
    Action last = Action::kGoOn;
    for (std::int64_t i = 0; i < options.max_skips; ++i) {
      last = breaker.Judge({.finite = false}).action;
    }
    if (last == Action::kRollBack) breaker.RolledBack();
    return last;
  };
  CircuitBreaker breaker(options);
  for (int i = 0; i < 5; ++i) {
    REQUIRE(fail(breaker) == Action::kRollBack);
    Pass(breaker, static_cast<int>(options.settled_updates));
  }
  REQUIRE(fail(breaker) == Action::kRollBack);
  Pass(breaker, static_cast<int>(options.settled_updates) - 1);
  REQUIRE(fail(breaker) == Action::kRollBack);
  REQUIRE(fail(breaker) == Action::kEnd);
  options.max_rollbacks = 0;
  CircuitBreaker strict(options);
  REQUIRE(fail(strict) == Action::kEnd);
}

}  // namespace shoal::learner
