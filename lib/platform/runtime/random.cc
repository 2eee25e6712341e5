// SPDX-License-Identifier: Apache-2.0
#include "platform/runtime/random.h"

#include <cmath>
#include <numbers>

namespace shoal::runtime {
namespace {

std::uint32_t Low(std::uint64_t value) { return static_cast<std::uint32_t>(value); }
std::uint32_t High(std::uint64_t value) { return static_cast<std::uint32_t>(value >> 32); }

std::uint64_t Join(std::uint32_t high, std::uint32_t low) {
  return (static_cast<std::uint64_t>(high) << 32) | low;
}

double ToUnit(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1.0p-53; }

}  // namespace

std::array<std::uint32_t, 4> Philox(const std::array<std::uint32_t, 4>& counter,
                                    std::uint64_t key) {
  std::array<std::uint32_t, 4> c = counter;
  std::uint32_t k0 = Low(key);
  std::uint32_t k1 = High(key);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = std::uint64_t{0xD2511F53} * c[0];
    const std::uint64_t p1 = std::uint64_t{0xCD9E8D57} * c[2];
    c = {High(p1) ^ c[1] ^ k0, Low(p1), High(p0) ^ c[3] ^ k1, Low(p0)};
    k0 += 0x9E3779B9;
    k1 += 0xBB67AE85;
  }
  return c;
}

std::uint64_t DeriveSeed(std::uint64_t seed, std::string_view purpose) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : purpose) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3;
  }
  const auto words = Philox({Low(hash), High(hash), 0, 0}, seed);
  return Join(words[0], words[1]);
}

double UniformAt(std::uint64_t seed, std::uint64_t environment, std::uint64_t episode,
                 std::uint32_t step) {
  const auto mixed = Philox({Low(environment), High(environment), 0x41435400, 0}, seed);
  const auto words =
      Philox({Low(episode), High(episode), step, mixed[0]}, Join(mixed[1], mixed[2]));
  return ToUnit(Join(words[0], words[1]));
}

std::uint64_t Random::operator()() {
  const auto words = Philox({Low(counter_), High(counter_), Low(stream_), High(stream_)}, seed_);
  ++counter_;
  return Join(words[0], words[1]);
}

double Random::Uniform() { return ToUnit((*this)()); }

std::uint64_t Random::Below(std::uint64_t bound) {
  const std::uint64_t threshold = (~bound + 1) % bound;
  for (;;) {
    const std::uint64_t draw = (*this)();
    if (draw >= threshold) return draw % bound;
  }
}

double Random::Normal() {
  const double u = 1.0 - Uniform();
  const double v = Uniform();
  return std::sqrt(-2.0 * std::log(u)) * std::cos(2.0 * std::numbers::pi * v);
}

}  // namespace shoal::runtime
