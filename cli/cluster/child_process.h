// SPDX-License-Identifier: Apache-2.0
// One program started by this one, in a process group of its own, its output in a log file.
//
// The kernel kills the child when the thread that started it dies, however that happens, so nothing
// survives `shoal`: start children from the main thread. Not thread-safe. The destructor kills what
// still runs and reaps it.
#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "platform/runtime/status.h"

namespace shoal::cli {

struct ProcessSpec {
  // For messages and the log's name: "replay-0".
  std::string name;
  // Path of the program and its arguments.
  std::vector<std::string> command;
  // Standard output and error are appended here; empty: /dev/null.
  std::string log_path = {};
  // Exit code 0 means that its work is done, and nobody need start it again.
  bool finishes = false;
};

// How a child ended: exactly one of the two is set.
struct ExitState {
  std::optional<int> code;
  std::optional<int> signal;
};

// The process said that its configuration is wrong: starting it again is no use by itself.
bool IsHopeless(const ExitState& state);

// "exit code 2", "signal 9 (Killed)".
std::string ToString(const ExitState& state);

class ChildProcess {
 public:
  // INVALID_ARGUMENT for an empty command; NOT_FOUND when the program is missing; INTERNAL when the
  // system refuses.
  static absl::StatusOr<std::unique_ptr<ChildProcess>> Start(const ProcessSpec& spec);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  pid_t pid() const { return pid_; }
  // Nothing while it runs. Does not wait.
  std::optional<ExitState> Poll();
  // SIGTERM to the program; it tells its own children.
  void RequestStop();
  // SIGKILL to its whole process group.
  void Kill();

 private:
  explicit ChildProcess(pid_t pid) : pid_(pid) {}

  const pid_t pid_;
  std::optional<ExitState> exit_;
};

// Runs `command` to its end and returns its standard output when it ends with code 0, else an error
// that holds its standard error without the blanks at its end (INVALID_ARGUMENT for the
// exit codes kExitConfiguration and kExitPermanent).
absl::StatusOr<std::string> RunToEnd(const std::vector<std::string>& command);

// Why the process that wrote the log at `path` failed, in its own words and one line: the message
// of its last event=failed, else its last line.
std::string LastFailure(const std::string& path);

// The last `lines` lines of a file; empty when it cannot be read.
std::string LastLines(const std::string& path, int lines);

}  // namespace shoal::cli
