// SPDX-License-Identifier: Apache-2.0
#include "actor/environments/novelty_memory.h"

#include <algorithm>
#include <cmath>

#include "rl/estimators/novelty.h"

namespace shoal::actor {

void NoveltyMemory::BeginEpisode() {
  embeddings_.clear();
  next_ = 0;
}

double NoveltyMemory::Add(std::span<const float> embedding) {
  const auto finite = [](float x) { return std::isfinite(x); };
  if (!std::all_of(embedding.begin(), embedding.end(), finite)) return 0;
  const std::size_t count = embeddings_.size() / options_.size;
  scratch_.clear();
  bool measurable = true;
  for (std::size_t i = 0; i < count; ++i) {
    const float* const other = embeddings_.data() + i * options_.size;
    float squared = 0;
    for (std::size_t j = 0; j < options_.size; ++j) {
      const float difference = embedding[j] - other[j];
      squared += difference * difference;
    }
    measurable = measurable && finite(squared);
    scratch_.push_back(squared);
  }
  if (!measurable) return 0;
  const std::size_t nearest = std::min(count, options_.neighbours);
  std::partial_sort(scratch_.begin(), scratch_.begin() + static_cast<std::ptrdiff_t>(nearest),
                    scratch_.end());
  scratch_.resize(nearest);
  for (const float squared : scratch_) sum_ += static_cast<double>(squared);
  distances_ += static_cast<double>(nearest);
  const double novelty = estimators::EpisodicNovelty(scratch_, mean_distance());
  if (count < options_.capacity) {
    embeddings_.insert(embeddings_.end(), embedding.begin(), embedding.end());
  } else {
    std::copy(embedding.begin(), embedding.end(),
              embeddings_.begin() + static_cast<std::ptrdiff_t>(next_ * options_.size));
    next_ = (next_ + 1) % options_.capacity;
  }
  return novelty;
}

}  // namespace shoal::actor
