// SPDX-License-Identifier: Apache-2.0
#include "platform/runtime/large_memory.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <cstring>
#include <limits>
#include <new>
#include <optional>
#include <vector>

namespace shoal::runtime {
namespace {

constexpr std::size_t kMebibyte = std::size_t{1} << 20;

TEST_CASE("large memory begins at a page and has whole pages") {
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, 3 * kMebibyte + 1}) {
    const auto memory = NewLargeMemory(bytes);
    REQUIRE(reinterpret_cast<std::uintptr_t>(memory.get()) % 4096 == 0);
    std::memset(memory.get(), 1, (bytes + 4095) / 4096 * 4096);
  }
}

TEST_CASE("more memory than there is is an error of its own") {
  REQUIRE_THROWS_AS(NewLargeMemory(std::numeric_limits<std::size_t>::max()), std::bad_alloc);
}

TEST_CASE("a pool gives a block again once its last owner has let go, for as many bytes alone") {
  LargeMemoryPool pool;
  auto first = pool.Take(3 * kMebibyte);
  const char* const begin = first.get();
  std::strcpy(first.get(), "still there");
  auto copy = first;
  first = nullptr;
  const auto other = pool.Take(3 * kMebibyte);
  REQUIRE(other.get() != begin);
  copy = nullptr;
  REQUIRE(pool.Take(2 * kMebibyte).get() != begin);
  const auto again = pool.Take(3 * kMebibyte);
  REQUIRE(again.get() == begin);
  REQUIRE(std::strcmp(again.get(), "still there") == 0);
}

TEST_CASE("a large copy is whole, however many threads share it") {
  const std::size_t bytes = GENERATE(std::size_t{0}, std::size_t{1}, std::size_t{4097},
                                     9 * kMebibyte + 5, 16 * kMebibyte);
  const int threads = GENERATE(0, 1, 2, 3, 64);
  std::vector<char> from(bytes);
  for (std::size_t i = 0; i < bytes; ++i) from[i] = static_cast<char>(i * 2654435761U >> 24);
  std::vector<char> to(bytes + 1, 'x');
  CopyLarge(to.data(), from.data(), bytes, threads);
  REQUIRE(to.back() == 'x');
  to.pop_back();
  REQUIRE((to == from));
}

TEST_CASE("a block outlives the pool that it is from") {
  std::optional<LargeMemoryPool> pool(std::in_place);
  const auto block = pool->Take(kMebibyte);
  pool.reset();
  std::memset(block.get(), 1, kMebibyte);
}

}  // namespace
}  // namespace shoal::runtime
