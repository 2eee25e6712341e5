// SPDX-License-Identifier: Apache-2.0
// The knobs of behaviour cloning. They stand in the section [learner], beside those of
// LearnerOptions.
#pragma once

#include <cstdint>
#include <string>

#include "platform/runtime/config.h"
#include "text/embedding/encoder_source.h"

namespace shoal::learner {

struct CloningOptions {
  // The file of demonstrations (docs/demonstrations.md). If empty, there are none, and the other
  // knobs have no effect.
  std::string demonstrations = "";
  // The number of demonstrations in one cloning step or update, on all ranks together.
  std::int64_t demonstration_unrolls = 64;
  // The number of cloning steps before the first publication.
  std::int64_t demonstration_updates = 300;
  double demonstration_learning_rate = 1e-3;
  // The weight of the demonstrations' cross-entropy in the first update after cloning. It falls
  // linearly to 0.
  double demonstration_coefficient = 0;
  std::int64_t demonstration_anneal_updates = 100;
  // The probability that an unroll of an update is a demonstration and not one of replay (R2D3),
  // which needs an algorithm that may train on what others did. 0 draws none.
  double demonstration_ratio = 0;
  // The rows of a demonstration that is drawn so; the burn-in of the learner is part of them. 0
  // keeps episodes whole.
  std::int64_t demonstration_length = 0;
  // How far priorities decide which one is drawn.
  double demonstration_priority_exponent = 0.9;
  // The encoder of inference, which embeds the demonstrations' texts. Not read without
  // demonstrations.
  embedding::EncoderSource encoder;
  embedding::EmbeddingCacheOptions embedding_cache;

  void Visit(runtime::Visitor& visitor);
};

}  // namespace shoal::learner
