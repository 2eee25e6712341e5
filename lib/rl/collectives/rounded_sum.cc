// SPDX-License-Identifier: Apache-2.0
#include "rl/collectives/rounded_sum.h"

#include <bit>

#include "platform/runtime/bfloat16.h"

namespace shoal::collectives {
namespace {

using runtime::FromBFloat16;
using runtime::ToBFloat16;

// Returns what rounding has taken, or 0 where that is not finite.
float Taken(float sum, std::uint16_t rounded) {
  const auto bits = std::bit_cast<std::uint32_t>(sum - FromBFloat16(rounded));
  return std::bit_cast<float>((bits & 0x7f800000) == 0x7f800000 ? 0U : bits);
}

}  // namespace

// This file is compiled with -O3, which makes vector code of the loops.
RoundedSum::RoundedSum(std::span<const float> values, std::span<float> residual,
                       std::span<std::uint16_t> rounded)
    : residual_(residual), rounded_(rounded) {
  float* __restrict__ const own = residual_.data();
  const float* __restrict__ const given = values.data();
  for (std::size_t i = 0; i < values.size(); ++i) own[i] += given[i];
}

void RoundedSum::RoundFirst(const RankShare& part) {
  float* __restrict__ const own = residual_.data() + part.begin;
  std::uint16_t* __restrict__ const to = rounded_.data() + part.begin;
  for (std::size_t i = 0; i < part.size; ++i) {
    to[i] = ToBFloat16(own[i]);
    own[i] = Taken(own[i], to[i]);
  }
}

Elementwise RoundedSum::operation() {
  return {.element_bytes = sizeof(std::uint16_t), .combine = Combine, .state = this};
}

void RoundedSum::Combine(void* self, std::byte* into, const std::byte* part, std::size_t bytes) {
  const RoundedSum& sum = *static_cast<RoundedSum*>(self);
  std::uint16_t* __restrict__ const to = reinterpret_cast<std::uint16_t*>(into);
  const std::uint16_t* __restrict__ const came = reinterpret_cast<const std::uint16_t*>(part);
  float* __restrict__ const own = sum.residual_.data() + (to - sum.rounded_.data());
  const std::size_t count = bytes / sizeof(std::uint16_t);
  for (std::size_t i = 0; i < count; ++i) {
    const float both = own[i] + FromBFloat16(came[i]);
    to[i] = ToBFloat16(both);
    own[i] = Taken(both, to[i]);
  }
}

void Widen(std::span<const std::uint16_t> rounded, std::span<float> values) {
  const std::uint16_t* __restrict__ const from = rounded.data();
  float* __restrict__ const to = values.data();
  for (std::size_t i = 0; i < values.size(); ++i) to[i] = FromBFloat16(from[i]);
}

}  // namespace shoal::collectives
