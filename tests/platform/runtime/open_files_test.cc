// SPDX-License-Identifier: Apache-2.0
#include "platform/runtime/open_files.h"

#include <sys/resource.h>

#include <catch2/catch.hpp>

namespace shoal::runtime {
namespace {

TEST_CASE("a process may have as many files open as its hard limit says") {
  rlimit before = {};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  rlimit low = before;
  low.rlim_cur = before.rlim_max / 2;
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &low) == 0);
  AllowAllOpenFiles();
  rlimit after = {};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &after) == 0);
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
  REQUIRE(after.rlim_cur == before.rlim_max);
  REQUIRE(after.rlim_max == before.rlim_max);
}

}  // namespace
}  // namespace shoal::runtime
