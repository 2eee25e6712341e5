// SPDX-License-Identifier: Apache-2.0
#include "rl/collectives/gathered_bytes.h"

#include <catch2/catch.hpp>

#include "platform/runtime/random.h"
#include "tests/doubles/ranks.h"

namespace shoal::collectives {
namespace {

// Bytes of every value, among them those of floats that are no numbers.
std::string SomeBytes(std::size_t rank, std::size_t size) {
  runtime::Random random(rank + 1);
  std::string bytes(size, '\0');
  for (char& byte : bytes)
    byte = random.Below(3) == 0 ? '\xff' : static_cast<char>(random.Below(256));
  return bytes;
}

// What every rank got of ranks that had so much to send.
void RequireGathered(const std::vector<std::size_t>& sizes, std::int64_t ring_min_bytes) {
  std::vector<std::string> expected;
  for (std::size_t rank = 0; rank < sizes.size(); ++rank) {
    expected.push_back(SomeBytes(rank, sizes[rank]));
  }
  std::vector<std::vector<std::string>> got(sizes.size());
  const auto ends = doubles::TryRanks(
      sizes.size(),
      [&](std::size_t rank, GradientReducer& reducer) {
        SHOAL_ASSIGN_OR_RETURN(got[rank], GatherBytes(reducer, expected[rank], 1 << 26));
        return absl::OkStatus();
      },
      doubles::PatientGroup(ring_min_bytes));
  for (std::size_t rank = 0; rank < sizes.size(); ++rank) {
    INFO(ends[rank]);
    REQUIRE(ends[rank].ok());
    REQUIRE(got[rank] == expected);
  }
}

TEST_CASE("every rank gets the bytes of all, whatever their lengths, over rank 0 and a ring") {
  const std::int64_t ring_min_bytes = GENERATE(0, 1);
  const std::vector<std::size_t> sizes = GENERATE(
      std::vector<std::size_t>{5}, std::vector<std::size_t>{0, 0}, std::vector<std::size_t>{1, 0},
      std::vector<std::size_t>{3, 4, 5}, std::vector<std::size_t>{0, 1000, 1, 0, 17});
  RequireGathered(sizes, ring_min_bytes);
}

TEST_CASE("what is larger than one array comes in several") {
  RequireGathered({(std::size_t{8} << 20) + 3, 5}, 1);
}

TEST_CASE("a rank with more bytes than allowed is named on all ranks") {
  const auto ends = doubles::TryRanks(2, [](std::size_t rank, GradientReducer& reducer) {
    return GatherBytes(reducer, SomeBytes(rank, 10 + rank), 10).status();
  });
  for (const absl::Status& end : ends) {
    REQUIRE(absl::IsResourceExhausted(end));
    REQUIRE(doubles::Mentions(end, "rank 1 has 11 bytes for the others, the limit is 10"));
  }
}

}  // namespace
}  // namespace shoal::collectives
