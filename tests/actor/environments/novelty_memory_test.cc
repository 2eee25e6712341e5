// SPDX-License-Identifier: Apache-2.0
#include "actor/environments/novelty_memory.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "platform/runtime/random.h"

namespace shoal::actor {
namespace {

using Embedding = std::vector<float>;

// The paper's algorithm over everything that was ever added, without a ring or a sort in place.
class BruteForceNovelty {
 public:
  BruteForceNovelty(std::size_t neighbours, std::size_t capacity)
      : neighbours_(neighbours), capacity_(capacity) {}

  void BeginEpisode() { episode_.clear(); }

  double Add(const Embedding& embedding) {
    std::vector<double> squared;
    const std::size_t begin = episode_.size() > capacity_ ? episode_.size() - capacity_ : 0;
    for (std::size_t i = begin; i < episode_.size(); ++i) {
      double sum = 0;
      for (std::size_t j = 0; j < embedding.size(); ++j) {
        sum += std::pow(static_cast<double>(embedding[j]) - static_cast<double>(episode_[i][j]), 2);
      }
      squared.push_back(sum);
    }
    episode_.push_back(embedding);
    if (squared.empty()) return 0;
    std::sort(squared.begin(), squared.end());
    squared.resize(std::min(squared.size(), neighbours_));
    for (const double distance : squared) all_.push_back(distance);
    double mean = 0;
    for (const double distance : all_) mean += distance / static_cast<double>(all_.size());
    double kernels = 0;
    for (const double distance : squared) {
      kernels += 1e-4 / (std::max(distance / mean - 8e-3, 0.0) + 1e-4);
    }
    const double similarity = std::sqrt(kernels) + 1e-3;
    return similarity > 8 ? 0 : 1 / similarity;
  }

 private:
  const std::size_t neighbours_;
  const std::size_t capacity_;
  std::vector<Embedding> episode_;
  std::vector<double> all_;
};

TEST_CASE("A memory says of random embeddings what a search through all of them says") {
  NoveltyMemory memory({.size = 3, .neighbours = 4, .capacity = 12});
  BruteForceNovelty model(4, 12);
  runtime::Random random(5);
  for (int episode = 0; episode < 4; ++episode) {
    memory.BeginEpisode();
    model.BeginEpisode();
    for (int step = 0; step < 40; ++step) {
      Embedding embedding(3);
      for (float& x : embedding) x = static_cast<float>(random.Below(3)) + 0.5F;
      REQUIRE(memory.Add(embedding) == Approx(model.Add(embedding)).epsilon(1e-4));
    }
  }
}

TEST_CASE("What an episode has shown is not new, and the next episode begins without it") {
  NoveltyMemory memory({.size = 2});
  for (int episode = 0; episode < 2; ++episode) {
    memory.BeginEpisode();
    REQUIRE(memory.Add(Embedding{0, 0}) == 0);
    const double first_visit = memory.Add(Embedding{0, 1});
    const double second_visit = memory.Add(Embedding{0, 1});
    const double third_visit = memory.Add(Embedding{0, 1});
    REQUIRE(first_visit > 20 * second_visit);
    REQUIRE(second_visit > third_visit);
  }
  REQUIRE(memory.mean_distance() > 0);
}

TEST_CASE("An embedding that is not finite, or too far away, has no novelty and leaves no trace") {
  NoveltyMemory memory({.size = 1});
  NoveltyMemory other({.size = 1});
  memory.Add(Embedding{1});
  other.Add(Embedding{1});
  REQUIRE(memory.Add(Embedding{std::numeric_limits<float>::quiet_NaN()}) == 0);
  REQUIRE(memory.Add(Embedding{std::numeric_limits<float>::infinity()}) == 0);
  REQUIRE(memory.Add(Embedding{1e30F}) == 0);
  REQUIRE(memory.Add(Embedding{3}) == other.Add(Embedding{3}));
}

}  // namespace
}  // namespace shoal::actor
