// SPDX-License-Identifier: Apache-2.0
#include "rl/model/candidate_mark.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

namespace shoal::model {
namespace {

using Marks = std::vector<CandidateMark>;

TEST_CASE("Each mark of a candidate adds its kind's weight to the candidate's logit alone") {
  std::vector<float> logits = {1, 1, 1};
  AddMarkWeights(Marks{{0, 0b101}, {2, 0b010}}, std::vector<float>{10, 20, 40}, logits);
  REQUIRE(logits == std::vector<float>{51, 1, 21});
}

TEST_CASE("The derivative by a kind's weight is the sum over the candidates that carry it") {
  std::vector<float> by_weights = {1, 0, 0};
  AddMarkGradient(Marks{{0, 0b101}, {2, 0b110}}, std::vector<float>{0.5F, 9, -2}, by_weights);
  REQUIRE(by_weights == std::vector<float>{1.5F, -2, -1.5F});
}

TEST_CASE("A row's features grow with the number of its marked candidates, kind by kind") {
  std::vector<float> features = {7, 7, 7};
  CountMarks(Marks{{1, 0b001}, {4, 0b101}, {5, 0b001}}, features);
  REQUIRE(features[0] == Approx(0.25 * std::log(4.0)));
  REQUIRE(features[1] == 0);
  REQUIRE(features[2] == Approx(0.25 * std::log(2.0)));
}

TEST_CASE("Marks are valid in ascending order, below the candidates, of the known kinds") {
  REQUIRE(AreValid({}, 1, 0));
  REQUIRE(AreValid(Marks{{0, 0b11}, {9, 0b10}}, 10, 2));
  REQUIRE_FALSE(AreValid(Marks{{0, 1}, {10, 1}}, 10, 2));
  REQUIRE_FALSE(AreValid(Marks{{3, 1}, {3, 1}}, 10, 2));
  REQUIRE_FALSE(AreValid(Marks{{3, 1}, {2, 1}}, 10, 2));
  REQUIRE_FALSE(AreValid(Marks{{3, 0b100}}, 10, 2));
  REQUIRE(AreValid(Marks{{3, 0x80000000U}}, 10, 32));
}

TEST_CASE("Rows of marks lie one after another, and a row may have none") {
  MarkRows rows;
  rows.Add(Marks{{1, 1}, {2, 1}});
  rows.Add({});
  rows.Add(Marks{{3, 2}});
  REQUIRE(rows.rows() == 3);
  REQUIRE(rows.Row(0).size() == 2);
  REQUIRE(rows.Row(1).empty());
  REQUIRE(rows.Row(2)[0] == CandidateMark{3, 2});
}

}  // namespace
}  // namespace shoal::model
