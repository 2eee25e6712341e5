// SPDX-License-Identifier: Apache-2.0
#include "learner/unrolls/quarantine.h"

#include <catch2/catch.hpp>
#include <cstdint>

#include "platform/runtime/atomic_file.h"
#include "tests/doubles/temporary_folder.h"

namespace shoal::learner {
namespace {

using parameters::VersionRange;

}  // namespace

TEST_CASE("the versions after a checkpoint end with the one that is served") {
  REQUIRE(VersionsAfter({3, 5}, {3, 9}, false) == VersionRange{{3, 6}, {3, 9}});
  REQUIRE_FALSE(VersionsAfter({3, 9}, {3, 9}, true));
  REQUIRE_FALSE(VersionsAfter({3, 9}, {3, 8}, true));
  REQUIRE_FALSE(VersionsAfter({4, 0}, {3, 8}, true));
}

TEST_CASE("an epoch that began from the checkpoint shares its first version with it") {
  REQUIRE(VersionsAfter({3, 5}, {7, 2}, true) == VersionRange{{7, 1}, {7, 2}});
  REQUIRE_FALSE(VersionsAfter({3, 5}, {7, 0}, true));
}

TEST_CASE("behind an older checkpoint all epochs since are condemned, however far apart they are") {
  REQUIRE(VersionsAfter({3, 5}, {5, 2}, false) == VersionRange{{3, 6}, {5, 2}});
  const VersionRange far = VersionsAfter({3, 5}, {1'800'000'000'000, 2}, false).value();
  REQUIRE_FALSE(far.Contains({3, 5}));
  REQUIRE(far.Contains({3, 6}));
  REQUIRE(far.Contains({4, 0}));
  REQUIRE(far.Contains({1'799'999'999'000, 7}));
  REQUIRE(far.Contains({1'800'000'000'000, 2}));
  REQUIRE_FALSE(far.Contains({1'800'000'000'000, 3}));
}

TEST_CASE("condemned versions are known after a restart") {
  const doubles::TemporaryFolder folder;
  auto quarantine = Quarantine::Read(folder.At("quarantine")).value();
  REQUIRE_FALSE(quarantine.Contains({3, 6}));
  quarantine.Add({{3, 6}, {3, 9}});
  quarantine.Add({{4, 2}, {6, 1}});
  REQUIRE(quarantine.Write().ok());
  const auto read = Quarantine::Read(folder.At("quarantine")).value();
  for (std::uint64_t epoch = 2; epoch < 8; ++epoch) {
    for (std::uint64_t step = 0; step < 12; ++step) {
      const bool condemned = (epoch == 3 && step >= 6 && step <= 9) || (epoch == 4 && step >= 2) ||
                             epoch == 5 || (epoch == 6 && step <= 1);
      REQUIRE(quarantine.Contains({epoch, step}) == condemned);
      REQUIRE(read.Contains({epoch, step}) == condemned);
    }
  }
  // Lines of one epoch have three numbers.
  REQUIRE(*runtime::ReadFile(folder.At("quarantine")) == "3 6 9\n4 2 1 6\n");
}

TEST_CASE("a line that is no range is named") {
  const doubles::TemporaryFolder folder;
  for (const char* line :
       {"3 6", "3 9 6", "3 6 9 1", "3 6 9 4 1", "3 6 x", "3 6 9 x", "three 6 9"}) {
    REQUIRE(
        runtime::WriteFileAtomically(folder.At("quarantine"), std::string("1 1 1\n") + line).ok());
    const auto read = Quarantine::Read(folder.At("quarantine"));
    REQUIRE(absl::IsDataLoss(read.status()));
    REQUIRE(runtime::Message(read.status()).find("quarantine, line 2: ") != std::string::npos);
  }
}

}  // namespace shoal::learner
