// SPDX-License-Identifier: Apache-2.0
#include "text/language/token_batch.h"

#include <catch2/catch.hpp>
#include <string>

namespace shoal::language {
namespace {

using Ids = std::vector<std::int32_t>;

constexpr Gpt2Config kConfig{.vocabulary_size = 10,
                             .positions = 4,
                             .width = 2,
                             .heads = 1,
                             .begin_token = -1,
                             .end_token = -1};

TokenBatch Three() {
  TokenBatch batch;
  batch.Append(Ids{1, 2, 3});
  batch.Append(Ids{4});
  batch.Append(Ids{5, 6});
  return batch;
}

TEST_CASE("sequences lie end to end and are cut out whole") {
  const TokenBatch batch = Three();
  REQUIRE(batch.ids == Ids{1, 2, 3, 4, 5, 6});
  REQUIRE(batch.starts == std::vector<std::int64_t>{0, 3, 4, 6});
  REQUIRE(batch.Validate(kConfig).ok());
  const TokenBatch slice = batch.Slice(1, 3);
  REQUIRE(slice.ids == Ids{4, 5, 6});
  REQUIRE(slice.starts == std::vector<std::int64_t>{0, 1, 3});
}

TEST_CASE("cuts keep to the limit but for sequences that are longer themselves") {
  using Numbers = std::vector<std::int64_t>;
  REQUIRE(Cuts(Three(), 100) == Numbers{0, 3});
  REQUIRE(Cuts(Three(), 4) == Numbers{0, 2, 3});
  REQUIRE(Cuts(Three(), 3) == Numbers{0, 1, 3});
  REQUIRE(Cuts(Three(), 1) == Numbers{0, 1, 2, 3});
  REQUIRE(Cuts(TokenBatch(), 1) == Numbers{0});
}

TEST_CASE("batches that do not fit the model are refused by sequence or token") {
  const auto error = [](auto change) {
    TokenBatch batch = Three();
    change(batch);
    return std::string(batch.Validate(kConfig).message());
  };
  REQUIRE(error([](TokenBatch& it) {
            it.Append(Ids{1, 1, 1, 1, 1});
          }).find("sequence 3 of 5") != std::string::npos);
  REQUIRE(error([](TokenBatch& it) { it.Append(Ids{}); }).find("sequence 3 of 0") !=
          std::string::npos);
  REQUIRE(error([](TokenBatch& it) { it.ids[4] = 10; }).find("id 10 at 4") != std::string::npos);
  REQUIRE(error([](TokenBatch& it) { it.ids[0] = -1; }).find("id -1 at 0") != std::string::npos);
  REQUIRE_FALSE(error([](TokenBatch& it) { it.starts.back() = 7; }).empty());
  REQUIRE_FALSE(error([](TokenBatch& it) { it.starts[1] = 5; }).empty());
  REQUIRE_FALSE(error([](TokenBatch& it) { it.starts.clear(); }).empty());
  REQUIRE_FALSE(error([](TokenBatch& it) { it.attended = {1}; }).empty());
}

}  // namespace
}  // namespace shoal::language
