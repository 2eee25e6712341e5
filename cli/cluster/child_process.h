// SPDX-License-Identifier: Apache-2.0
// A child process: one program in a process group of its own, with its output in a log file.
//
// The kernel kills the child when the thread that started it dies in any way, so nothing outlives
// `shoal`. Children must therefore be started from the main thread. Not thread-safe. The destructor
// kills and reaps a child that still runs.
#pragma once

#include <sys/types.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "platform/runtime/status.h"

namespace shoal::cli {

struct ProcessSpec {
  // The name in messages and of the log, as in "replay-0".
  std::string name;
  // Path of the program and its arguments.
  std::vector<std::string> command;
  // The file that standard output and error are appended to. Empty means /dev/null.
  std::string log_path = {};
  // Whether exit code 0 means that the program's work is done, so that it must not be started
  // again.
  bool finishes = false;
  // The parts of the program that can be stopped before the rest of it, by the stage (supervisor.h)
  // that each belongs to. Such a program takes orders on its standard input, a line "stop NAME"
  // each, and answers "done stop NAME" on its standard output. There it also says "finished" when
  // its work is done. Empty for a program without parts, whose output is all in the log.
  std::map<int, std::string> parts = {};
};

// How a child ended: exactly one of the two is set.
struct ExitState {
  std::optional<int> code;
  std::optional<int> signal;
};

// Whether the process said that its configuration is wrong, or something that it needs at its start
// is in the way (kExitConfiguration, kExitPermanent).
bool IsHopeless(const ExitState& state);

// Waits until a child ends or 20 ms have passed; the former is noticed only while SIGCHLD is
// blocked.
void WaitForChild();

// Returns a text such as "exit code 2" or "signal 9 (Killed)".
std::string ToString(const ExitState& state);

class ChildProcess {
 public:
  // Starts the program. Returns INVALID_ARGUMENT for an empty command, NOT_FOUND when the program
  // is missing, and INTERNAL when the system refuses.
  static absl::StatusOr<std::unique_ptr<ChildProcess>> Start(const ProcessSpec& spec);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  pid_t pid() const { return pid_; }
  // Returns how the child ended, or nothing while it runs. Does not wait.
  std::optional<ExitState> Poll();
  // Sends SIGTERM to the program, which must stop its own children.
  void RequestStop();
  // Sends SIGKILL to the child's whole process group.
  void Kill();
  // Gives a program with parts an order. What it does not take at once, or ever, is lost.
  void Order(const std::string& order);
  // Returns the lines that a program with parts has answered since the last call. Does not wait.
  std::vector<std::string> TakeAnswers();

 private:
  ChildProcess(pid_t pid, int orders, int answers)
      : pid_(pid), orders_(orders), answers_(answers) {}

  const pid_t pid_;
  // Our ends of the pipes to a program with parts, or -1.
  const int orders_;
  const int answers_;
  // The beginning of a line whose end has not come yet.
  std::string unfinished_;
  std::optional<ExitState> exit_;
};

// Runs `command` to its end. Returns its standard output when it ends with code 0, otherwise an
// error with its standard error, without the blanks at the end. The error is INVALID_ARGUMENT for
// the exit codes kExitConfiguration and kExitPermanent.
absl::StatusOr<std::string> RunToEnd(const std::vector<std::string>& command);
// The same for several commands, which run side by side. Returns when all have ended, with the
// outcome of each in their order.
std::vector<absl::StatusOr<std::string>> RunAllToEnd(
    const std::vector<std::vector<std::string>>& commands);

// Returns, in one line, why the process that wrote the log at `path` failed: the message of its
// last event=failed, or else its last line.
std::string LastFailure(const std::string& path);

// Returns the last `lines` lines of a file, or an empty string when it cannot be read.
std::string LastLines(const std::string& path, int lines);

}  // namespace shoal::cli
