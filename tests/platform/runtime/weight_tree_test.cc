// SPDX-License-Identifier: Apache-2.0
#include "platform/runtime/weight_tree.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstddef>
#include <numeric>
#include <vector>

#include "platform/runtime/random.h"

namespace shoal::runtime {

TEST_CASE("the sum of weights is exact after ten million changes") {
  Random random(11);
  WeightTree tree;
  std::vector<double> model;
  for (int i = 0; i < 1000; ++i) {
    model.push_back(random.Uniform());
    tree.Append(model.back());
  }
  for (int i = 0; i < 10000000; ++i) {
    const std::size_t place = random.Below(model.size());
    // Weights of very different sizes are where differences would lose digits.
    model[place] = random.Uniform() * (i % 5 == 0 ? 1e12 : 1e-3);
    tree.Set(place, model[place]);
  }
  const long double sum = std::accumulate(model.begin(), model.end(), 0.0L);
  REQUIRE(tree.sum() == Approx(static_cast<double>(sum)).epsilon(1e-12));
  REQUIRE(tree.least() == *std::min_element(model.begin(), model.end()));
}

TEST_CASE("a mass is found at the weight where the running sum passes it, never at weight 0") {
  WeightTree tree;
  for (const double weight : {0.0, 2.0, 0.0, 1.0, 3.0, 0.0}) tree.Append(weight);
  REQUIRE(tree.Find(0) == 1);
  REQUIRE(tree.Find(1.999) == 1);
  REQUIRE(tree.Find(2) == 3);
  REQUIRE(tree.Find(3) == 4);
  REQUIRE(tree.Find(6) == 4);
  REQUIRE(tree.Find(1e9) == 4);
  tree.RemoveLast();
  tree.RemoveLast();
  REQUIRE(tree.sum() == 3);
  REQUIRE(tree.Find(100) == 3);
}

}  // namespace shoal::runtime
