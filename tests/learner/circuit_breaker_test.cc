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
    const bool lasts = !history_.back().undone && EntropyLasts();
    if (undone == 0 && !lasts) {
      if (Accepted() >= options_.settled_updates) rollbacks_ = 0;
      return Action::kGoOn;
    }
    if (undone > 0 && undone < options_.max_skips) return Action::kSkip;
    history_.clear();
    if (rollbacks_ == options_.max_rollbacks) return Action::kEnd;
    ++rollbacks_;
    probation_ = true;
    return Action::kRollBack;
  }

  bool InProbation() const { return probation_ && Accepted() < options_.probation_updates; }

 private:
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

  bool EntropyLasts() const {
    std::int64_t count = 0;
    for (const Judged& one : history_) {
      if (one.undone) continue;
      count += one.vitals.entropy < options_.min_entropy ? 1 : (count > 0 ? -1 : 0);
    }
    return count >= options_.patience;
  }

  const CircuitBreakerOptions options_;
  std::vector<Judged> history_;
  std::int64_t rollbacks_ = 0;
  bool probation_ = false;
};

}  // namespace

TEST_CASE("any sequence of updates gets the verdicts of a model that remembers everything") {
  CircuitBreakerOptions options = Quick();
  options.min_entropy = 0.5;
  std::vector<int> seen(4);
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
      REQUIRE(verdict.symptom.has_value() == (verdict.action != Action::kGoOn));
      ++seen.at(static_cast<std::size_t>(verdict.action));
      if (verdict.action == Action::kEnd) break;
      REQUIRE((breaker.state() == State::kOpen) == (verdict.action == Action::kRollBack));
      if (verdict.action == Action::kRollBack) breaker.RolledBack();
      REQUIRE((breaker.state() == State::kHalfOpen) == model.InProbation());
    }
  }
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
    Pass(breaker, 1);
  }
  REQUIRE(breaker.rate_factor() == 1);
  REQUIRE(breaker.healthy());
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
