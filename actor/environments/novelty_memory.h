// SPDX-License-Identifier: Apache-2.0
// Remembers the embeddings of an episode, and says how new one is among them (Badia et al. 2020,
// "Never Give Up", algorithm 1).
//
// The distance to the nearest neighbours is relative to its running mean over everything that the
// memory was ever shown, which outlives episodes. An observation costs as many products as the
// memory holds numbers. Not thread-safe.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace shoal::actor {

class NoveltyMemory {
 public:
  struct Options {
    // The length of an embedding, at least 1.
    std::size_t size = 1;
    // k: the nearest neighbours that count, at least 1.
    std::size_t neighbours = 10;
    // The most embeddings that are kept, at least 1. The oldest one makes room.
    std::size_t capacity = 30000;
  };

  explicit NoveltyMemory(const Options& options) : options_(options) {}

  // Forgets the episode.
  void BeginEpisode();
  // Returns the episodic novelty of an embedding (rl/estimators/novelty.h), then remembers it. The
  // first of an episode has none. An embedding that is not finite has none either, and is not
  // remembered. REQUIRES: it has the size of the options.
  double Add(std::span<const float> embedding);

  // The running mean of squared distances to the k nearest neighbours; 0 before there were any.
  double mean_distance() const { return distances_ > 0 ? sum_ / distances_ : 0; }

 private:
  const Options options_;
  std::vector<float> embeddings_;  // [count, size], a ring
  std::size_t next_ = 0;           // where the next one goes, once the memory is full
  double sum_ = 0;
  double distances_ = 0;
  std::vector<float> scratch_;
};

}  // namespace shoal::actor
