// SPDX-License-Identifier: Apache-2.0
#include "text/embedding/joined_encoder.h"

#include <catch2/catch.hpp>

#include "tests/text/embedding/counting_encoder.h"

namespace shoal::embedding {
namespace {

TEST_CASE("joined vectors have length 1, and their cosine is the mean of both cosines") {
  Calls calls;
  const CountingEncoder first(calls, 24, "words");
  const CountingEncoder second(calls, 40, "language");
  // The two results must not be parts of one random vector.
  const JoinedEncoder joined(std::make_unique<CountingEncoder>(calls, 24, "words"),
                             std::make_unique<CountingEncoder>(calls, 40, "language"));
  REQUIRE(joined.version() == "words+language");
  REQUIRE(joined.dimension() == 64);
  std::vector<std::string> texts;
  for (int i = 0; i < 20; ++i) texts.push_back("text " + std::to_string(i));
  const runtime::Tensor vectors = EncodeAll(joined, texts);
  REQUIRE(vectors.shape() == runtime::Shape{20, 64});
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const auto row = RowOf(vectors, i);
    REQUIRE(std::abs(Dot(row, row) - 1) < 2e-3);
    for (std::size_t j = 0; j < i; ++j) {
      const double mean = 0.5 * Dot(first.VectorOf(texts[i]), first.VectorOf(texts[j])) +
                          0.5 * Dot(second.VectorOf(texts[i]), second.VectorOf(texts[j]));
      REQUIRE(std::abs(Dot(row, RowOf(vectors, j)) - mean) < 2e-3);
    }
  }
}

TEST_CASE("an error or a wrong shape of either part is the whole's") {
  Calls calls;
  for (const bool first_fails : {true, false}) {
    for (const bool shape : {true, false}) {
      auto first = std::make_unique<CountingEncoder>(calls);
      auto second = std::make_unique<CountingEncoder>(calls);
      CountingEncoder& bad = first_fails ? *first : *second;
      (shape ? bad.wrong_shape : bad.fails) = true;
      const JoinedEncoder joined(std::move(first), std::move(second));
      const std::vector<std::string_view> texts = {"text"};
      REQUIRE(absl::IsInternal(joined.Encode(texts).status()));
    }
  }
}

}  // namespace
}  // namespace shoal::embedding
