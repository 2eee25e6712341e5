// SPDX-License-Identifier: Apache-2.0
#include "platform/runtime/program.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

namespace shoal::runtime {
namespace {

// Runs a process that parses its flags, writes a byte and calls `then`. Sends it SIGTERM after the
// byte and returns its exit code.
template <typename Then>
int ExitCodeAfterSignal(const Then& then) {
  int ready[2];
  REQUIRE(::pipe(ready) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    Program program("test", "A process that is asked to end.");
    char name[] = "test";
    char* arguments[] = {name, nullptr};
    if (program.Parse(1, arguments)) ::_exit(99);
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
  REQUIRE(ExitCodeAfterSignal([](Program&) {
            for (;;) ::pause();
            return 7;
          }) == 0);
}

}  // namespace shoal::runtime
