// SPDX-License-Identifier: Apache-2.0
#include "learner/cloning/demonstration_table.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "platform/content/canonical_json.h"
#include "platform/runtime/random.h"
#include "rl/algorithms/unroll_batch.h"
#include "rl/demonstrations/demonstration_file.h"
#include "rl/estimators/priorities.h"
#include "tests/doubles/temporary_folder.h"
#include "tests/learner/unrolls/unroll_maker.h"

namespace shoal::learner {
namespace {

constexpr parameters::Version kCurrent{3, 8};

model::PolicySpec RecurrentSpec() {
  model::PolicySpec spec = DiscreteSpec();
  spec.core = "gru";
  spec.core_size = 5;
  return spec;
}

// An episode whose observations count up: row t sees 2t and 2t + 1, and its action earns t.
proto::Demonstration Episode(std::uint64_t number, std::int64_t length) {
  proto::Demonstration demonstration;
  demonstration.set_goal("a task");
  demonstration.set_capture("simulation");
  proto::Unroll& unroll = *demonstration.mutable_unroll();
  unroll = MakeDiscrete(0, length);
  unroll.mutable_id()->set_first_sequence(1000 * number);
  std::vector<float> reward(static_cast<std::size_t>(length));
  std::iota(reward.begin(), reward.end(), 0.0F);
  SetColumn(Column(unroll, "reward"), "reward", proto::FLOAT32, {length}, reward);
  std::vector<std::uint8_t> flags(static_cast<std::size_t>(length) + 1);
  flags[0] = algorithms::kFirst;
  flags[static_cast<std::size_t>(length) - 1] |= algorithms::kTerminated;
  SetColumn(Column(unroll, "flags"), "flags", proto::UINT8, {length + 1}, flags);
  return demonstration;
}

struct Recorded {
  explicit Recorded(const std::vector<std::int64_t>& lengths,
                    const model::PolicySpec& spec = RecurrentSpec()) {
    proto::DemonstrationChunk all;
    proto::DemonstrationHeader& header = *all.mutable_header();
    header.set_canonicaliser_version(std::string(content::kCanonicaliserVersion));
    header.mutable_spec()->mutable_action()->mutable_discrete()->set_count(3);
    header.set_episode_limit(100);
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      *all.add_demonstrations() = Episode(i, lengths[i]);
    }
    const std::string path = folder.At("expert.demos");
    REQUIRE(demonstrations::WriteDemonstrations(path, all).ok());
    auto loaded = DemonstrationSet::Load({.path = path, .encoder = {}, .embedding_cache = {}}, spec,
                                         contents);
    status = loaded.status();
    if (loaded.ok()) set = *std::move(loaded);
  }

  std::unique_ptr<DemonstrationTable> Table(const DemonstrationTableOptions& options) const {
    return DemonstrationTable::Create(options, RecurrentSpec(), *set).value();
  }

  const doubles::TemporaryFolder folder;
  ContentTable contents{ContentTableOptions{}};
  absl::Status status;
  std::unique_ptr<DemonstrationSet> set;
};

// Counts what the table draws, by the first sequence number of each unroll.
std::map<std::uint64_t, double> SharesOf(DemonstrationTable& table, int draws) {
  std::map<std::uint64_t, double> shares;
  for (int i = 0; i < draws; ++i) {
    for (const DecodedUnroll& unroll : table.Draw(i, 10, kCurrent)) {
      shares[unroll.key.id.first_sequence] += 0.1 / draws;
    }
  }
  return shares;
}

}  // namespace

TEST_CASE("demonstrations of discrete actions need no encoder, and fit the policy's actions",
          "[demonstration_table]") {
  const Recorded fits({4});
  REQUIRE(fits.status.ok());
  REQUIRE(fits.set->encoder_version().empty());
  REQUIRE(fits.set->Batch(0, 0, 1).Validate(RecurrentSpec()).ok());
  model::PolicySpec more = RecurrentSpec();
  more.action_count = 4;
  const Recorded differs({4}, more);
  REQUIRE(absl::IsFailedPrecondition(differs.status));
  REQUIRE(runtime::Message(differs.status).find("3 actions, policy.action_count is 4") !=
          std::string::npos);
  const Recorded other({4}, CandidateSpec());
  REQUIRE(absl::IsFailedPrecondition(other.status));
}

TEST_CASE("sequences teach each step of an episode once, and warm the state up before",
          "[demonstration_table]") {
  constexpr std::int64_t kLength = 6;
  constexpr std::int64_t kBurnIn = 2;
  for (std::int64_t rows = 1; rows <= 25; ++rows) {
    const Recorded recorded({rows});
    const DecodedUnroll& episode = recorded.set->unrolls().front();
    std::vector<float> taught;
    std::int64_t last_end = 0;
    for (const DecodedUnroll& part : CutIntoSequences(RecurrentSpec(), episode, kLength, kBurnIn)) {
      REQUIRE(part.length <= kLength);
      REQUIRE(part.core_state == std::vector<float>(5));
      const auto begin = static_cast<std::int64_t>(part.reward.front());
      REQUIRE(begin == std::max<std::int64_t>(0, last_end - kBurnIn));
      REQUIRE(part.observation.size() == static_cast<std::size_t>(2 * (part.length + 1)));
      REQUIRE(part.observation[0] == episode.observation[static_cast<std::size_t>(2 * begin)]);
      for (std::size_t t = 0; t < part.reward.size(); ++t) {
        if (part.weight[t] > 0) taught.push_back(part.reward[t]);
      }
      REQUIRE(part.steps == std::count(part.weight.begin(), part.weight.end(), 1.0F));
      last_end = begin + part.length;
      // Only the end of the episode is an end of a sequence.
      const bool ends =
          (part.flags[static_cast<std::size_t>(part.length - 1)] & algorithms::kTerminated) != 0;
      REQUIRE(ends == (last_end == rows));
    }
    REQUIRE(taught == episode.reward);
  }
}

TEST_CASE("each unroll is a demonstration with the probability of the ratio",
          "[demonstration_table]") {
  const Recorded recorded({4});
  const auto table = recorded.Table({.ratio = 0.25});
  double sum = 0;
  double squares = 0;
  constexpr int kUpdates = 4000;
  for (int update = 0; update < kUpdates; ++update) {
    const auto count = static_cast<double>(table->CountOf(update, 16));
    sum += count;
    squares += count * count;
  }
  // A binomial distribution of 16 draws has mean 4 and variance 3.
  const double mean = sum / kUpdates;
  REQUIRE(mean == Approx(4).margin(0.12));
  REQUIRE(squares / kUpdates - mean * mean == Approx(3).margin(0.3));
  REQUIRE(recorded.Table({.ratio = 1})->CountOf(0, 16) == 16);
  REQUIRE(recorded.Table({.ratio = 0})->CountOf(0, 16) == 0);
  bool differs = false;
  const auto other = recorded.Table({.ratio = 0.25, .rank = 1});
  for (int update = 0; update < 20; ++update) {
    REQUIRE(table->CountOf(update, 16) == table->CountOf(update, 16));
    differs = differs || table->CountOf(update, 16) != other->CountOf(update, 16);
  }
  REQUIRE(differs);
}

TEST_CASE("demonstrations are drawn by the errors that they had, and new ones like the greatest",
          "[demonstration_table]") {
  const Recorded recorded({3, 4, 5});
  const auto table = recorded.Table({.ratio = 1, .priority_exponent = 2});
  auto drawn = table->Draw(0, 12, kCurrent);
  std::vector<float> priorities;
  for (const DecodedUnroll& unroll : drawn) {
    REQUIRE(unroll.probability == Approx(1.0 / 3));
    REQUIRE(unroll.acted == std::vector<parameters::Version>(unroll.acted.size(), kCurrent));
    const std::uint64_t which = unroll.key.id.first_sequence / 1000;
    // The last stays new in effect: its priority is the greatest.
    priorities.push_back(which == 0 ? 1.0F : which == 1 ? 2.0F : 3.0F);
  }
  table->UpdatePriorities(priorities);
  // Squares of 1, 2 and 3.
  const auto shares = SharesOf(*table, 2000);
  REQUIRE(shares.at(0) == Approx(1.0 / 14).margin(0.01));
  REQUIRE(shares.at(1000) == Approx(4.0 / 14).margin(0.015));
  REQUIRE(shares.at(2000) == Approx(9.0 / 14).margin(0.015));
  drawn = table->Draw(1, 1, kCurrent);
  REQUIRE(drawn[0].least_probability == Approx(1.0 / 14));

  // A table that was trained on one sequence alone gives the others its greatest priority.
  const auto fresh = recorded.Table({.ratio = 1, .priority_exponent = 1});
  drawn = fresh->Draw(0, 1, kCurrent);
  const std::uint64_t first = drawn[0].key.id.first_sequence;
  fresh->UpdatePriorities(std::vector<float>{4});
  fresh->Draw(1, 0, kCurrent);
  for (const auto& [which, share] : SharesOf(*fresh, 1000)) {
    INFO(which << " after " << first);
    REQUIRE(share == Approx(1.0 / 3).margin(0.02));
  }
}

TEST_CASE("whatever was trained on, each draw has the probability that all priorities give it",
          "[demonstration_table]") {
  constexpr double kExponent = 0.7;
  const std::vector<std::int64_t> lengths(30, 3);
  const Recorded recorded(lengths);
  const auto table = recorded.Table({.ratio = 1, .priority_exponent = kExponent});
  runtime::Random random(5);
  // By the number of the episode; 0 for a sequence that was not trained on.
  std::vector<double> model(lengths.size());
  double greatest = 1;
  for (std::int64_t update = 0; update < 60; ++update) {
    std::vector<double> priorities = model;
    std::replace(priorities.begin(), priorities.end(), 0.0, greatest);
    const auto expected = estimators::PriorityProbabilities(priorities, kExponent);
    std::vector<float> renewed;
    for (const DecodedUnroll& unroll : table->Draw(update, 1 + random.Below(3), kCurrent)) {
      const std::size_t which = unroll.key.id.first_sequence / 1000;
      REQUIRE(unroll.probability == Approx(expected[which]));
      REQUIRE(unroll.least_probability ==
              Approx(*std::min_element(expected.begin(), expected.end())));
      renewed.push_back(static_cast<float>(random.Below(4)));
      model[which] = std::max<double>(renewed.back(), estimators::kLeastPriority);
      greatest = std::max(greatest, model[which]);
    }
    table->UpdatePriorities(renewed);
  }
  REQUIRE(std::count(model.begin(), model.end(), 0.0) < 10);
}

TEST_CASE("a length that leaves nothing beside the burn-in is refused", "[demonstration_table]") {
  const Recorded recorded({9});
  const auto refused = DemonstrationTable::Create({.ratio = 1, .length = 4, .burn_in = 4},
                                                  RecurrentSpec(), *recorded.set);
  REQUIRE(absl::IsInvalidArgument(refused.status()));
  REQUIRE(recorded.Table({.ratio = 1, .length = 0, .burn_in = 4})->size() == 1);
}

}  // namespace shoal::learner
