// SPDX-License-Identifier: Apache-2.0
#include "learner/unrolls/unroll_agreement.h"

#include <cstdint>
#include <set>
#include <span>

#include "platform/runtime/check.h"

namespace shoal::learner {
namespace {

// The use, which is at least 1, then three numbers in two halves each: a double holds 32 bits
// exactly, but not 64.
constexpr std::size_t kNumbers = 7;

void Write(const UnrollUse& key, double* place) {
  *place++ = static_cast<double>(key.use);
  for (const std::uint64_t number :
       {key.id.environment_id, key.id.incarnation, key.id.first_sequence}) {
    *place++ = static_cast<double>(number >> 32);
    *place++ = static_cast<double>(number & 0xffffffffU);
  }
}

std::uint64_t ReadNumber(const double* place) {
  return static_cast<std::uint64_t>(place[0]) << 32 | static_cast<std::uint64_t>(place[1]);
}

UnrollUse Read(const double* place) {
  return {.id = {ReadNumber(place + 1), ReadNumber(place + 3), ReadNumber(place + 5)},
          .use = static_cast<std::uint32_t>(place[0])};
}

}  // namespace

absl::Status AgreeOnUnrolls(collectives::GradientReducer& reducer, std::size_t share,
                            UnrollLedger& ledger, std::vector<DecodedUnroll>& unrolls) {
  if (reducer.world_size() == 1) return absl::OkStatus();
  const auto ranks = static_cast<std::size_t>(reducer.world_size());
  const auto own = static_cast<std::size_t>(reducer.rank());
  SHOAL_CHECK(unrolls.size() <= share);
  std::vector<double> table(ranks * share * kNumbers, 0.0);
  for (std::size_t i = 0; i < unrolls.size(); ++i) {
    Write(unrolls[i].key, &table[(own * share + i) * kNumbers]);
  }
  // Only one rank writes each place, so the sum is that rank's number.
  SHOAL_RETURN_IF_ERROR(reducer.AllReduceSum(std::span<double>(table)));
  std::set<UnrollUse> kept;
  for (const DecodedUnroll& unroll : unrolls) kept.insert(unroll.key);
  for (std::size_t place = 0; place < ranks * share; ++place) {
    const double* const numbers = &table[place * kNumbers];
    if (numbers[0] == 0 || place / share == own) continue;
    const UnrollUse key = Read(numbers);
    if (place / share < own) kept.erase(key);
    if (!kept.contains(key)) ledger.Add(key);
  }
  std::erase_if(unrolls, [&](const DecodedUnroll& unroll) { return !kept.contains(unroll.key); });
  return absl::OkStatus();
}

}  // namespace shoal::learner
