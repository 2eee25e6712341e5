// SPDX-License-Identifier: Apache-2.0
// Random draws as functions of their purpose: the same (seed, stream, counters) gives the same
// number on every machine, in whatever order the numbers are requested.
//
// Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

namespace shoal::runtime {

// Returns the block of four 32-bit words for a 128-bit counter under a 64-bit key.
std::array<std::uint32_t, 4> Philox(const std::array<std::uint32_t, 4>& counter, std::uint64_t key);

// Derives a seed for a named purpose, so that two purposes never share draws.
std::uint64_t DeriveSeed(std::uint64_t seed, std::string_view purpose);

// Returns a number uniform in [0, 1) for (environment, episode, step) under `seed`.
double UniformAt(std::uint64_t seed, std::uint64_t environment, std::uint64_t episode,
                 std::uint32_t step);

// A sequence of draws. Not thread-safe. Satisfies std::uniform_random_bit_generator.
class Random {
 public:
  using result_type = std::uint64_t;

  // Sequences with different (seed, stream) are independent.
  explicit Random(std::uint64_t seed, std::uint64_t stream = 0) : seed_(seed), stream_(stream) {}

  std::uint64_t operator()();
  // Returns a number uniform in [0, 1) with 53 random bits.
  double Uniform();
  // Returns a number uniform in [0, bound). REQUIRES: bound >= 1.
  std::uint64_t Below(std::uint64_t bound);
  // Returns a standard normal number.
  double Normal();

  static constexpr std::uint64_t min() { return 0; }
  static constexpr std::uint64_t max() { return ~std::uint64_t{0}; }

 private:
  std::uint64_t seed_;
  std::uint64_t stream_;
  std::uint64_t counter_ = 0;
};

// Shuffles `items`; every order is equally likely. It draws once for each position from the last to
// the second, so that the order is a function of the random sequence and the number of items
// (Durstenfeld, "Algorithm 235: Random permutation", CACM 7(7), 1964).
template <typename Item>
void Shuffle(std::span<Item> items, Random& random) {
  for (std::size_t i = items.size(); i > 1; --i) {
    std::swap(items[i - 1], items[static_cast<std::size_t>(random.Below(i))]);
  }
}

}  // namespace shoal::runtime
