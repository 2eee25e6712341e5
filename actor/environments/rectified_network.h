// SPDX-License-Identifier: Apache-2.0
// A small network with one hidden layer of rectified units, and plain gradient steps of it: what an
// environment learns with in the actor, without a library of tensors.
//
// It computes W2 max(W1 x + b, 0). A gradient takes three calls: Evaluate, Propagate with how the
// outputs should change, and Step; between them the parameters stay as they are. Changes are
// descents: minus the gradient of a loss by the outputs makes a step that lowers the loss. Inputs
// that are 0 cost next to nothing. Not thread-safe.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "platform/runtime/random.h"

namespace shoal::actor {

class RectifiedNetwork {
 public:
  struct Shape {
    std::size_t inputs = 1;
    std::size_t hidden = 1;
    std::size_t outputs = 1;
  };

  // What the layers made of an input, and how the hidden units should change.
  struct Pass {
    std::vector<float> hidden;
    std::vector<float> outputs;
    std::vector<float> hidden_change;
  };

  // Draws the parameters: W1 and b with the deviation, W2 with deviation 1 / sqrt(hidden).
  RectifiedNetwork(const Shape& shape, double deviation, runtime::Random random);

  // Writes what the units are. REQUIRES: the input has the size of the shape.
  void Evaluate(std::span<const float> input, Pass& pass) const;
  // Returns 1 plus the squared lengths of what the two layers saw. A step divided by it changes the
  // outputs by no more than about the change that was asked for. Infinite where units are too large
  // to compute with, or not finite.
  static double SquaredLength(std::span<const float> input, const Pass& pass);
  // Writes how the hidden units should change for the outputs to change by `change`, [outputs].
  void Propagate(std::span<const float> change, Pass& pass) const;
  // Writes how the input should change, [inputs]. REQUIRES: Propagate has been called.
  void PropagateToInput(const Pass& pass, std::span<float> change) const;
  // Adds `step` times minus the gradient to the parameters. REQUIRES: Propagate has been called
  // with the same change.
  void Step(std::span<const float> input, const Pass& pass, std::span<const float> change,
            float step);

  // W1 [inputs, hidden], b [hidden] and W2 [outputs, hidden], one after the other.
  std::span<const float> parameters() const { return parameters_; }

 private:
  std::size_t bias() const { return shape_.inputs * shape_.hidden; }
  std::size_t second() const { return bias() + shape_.hidden; }

  Shape shape_;
  std::vector<float> parameters_;
};

}  // namespace shoal::actor
