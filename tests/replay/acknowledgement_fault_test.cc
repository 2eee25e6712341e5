// SPDX-License-Identifier: Apache-2.0
#include "replay/acknowledgement_fault.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <string>

#include "tests/doubles/manual_clock.h"
#include "tests/doubles/temporary_folder.h"

namespace shoal::replay {
namespace {

using std::chrono::milliseconds;

TEST_CASE("the fault withholds one acknowledgement, and none when it is off") {
  doubles::ManualClock clock;
  AcknowledgementFault fault(2, "/nonexistent/marker", clock);
  REQUIRE_FALSE(fault.Withhold());
  fault.DieIfDue();
  REQUIRE(fault.Withhold());
  REQUIRE_FALSE(fault.Withhold());
  clock.Advance(milliseconds(299));
  fault.DieIfDue();
  AcknowledgementFault off(0, "", clock);
  REQUIRE_FALSE(off.Withhold());
  clock.Advance(milliseconds(1000));
  off.DieIfDue();
}

TEST_CASE("the fault kills the process 300 ms later, once a run") {
  const doubles::TemporaryFolder folder;
  const std::string marker = folder.At("replay-0.killed");
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    doubles::ManualClock clock;
    AcknowledgementFault fault(1, marker, clock);
    const bool withheld = fault.Withhold();
    clock.Advance(milliseconds(300));
    if (withheld) fault.DieIfDue();
    _exit(0);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFSIGNALED(status));
  REQUIRE(WTERMSIG(status) == SIGKILL);
  doubles::ManualClock clock;
  AcknowledgementFault again(1, marker, clock);
  REQUIRE_FALSE(again.Withhold());
}

}  // namespace
}  // namespace shoal::replay
