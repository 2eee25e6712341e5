// SPDX-License-Identifier: Apache-2.0
// How well a linear function of vectors tells two classes apart: ridge regression on labels.
//
// The strength of the ridge is the one with the least error when each example is left out once,
// which follows from one inverse of the examples' products (Allen, "The relationship between
// variable selection and data augmentation and a method for prediction", 1974). Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace shoal::encoder {

// N examples of D numbers, row after row, with their classes.
struct LabelledRows {
  std::size_t width = 0;
  std::vector<float> values;         // [N, D]
  std::vector<std::uint8_t> labels;  // [N], 0 or 1

  std::size_t rows() const { return labels.size(); }
};

// Fits `training` and returns the share of `test` whose class it predicts. A vector of ones is
// added to the vectors. REQUIRES: both have rows of the same width.
double ProbeAccuracy(const LabelledRows& training, const LabelledRows& test);

}  // namespace shoal::encoder
