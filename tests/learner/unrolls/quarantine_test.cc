// SPDX-License-Identifier: Apache-2.0
#include "learner/unrolls/quarantine.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <limits>

#include "platform/runtime/atomic_file.h"
#include "tests/doubles/temporary_folder.h"

namespace shoal::learner {
namespace {

constexpr std::uint64_t kLast = std::numeric_limits<std::uint64_t>::max();
using Ranges = std::vector<VersionRange>;

}  // namespace

TEST_CASE("the versions after a checkpoint end with the one that is served") {
  REQUIRE(VersionsAfter({3, 5}, {3, 9}, false) == Ranges{{3, 6, 9}});
  REQUIRE(VersionsAfter({3, 9}, {3, 9}, true).empty());
  REQUIRE(VersionsAfter({3, 9}, {3, 8}, true).empty());
}

TEST_CASE("an epoch that began from the checkpoint shares its first version with it") {
  REQUIRE(VersionsAfter({3, 5}, {7, 2}, true) == Ranges{{7, 1, 2}});
  REQUIRE(VersionsAfter({3, 5}, {7, 0}, true).empty());
}

TEST_CASE("behind an older checkpoint whole epochs are condemned") {
  REQUIRE(VersionsAfter({3, 5}, {5, 2}, false) == Ranges{{3, 6, kLast}, {4, 0, kLast}, {5, 0, 2}});
}

TEST_CASE("of epochs that are far apart the last ones are condemned") {
  const Ranges ranges = VersionsAfter({3, 5}, {1'800'000'000'000, 2}, false);
  REQUIRE(ranges.size() == 1002);
  REQUIRE(ranges.front() == VersionRange{3, 6, kLast});
  REQUIRE(ranges[1] == VersionRange{1'799'999'999'000, 0, kLast});
  REQUIRE(ranges.back() == VersionRange{1'800'000'000'000, 0, 2});
}

TEST_CASE("condemned versions are known after a restart") {
  const doubles::TemporaryFolder folder;
  auto quarantine = Quarantine::Read(folder.At("quarantine")).value();
  REQUIRE_FALSE(quarantine.Contains({3, 6}));
  quarantine.Add(Ranges{{3, 6, 9}, {4, 0, kLast}});
  REQUIRE(quarantine.Write().ok());
  const auto read = Quarantine::Read(folder.At("quarantine")).value();
  for (std::uint64_t epoch = 2; epoch < 6; ++epoch) {
    for (std::uint64_t step = 0; step < 12; ++step) {
      const bool condemned = (epoch == 3 && step >= 6 && step <= 9) || epoch == 4;
      REQUIRE(quarantine.Contains({epoch, step}) == condemned);
      REQUIRE(read.Contains({epoch, step}) == condemned);
    }
  }
  REQUIRE(read.Contains({4, kLast}));
}

TEST_CASE("a line that is no range is named") {
  const doubles::TemporaryFolder folder;
  for (const char* line : {"3 6", "3 9 6", "3 6 9 1", "3 6 x", "three 6 9"}) {
    REQUIRE(
        runtime::WriteFileAtomically(folder.At("quarantine"), std::string("1 1 1\n") + line).ok());
    const auto read = Quarantine::Read(folder.At("quarantine"));
    REQUIRE(absl::IsDataLoss(read.status()));
    REQUIRE(runtime::Message(read.status()).find("quarantine, line 2: ") != std::string::npos);
  }
}

}  // namespace shoal::learner
