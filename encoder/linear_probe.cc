// SPDX-License-Identifier: Apache-2.0
#include "encoder/linear_probe.h"

#include <functional>
#include <limits>
#include <numeric>
#include <utility>

#include "platform/runtime/check.h"

namespace shoal::encoder {
namespace {

// The mean square of a vector is about 1, so these reach from hardly any ridge to a strong one.
constexpr double kRidges[] = {1e-4, 1e-3, 1e-2, 1e-1, 1};

double ProductOf(std::span<const float> a, std::span<const float> b) {
  // 1 is the product of the ones that are added to the vectors.
  return std::inner_product(a.begin(), a.end(), b.begin(), 1.0, std::plus<>(),
                            [](float x, float y) { return static_cast<double>(x) * y; });
}

std::span<const float> RowAt(const LabelledRows& rows, std::size_t row) {
  return std::span(rows.values).subspan(row * rows.width, rows.width);
}

// Returns the inverse of a symmetric positive definite matrix [n, n] by Gauss-Jordan elimination.
std::vector<double> InverseOf(std::vector<double> matrix, std::size_t n) {
  std::vector<double> inverse(n * n);
  for (std::size_t i = 0; i < n; ++i) inverse[i * n + i] = 1;
  for (std::size_t pivot = 0; pivot < n; ++pivot) {
    const double scale = 1 / matrix[pivot * n + pivot];
    for (std::size_t k = 0; k < n; ++k) {
      matrix[pivot * n + k] *= scale;
      inverse[pivot * n + k] *= scale;
    }
    for (std::size_t row = 0; row < n; ++row) {
      const double factor = matrix[row * n + pivot];
      if (row == pivot || factor == 0) continue;
      for (std::size_t k = 0; k < n; ++k) {
        matrix[row * n + k] -= factor * matrix[pivot * n + k];
        inverse[row * n + k] -= factor * inverse[pivot * n + k];
      }
    }
  }
  return inverse;
}

// Weights of the training examples, and their error when each is left out once.
struct Fit {
  std::vector<double> weights;
  double left_out_error = std::numeric_limits<double>::infinity();
};

Fit FitWith(const std::vector<double>& products, const std::vector<double>& targets, double ridge) {
  const std::size_t n = targets.size();
  std::vector<double> matrix = products;
  for (std::size_t i = 0; i < n; ++i) matrix[i * n + i] += ridge;
  const std::vector<double> inverse = InverseOf(std::move(matrix), n);
  Fit fit{std::vector<double>(n), 0};
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < n; ++k) fit.weights[i] += inverse[i * n + k] * targets[k];
    const double error = fit.weights[i] / inverse[i * n + i];
    fit.left_out_error += error * error;
  }
  return fit;
}

}  // namespace

double ProbeAccuracy(const LabelledRows& training, const LabelledRows& test) {
  SHOAL_CHECK(training.rows() > 0 && test.rows() > 0 && training.width == test.width);
  const std::size_t n = training.rows();
  std::vector<double> products(n * n);
  std::vector<double> targets(n);
  for (std::size_t i = 0; i < n; ++i) {
    targets[i] = training.labels[i] == 0 ? -1 : 1;
    for (std::size_t k = 0; k <= i; ++k) {
      products[i * n + k] = ProductOf(RowAt(training, i), RowAt(training, k));
      products[k * n + i] = products[i * n + k];
    }
  }
  Fit best;
  for (const double ridge : kRidges) {
    Fit fit = FitWith(products, targets, ridge);
    if (fit.left_out_error < best.left_out_error) best = std::move(fit);
  }
  std::size_t right = 0;
  for (std::size_t row = 0; row < test.rows(); ++row) {
    double score = 0;
    for (std::size_t i = 0; i < best.weights.size(); ++i) {
      score += best.weights[i] * ProductOf(RowAt(training, i), RowAt(test, row));
    }
    if ((score > 0) == (test.labels[row] != 0)) ++right;
  }
  return static_cast<double>(right) / static_cast<double>(test.rows());
}

}  // namespace shoal::encoder
