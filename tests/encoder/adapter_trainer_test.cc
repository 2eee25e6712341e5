// SPDX-License-Identifier: Apache-2.0
#include "encoder/adapter_trainer.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "encoder/retrieval.h"
#include "platform/runtime/random.h"

namespace shoal::encoder {
namespace {

constexpr std::int64_t kWidth = 24;
constexpr std::int64_t kRequests = 40;

// Writes a random row of length 1.
void AppendRow(runtime::Random& random, std::vector<float>& rows) {
  std::vector<double> row;
  double sum = 0;
  for (std::int64_t i = 0; i < kWidth; ++i) {
    row.push_back(random.Normal());
    sum += row.back() * row.back();
  }
  for (const double x : row) rows.push_back(static_cast<float>(x / std::sqrt(sum)));
}

runtime::Tensor Halves(const std::vector<float>& rows) {
  runtime::Tensor tensor(runtime::DType::kFloat16,
                         {static_cast<std::int64_t>(rows.size()) / kWidth, kWidth});
  auto* out = reinterpret_cast<std::uint16_t*>(tensor.mutable_bytes().data());
  for (const float x : rows) *out++ = runtime::ToHalf(x);
  return tensor;
}

// A service of which request i is asked for by the row of request i, backwards: no untrained
// encoder finds it, and a linear map does.
TuningSet BackwardsSet(std::uint64_t seed) {
  runtime::Random random(seed);
  std::vector<float> requests;
  for (std::int64_t i = 0; i < kRequests; ++i) AppendRow(random, requests);
  std::vector<float> queries;
  TuningSet set;
  for (std::int64_t i = 0; i < kRequests; ++i) {
    const auto begin = requests.begin() + static_cast<std::ptrdiff_t>(i * kWidth);
    queries.insert(queries.end(), std::make_reverse_iterator(begin + kWidth),
                   std::make_reverse_iterator(begin));
    set.relevant.push_back({i});
    set.goals.push_back({i});
  }
  set.requests = Halves(requests);
  set.queries = Halves(queries);
  return set;
}

// Returns the mean of 1 / rank of the right request when both maps are applied.
double ReciprocalRank(const TuningSet& set, const embedding::AffineMap& sentences,
                      const embedding::AffineMap& requests) {
  const std::size_t size = sentences.bias.size();
  const auto mapped = [size](const runtime::Tensor& rows, std::int64_t number,
                             const embedding::AffineMap& map) {
    const auto* halves = reinterpret_cast<const std::uint16_t*>(rows.bytes().data());
    std::vector<float> row;
    for (std::int64_t i = 0; i < kWidth; ++i) {
      row.push_back(runtime::FromHalf(halves[number * kWidth + i]));
    }
    std::vector<float> out(size);
    embedding::Apply(map, row, out);
    return out;
  };
  std::vector<std::int64_t> ranks;
  for (std::int64_t query = 0; query < kRequests; ++query) {
    const std::vector<float> asked = mapped(set.queries, query, sentences);
    std::vector<float> scores;
    for (std::int64_t request = 0; request < kRequests; ++request) {
      const std::vector<float> offered = mapped(set.requests, request, requests);
      float score = 0;
      for (std::size_t i = 0; i < size; ++i) score += asked[i] * offered[i];
      scores.push_back(score);
    }
    ranks.push_back(RankOfFirst(scores, set.relevant[static_cast<std::size_t>(query)]));
  }
  return ScoreOfRanks(ranks).reciprocal_rank;
}

AdapterTrainerOptions Options() {
  return {.size = 32, .steps = 300, .batch = 32, .negatives = 40, .learning_rate = 3e-3};
}

TrainedMaps Trained(const std::vector<TuningSet>& sets, const AdapterTrainerOptions& options) {
  auto maps = TrainAdapter(sets, options, nullptr);
  INFO(maps.status().ToString());
  REQUIRE(maps.ok());
  return *std::move(maps);
}

TEST_CASE("training finds the requests of services that it has not seen, and chance does not") {
  std::vector<TuningSet> sets;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) sets.push_back(BackwardsSet(seed));
  const TuningSet unseen = BackwardsSet(99);
  const TrainedMaps trained = Trained(sets, Options());
  AdapterTrainerOptions hardly = Options();
  hardly.steps = 1;
  hardly.learning_rate = 0;
  const TrainedMaps untrained = Trained(sets, hardly);
  REQUIRE(ReciprocalRank(unseen, untrained.sentences, untrained.requests) < 0.3);
  REQUIRE(ReciprocalRank(unseen, trained.sentences, trained.requests) > 0.9);
  REQUIRE(trained.loss < 0.5 * untrained.loss);
}

TEST_CASE("equal seeds give equal bits, another seed another adapter") {
  const std::vector<TuningSet> sets = {BackwardsSet(1)};
  AdapterTrainerOptions options = Options();
  options.steps = 20;
  const TrainedMaps first = Trained(sets, options);
  REQUIRE(Trained(sets, options).sentences.weights == first.sentences.weights);
  options.seed = 2;
  REQUIRE(Trained(sets, options).sentences.weights != first.sentences.weights);
}

TEST_CASE("an observer sees every step and a falling loss") {
  const std::vector<TuningSet> sets = {BackwardsSet(1)};
  std::vector<double> losses;
  std::vector<std::int64_t> steps;
  AdapterTrainerOptions options = Options();
  options.steps = 60;
  const auto observe = [&](std::int64_t step, double loss) {
    steps.push_back(step);
    losses.push_back(loss);
  };
  REQUIRE(TrainAdapter(sets, options, observe).ok());
  REQUIRE(steps.size() == 60);
  REQUIRE(steps.back() == 60);
  REQUIRE(losses.back() < 0.7 * losses.front());
}

TEST_CASE("steps on descriptions teach what no goal says") {
  TuningSet set = BackwardsSet(1);
  // The goals know the first half of the requests, the descriptions the second.
  for (std::int64_t i = kRequests / 2; i < kRequests; ++i) set.descriptions.push_back(i);
  set.goals.resize(kRequests / 2);
  AdapterTrainerOptions options = Options();
  options.steps = 120;
  options.description_share = 0;
  const TrainedMaps goals_alone = Trained({set}, options);
  options.description_share = 0.5;
  const TrainedMaps both = Trained({set}, options);
  REQUIRE(ReciprocalRank(set, both.sentences, both.requests) >
          ReciprocalRank(set, goals_alone.sentences, goals_alone.requests) + 0.1);
}

TEST_CASE("options out of range and sets that do not fit are refused") {
  const std::vector<TuningSet> sets = {BackwardsSet(1)};
  const auto refuses = [](const std::vector<TuningSet>& given, const AdapterTrainerOptions& with) {
    return absl::IsInvalidArgument(TrainAdapter(given, with, nullptr).status());
  };
  for (const auto member : {&AdapterTrainerOptions::size, &AdapterTrainerOptions::steps,
                            &AdapterTrainerOptions::batch, &AdapterTrainerOptions::negatives}) {
    AdapterTrainerOptions options = Options();
    options.*member = 0;
    REQUIRE(refuses(sets, options));
  }
  AdapterTrainerOptions options = Options();
  options.temperature = std::nan("");
  REQUIRE(refuses(sets, options));
  REQUIRE(refuses({}, Options()));
  std::vector<TuningSet> broken = sets;
  broken[0].relevant[3] = {kRequests};
  REQUIRE(refuses(broken, Options()));
  broken = sets;
  broken[0].relevant.pop_back();
  REQUIRE(refuses(broken, Options()));
  broken = sets;
  broken[0].goals[0] = {-1};
  REQUIRE(refuses(broken, Options()));
  broken = sets;
  broken.push_back(BackwardsSet(2));
  broken[1].queries = runtime::Tensor(runtime::DType::kFloat16, {kRequests, kWidth + 1});
  REQUIRE(refuses(broken, Options()));
  broken = sets;
  broken[0].requests = runtime::Tensor(runtime::DType::kFloat16, {5});
  REQUIRE(refuses(broken, Options()));
}

}  // namespace
}  // namespace shoal::encoder
