// SPDX-License-Identifier: Apache-2.0
#include "replay/promises.h"

#include <catch2/catch.hpp>

#include "tests/doubles/manual_clock.h"

namespace shoal::replay {
namespace {

TEST_CASE("room is kept from others until the stream has sent its items, ends, or takes too long") {
  doubles::ManualClock clock;
  Promises promises(clock);
  const int first = 0;
  const int second = 0;
  promises.Make(&first, {"unrolls", "games"}, 3);
  REQUIRE(promises.ToOthers(&first, "unrolls") == 0);
  REQUIRE(promises.ToOthers(&second, "unrolls") == 3);
  REQUIRE(promises.ToOthers(&second, "games") == 3);
  REQUIRE(promises.ToOthers(&second, "plays") == 0);
  promises.Use(&first, 1);
  REQUIRE(promises.ToOthers(&second, "unrolls") == 2);
  promises.Use(&first, 7);
  REQUIRE(promises.ToOthers(&second, "unrolls") == 0);

  promises.Make(&first, {"unrolls"}, 3);
  promises.Make(&first, {"unrolls"}, 1);
  REQUIRE(promises.ToOthers(&second, "unrolls") == 1);
  promises.Drop(&first);
  REQUIRE(promises.ToOthers(&second, "unrolls") == 0);

  promises.Make(&second, {"unrolls"}, 1);
  clock.Advance(Promises::kPromised - std::chrono::milliseconds(1));
  REQUIRE(promises.ToOthers(&first, "unrolls") == 1);
  clock.Advance(std::chrono::milliseconds(1));
  REQUIRE(promises.ToOthers(&first, "unrolls") == 0);
}

}  // namespace
}  // namespace shoal::replay
