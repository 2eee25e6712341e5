// SPDX-License-Identifier: Apache-2.0
// The ranks of these rings take turns on one thread, since a ring never waits.
#include "rl/collectives/ring.h"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "rl/collectives/rank_share.h"
#include "rl/collectives/socket.h"
#include "tests/doubles/ranks.h"

namespace shoal::collectives {
namespace {

using doubles::Mentions;

constexpr CallHeader kCall = {.kind = CallKind::kSumFloat, .sequence = 3, .bytes = 40};

std::vector<std::unique_ptr<Ring>> MakeRings(std::size_t ranks) {
  std::vector<std::array<int, 2>> pairs;
  for (std::size_t rank = 0; rank < ranks; ++rank) pairs.push_back(ConnectedPair().value());
  std::vector<std::unique_ptr<Ring>> rings;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    rings.push_back(std::make_unique<Ring>(static_cast<std::int64_t>(rank),
                                           static_cast<std::int64_t>(ranks), pairs[rank][0],
                                           pairs[(rank + ranks - 1) % ranks][1]));
  }
  return rings;
}

template <typename T>
void Run(std::vector<std::unique_ptr<Ring>>& rings, std::vector<std::vector<T>>& parts,
         const Elementwise& operation, Ring::Way way = Ring::Way::kAllReduce) {
  for (std::size_t rank = 0; rank < rings.size(); ++rank) {
    rings[rank]->Begin(std::as_writable_bytes(std::span(parts[rank])), operation, kCall, way);
  }
  for (bool moved = true; moved;) {
    moved = false;
    for (const auto& ring : rings) {
      const auto advanced = ring->Advance();
      REQUIRE(advanced.ok());
      moved = *advanced || moved;
    }
  }
  for (const auto& ring : rings) REQUIRE(ring->done());
}

// Returns numbers of each rank whose sums are rounded.
std::vector<std::vector<float>> Thirds(std::size_t ranks, std::size_t size) {
  std::vector<std::vector<float>> parts(ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    for (std::size_t i = 0; i < size; ++i) {
      parts[rank].push_back(1.0F / static_cast<float>(i * 3 + rank * 97 + 1));
    }
  }
  return parts;
}

TEST_CASE("a ring adds each segment in the order of ranks, and last its own one") {
  for (const std::size_t ranks : {2U, 3U, 4U, 7U}) {
    auto rings = MakeRings(ranks);
    // The second array is one for the same ring.
    for (const std::size_t size :
         {std::size_t{100'003}, ranks - 1, std::size_t{1}, ranks, std::size_t{0}, 5 * ranks + 2}) {
      std::vector<std::vector<float>> parts = Thirds(ranks, size);
      std::vector<float> expected;
      for (std::size_t segment = 0; segment < ranks; ++segment) {
        const std::size_t count = size / ranks + (segment < size % ranks ? 1 : 0);
        for (std::size_t i = 0; i < count; ++i) {
          const std::size_t place = expected.size();
          float sum = parts[(segment + 1) % ranks][place];
          for (std::size_t k = 2; k <= ranks; ++k) sum += parts[(segment + k) % ranks][place];
          expected.push_back(sum);
        }
      }
      Run(rings, parts, kSumOfFloats);
      for (const auto& part : parts) {
        INFO("ranks " << ranks << " size " << size);
        REQUIRE(part == expected);
      }
    }
  }
}

TEST_CASE("half a ring leaves each rank its share of the sums, and the other half spreads shares") {
  for (const std::size_t ranks : {2U, 3U, 4U, 7U}) {
    auto rings = MakeRings(ranks);
    for (const std::size_t size : {std::size_t{100'003}, std::size_t{1}, ranks, 5 * ranks + 2}) {
      INFO("ranks " << ranks << " size " << size);
      std::vector<std::vector<float>> whole = Thirds(ranks, size);
      std::vector<std::vector<float>> halves = whole;
      Run(rings, whole, kSumOfFloats);
      Run(rings, halves, kSumOfFloats, Ring::Way::kReduceScatter);
      for (std::size_t rank = 0; rank < ranks; ++rank) {
        const RankShare share =
            ShareOf(size, static_cast<std::int64_t>(rank), static_cast<std::int64_t>(ranks));
        for (std::size_t i = 0; i < size; ++i) {
          const bool own = i >= share.begin && i < share.begin + share.size;
          if (own) REQUIRE(halves[rank][i] == whole[rank][i]);
          if (!own) halves[rank][i] = -1;
        }
      }
      Run(rings, halves, {.element_bytes = sizeof(float)}, Ring::Way::kAllGather);
      for (const auto& half : halves) REQUIRE(half == whole[0]);
    }
  }
}

TEST_CASE("shares lie in the order of ranks, cover the array, and differ by one at most") {
  for (const std::size_t size : {0U, 1U, 3U, 4U, 1001U}) {
    std::size_t end = 0;
    for (std::int64_t rank = 0; rank < 4; ++rank) {
      const RankShare share = ShareOf(size, rank, 4);
      REQUIRE(share.begin == end);
      REQUIRE((share.size == size / 4 || share.size == size / 4 + 1));
      end += share.size;
    }
    REQUIRE(end == size);
  }
}

TEST_CASE("a ring finds sums, maxima and minima of doubles") {
  auto rings = MakeRings(3);
  const std::vector<std::vector<double>> numbers = {{1, -5, 3, 8}, {2, 7, -4, 8}, {-9, 0, 1, 8}};
  const std::vector<std::pair<Elementwise, std::vector<double>>> cases = {
      {kSumOfDoubles, {-6, 2, 0, 24}},
      {kMaxOfDoubles, {2, 7, 3, 8}},
      {kMinOfDoubles, {-9, -5, -4, 8}}};
  for (const auto& [operation, expected] : cases) {
    auto parts = numbers;
    Run(rings, parts, operation);
    for (const auto& part : parts) REQUIRE(part == expected);
  }
}

// Rank 0 of two, and the test in place of rank 1.
struct Half {
  std::array<int, 2> to = ConnectedPair().value();
  std::array<int, 2> from = ConnectedPair().value();
  Ring ring{0, 2, to[0], from[0]};
  std::vector<float> values = std::vector<float>(10, 1.0F);

  Half() {
    ring.Begin(std::as_writable_bytes(std::span(values)), kSumOfFloats, kCall,
               Ring::Way::kAllReduce);
  }
  ~Half() {
    ::close(to[1]);
    ::close(from[1]);
  }
};

TEST_CASE("elements that arrive in pieces are added whole") {
  Half half;
  std::vector<float> rest = {2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  std::vector<std::byte> stream;
  const auto append = [&stream](std::span<const std::byte> bytes) {
    stream.insert(stream.end(), bytes.begin(), bytes.end());
  };
  append(std::as_bytes(std::span(&kCall, 1)));
  append(std::as_bytes(std::span(rest)));
  for (std::size_t i = 0; i < stream.size(); i += 3) {
    const std::size_t count = std::min<std::size_t>(3, stream.size() - i);
    REQUIRE(::send(half.from[1], stream.data() + i, count, 0) == static_cast<ssize_t>(count));
    REQUIRE(half.ring.Advance().ok());
  }
  while (*half.ring.Advance()) {
  }
  REQUIRE(half.ring.done());
  REQUIRE(half.values == std::vector<float>{3, 4, 5, 6, 7, 7, 8, 9, 10, 11});
}

TEST_CASE("a ring neither sends nor receives after its work, and waits for what is missing") {
  Half half;
  while (*half.ring.Advance()) {
  }
  REQUIRE_FALSE(half.ring.done());
  REQUIRE_FALSE(half.ring.sends());
  REQUIRE(half.ring.receives());
}

TEST_CASE("a neighbour that closes the connection is named") {
  SECTION("the previous one") {
    Half half;
    ::shutdown(half.from[1], SHUT_RDWR);
    const auto end = half.ring.Advance();
    REQUIRE(absl::IsUnavailable(end.status()));
    REQUIRE(Mentions(end.status(), "rank 1 was lost"));
  }
  SECTION("the next one") {
    Half half;
    ::shutdown(half.to[1], SHUT_RDWR);
    const auto end = half.ring.Advance();
    REQUIRE(absl::IsUnavailable(end.status()));
    REQUIRE(Mentions(end.status(), "rank 1 was lost"));
  }
}

TEST_CASE("a neighbour in another call is out of step, and nothing of its array is added") {
  for (CallHeader other : {CallHeader{.kind = CallKind::kMax, .sequence = 3, .bytes = 40},
                           CallHeader{.kind = CallKind::kSumFloat, .sequence = 4, .bytes = 40},
                           CallHeader{.kind = CallKind::kSumFloat, .sequence = 3, .bytes = 44},
                           CallHeader{.kind = CallKind::kSumFloat, .magic = 5, .sequence = 3}}) {
    Half half;
    REQUIRE(::send(half.from[1], &other, sizeof other, 0) == sizeof other);
    REQUIRE(::send(half.from[1], half.values.data(), 40, 0) == 40);
    const auto end = half.ring.Advance();
    REQUIRE(absl::IsInternal(end.status()));
    REQUIRE(Mentions(end.status(), "rank 1 is out of step"));
    REQUIRE(half.values == std::vector<float>(10, 1.0F));
  }
}

TEST_CASE("what is out of step is told by the names of both calls") {
  const CallHeader own = {.kind = CallKind::kBarrier, .sequence = 3};
  const CallHeader other = {
      .kind = CallKind::kSumFloat, .sequence = 4, .bytes = 40, .around_ring = 1};
  REQUIRE(
      OutOfStep("rank 1", other, own).message() ==
      "rank 1 is out of step: call 4 (sum of floats) of 40 bytes around the ring against call 3 "
      "(barrier) of 0 bytes over rank 0");
  REQUIRE(Mentions(OutOfStep("rank 1", {.kind = CallKind{77}}, own), "(unknown kind 77)"));
}

}  // namespace
}  // namespace shoal::collectives
