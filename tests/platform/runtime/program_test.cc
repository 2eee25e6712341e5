// SPDX-License-Identifier: Apache-2.0
#include "platform/runtime/program.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace shoal::runtime {
namespace {

// Runs a process that parses its `flags`, writes a byte and calls `then`. Sends it SIGTERM after
// the byte and returns its exit code.
template <typename Then>
int ExitCodeAfterSignal(std::vector<std::string> flags, const Then& then) {
  int ready[2];
  REQUIRE(::pipe(ready) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    Program program("test", "A process that is asked to end.");
    flags.insert(flags.begin(), "test");
    std::vector<char*> arguments;
    for (std::string& flag : flags) arguments.push_back(flag.data());
    arguments.push_back(nullptr);
    if (program.Parse(static_cast<int>(flags.size()), arguments.data())) ::_exit(99);
    if (::write(ready[1], "x", 1) != 1) ::_exit(98);
    ::_exit(then(program));
  }
  char byte = 0;
  REQUIRE(::read(ready[0], &byte, 1) == 1);
  REQUIRE(::kill(child, SIGTERM) == 0);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  ::close(ready[0]);
  ::close(ready[1]);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

TEST_CASE("a stop request ends a process that is still starting") {
  const auto start_forever = [](Program&) {
    for (;;) ::pause();
    return 7;
  };
  REQUIRE(ExitCodeAfterSignal({}, start_forever) == 0);
  REQUIRE(ExitCodeAfterSignal({"--stop-code", "143"}, start_forever) == 143);
}

TEST_CASE("the exit code after a stop request is 0, or the one that was asked for") {
  const auto wait = [](Program& program) { return program.WaitForStop(); };
  REQUIRE(ExitCodeAfterSignal({}, wait) == 0);
  REQUIRE(ExitCodeAfterSignal({"--stop-code", "143"}, wait) == 143);
}

}  // namespace shoal::runtime
