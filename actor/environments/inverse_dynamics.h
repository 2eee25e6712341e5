// SPDX-License-Identifier: Apache-2.0
// Inverse dynamics: learns embeddings of observations that tell what an agent can influence (Badia
// et al. 2020, "Never Give Up", section 2; Pathak et al. 2017, "Curiosity-driven Exploration by
// Self-supervised Prediction").
//
// An encoder f makes an embedding of an observation, and a classifier h tells from f(x) and f(x')
// which action led from x to x'. Both (rectified_network.h) are trained by the cross-entropy of
// that action, so the encoder keeps what tells actions apart and has no use for anything else. Each
// transition is remembered among the last ones, and a few of these, drawn by the seed, are trained
// on one after the other. A step of the gradient is divided by 1 plus the squared lengths of what
// the layers see.
//
// Within an episode Embed has the parameters that the encoder had when the episode began, whatever
// was trained since: distances in an episode then are those of one metric, and what comes back to
// where it was has the embedding that it had. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "actor/environments/rectified_network.h"
#include "platform/runtime/random.h"

namespace shoal::actor {

class InverseDynamics {
 public:
  struct Options {
    // The length of an observation, the number of actions and the length of an embedding, at least
    // 1 each.
    std::size_t size = 1;
    std::size_t actions = 1;
    std::size_t embedding = 32;
    // Units of the hidden layer of each network.
    std::size_t hidden = 32;
    // The factor on a normalised step of the gradient.
    double rate = 1;
    // How many remembered transitions each one trains on, and how many are remembered, at least 1.
    std::size_t minibatch = 4;
    std::size_t memory = 1000;
    // The parameters at the start are a function of it, and so are the draws.
    std::uint64_t seed = 0;
  };

  explicit InverseDynamics(const Options& options);

  // Lets Embed have what was learned so far.
  void BeginEpisode() { episode_encoder_ = encoder_; }
  // Returns the embedding of an observation, which is valid until the next call. REQUIRES: it has
  // the size of the options, as below.
  std::span<const float> Embed(std::span<const float> observation);
  // Remembers a transition and trains. Observations that are not finite, or too large to compute
  // with, train nothing. REQUIRES: 0 <= action < actions.
  void Learn(std::span<const float> before, std::size_t action, std::span<const float> after);
  // Returns the probability of each action to have led from one observation to another, by what was
  // learned so far.
  std::vector<float> Probabilities(std::span<const float> before, std::span<const float> after);

  const RectifiedNetwork& encoder() const { return encoder_; }
  const RectifiedNetwork& classifier() const { return classifier_; }

 private:
  struct Remembered {
    std::vector<float> before;
    std::vector<float> after;
    std::size_t action = 0;
  };

  // Takes a step of the gradient of one transition.
  void Train(const Remembered& transition);

  const Options options_;
  RectifiedNetwork encoder_;
  RectifiedNetwork episode_encoder_;
  RectifiedNetwork classifier_;
  runtime::Random draws_;
  std::vector<Remembered> memory_;  // a ring
  std::size_t next_ = 0;            // where the next one goes, once the memory is full
  RectifiedNetwork::Pass embedded_;
  RectifiedNetwork::Pass before_;
  RectifiedNetwork::Pass after_;
  RectifiedNetwork::Pass classified_;
  std::vector<float> pair_;  // f(x) and f(x')
  std::vector<float> pair_change_;
};

}  // namespace shoal::actor
