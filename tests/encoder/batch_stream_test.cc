// SPDX-License-Identifier: Apache-2.0
#include "encoder/batch_stream.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

namespace shoal::encoder {
namespace {

using Position = BatchStream::Position;

// Texts of 3, 4, 5, ... tokens. The first token of each is its number, and every third has no span.
struct Texts {
  explicit Texts(std::int32_t count) {
    for (std::int32_t i = 0; i < count; ++i) {
      tokens.emplace_back(static_cast<std::size_t>(3 + i), i);
      spans.push_back({});
      if (i % 3 != 0) spans.back().push_back({dataset::SpanKind::kTarget, 1, 2});
    }
    for (std::size_t i = 0; i < tokens.size(); ++i) chunks.push_back({tokens[i], spans[i]});
  }
  std::vector<std::vector<std::int32_t>> tokens;
  std::vector<std::vector<dataset::Span>> spans;
  std::vector<Chunk> chunks;
};

const TokenChoice kAll{.all = true};
const TokenChoice kTargets = TokenChoice::Parse("target").value();

std::vector<std::int32_t> Numbers(const std::vector<BatchStream::Item>& items) {
  std::vector<std::int32_t> numbers;
  for (const auto& item : items) numbers.push_back(item.chunk.tokens[0]);
  return numbers;
}

TEST_CASE("an epoch has each text once, in an order of its own, in batches up to their size") {
  const Texts texts(20);
  BatchStream stream(texts.chunks, 7, {});
  std::vector<std::vector<std::int32_t>> epochs(3);
  for (std::int64_t epoch = 0; epoch < 3; ++epoch) {
    while (stream.position().epoch == epoch) {
      const auto items = stream.Next(kAll, 30);
      REQUIRE((items.size() == 1 || TokensOf(items) <= 30));
      for (const auto n : Numbers(items)) epochs[static_cast<std::size_t>(epoch)].push_back(n);
    }
    auto sorted = epochs[static_cast<std::size_t>(epoch)];
    REQUIRE(sorted.size() == 20);
    REQUIRE(std::set<std::int32_t>(sorted.begin(), sorted.end()).size() == 20);
  }
  REQUIRE(epochs[0] != epochs[1]);
  REQUIRE(epochs[1] != epochs[2]);
  REQUIRE(stream.epochs() == 3);
}

TEST_CASE("a stream goes on from any position as if it had never stopped") {
  const Texts texts(9);
  const TokenChoice random{.random = true};
  BatchStream whole(texts.chunks, 3, {});
  for (int i = 0; i < 12; ++i) {
    const Position position = whole.position();
    const auto wanted = whole.Next(random, 20);
    BatchStream again(texts.chunks, 3, position);
    const auto found = again.Next(random, 20);
    REQUIRE(Numbers(found) == Numbers(wanted));
    for (std::size_t k = 0; k < found.size(); ++k) {
      REQUIRE(found[k].targets == wanted[k].targets);
    }
  }
}

TEST_CASE("texts without a target are passed over; where none has one there is no batch") {
  const Texts texts(9);
  BatchStream stream(texts.chunks, 3, {});
  std::set<std::int32_t> seen;
  while (stream.position().epoch == 0) {
    for (const auto n : Numbers(stream.Next(kTargets, 12))) seen.insert(n);
  }
  REQUIRE(seen == std::set<std::int32_t>{1, 2, 4, 5, 7, 8});
  REQUIRE(stream.Next(TokenChoice::Parse("array").value(), 12).empty());
  // A text of one token has no target, nor has a text whose only target is its first token.
  const std::vector<std::int32_t> one = {5};
  const std::vector<dataset::Span> first = {{dataset::SpanKind::kTarget, 0, 1}};
  const std::vector<std::int32_t> two = {5, 6};
  BatchStream nothing({{one, {}}, {two, first}}, 1, {});
  REQUIRE(Numbers(nothing.Next(kAll, 12)) == std::vector<std::int32_t>{5});
  REQUIRE(nothing.Next(kTargets, 12).empty());
}

TEST_CASE("the ranks' parts are the batch, once") {
  const Texts texts(20);
  BatchStream stream(texts.chunks, 7, {});
  const auto items = stream.Next(kTargets, 60);
  const auto whole = PartOf(items, 0, 1, kAll);
  REQUIRE(whole.tokens.attended.empty());
  REQUIRE(whole.tokens.sequences() == static_cast<std::int64_t>(items.size()));
  std::multiset<std::int32_t> ids;
  float weight = 0;
  for (std::int64_t rank = 0; rank < 3; ++rank) {
    const auto part = PartOf(items, rank, 3, kTargets);
    ids.insert(part.tokens.ids.begin(), part.tokens.ids.end());
    for (const float w : part.weights) weight += w;
    REQUIRE(part.weights.size() == part.tokens.ids.size());
    REQUIRE(part.tokens.attended.size() == part.tokens.ids.size());
    for (std::size_t i = 0; i < part.weights.size(); ++i) {
      REQUIRE(part.tokens.attended[i] == (part.weights[i] > 0 ? 1 : 0));
    }
  }
  REQUIRE(ids == std::multiset<std::int32_t>(whole.tokens.ids.begin(), whole.tokens.ids.end()));
  REQUIRE(weight == static_cast<float>(items.size()));
  REQUIRE(PartOf(items, 1000, 1001, kAll).tokens.sequences() == 0);
}

}  // namespace
}  // namespace shoal::encoder
