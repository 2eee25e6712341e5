// SPDX-License-Identifier: Apache-2.0
// Runs `shoal` as a person starts it: a real process with real children, in a folder of its own.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/cluster/child_process.h"

namespace shoal::tests {

class ShoalRun {
 public:
  // `arguments` follow the program's name. Runs are written to a temporary folder, which is removed
  // unless the test failed. The programs are those of the folder `programs`, or those that were
  // built if it is empty.
  explicit ShoalRun(std::vector<std::string> arguments, const std::string& programs = "");
  ~ShoalRun();
  ShoalRun(const ShoalRun&) = delete;
  ShoalRun& operator=(const ShoalRun&) = delete;

  // Returns false if it still runs after `limit`.
  bool WaitForExit(std::chrono::seconds limit);
  // REQUIRES: WaitForExit has returned true.
  cli::ExitState exit() const { return *exit_; }
  // Returns all that it printed to standard output and standard error.
  std::string output() const;
  // Returns the last line that it printed.
  std::string last_line() const;
  // Returns the text of a file in the run directory, or an empty text if there is none.
  std::string File(const std::string& name) const;
  std::string folder() const { return folder_; }

  // Return the newest values of metrics.jsonl.
  double environment_steps() const { return Last("metrics.jsonl", "environment_steps"); }
  double updates() const { return Last("metrics.jsonl", "updates"); }
  // Returns `key` of the last line of a .jsonl file in the run directory, or 0 if it is not there.
  double Last(const std::string& file, const std::string& key) const;
  // Returns the number of lines of metrics.jsonl.
  std::size_t recorded_rows() const;

  // Returns the process ids of this run's children: those of `program` ("actor", ...), or all if it
  // is empty.
  std::vector<pid_t> Children(const std::string& program = "") const;
  // Ends the run as Ctrl-C does.
  void Interrupt();
  // Ends shoal alone by SIGKILL, as a crash does.
  void Kill();
  // Goes on with this run, which has ended: `shoal train --resume`, with `more` arguments.
  void Resume(const std::vector<std::string>& more = {});

 private:
  void Start(std::vector<std::string> arguments);

  std::string folder_;
  const std::string programs_;
  std::unique_ptr<cli::ChildProcess> process_;
  std::optional<cli::ExitState> exit_;
};

// The result of `shoal` with some arguments, which is REQUIREd to end within the limit. The exit
// code is -1 if a signal ended it.
struct EndedRun {
  int code = -1;
  std::string output = {};
  std::string last_line = {};

  bool Says(const std::string& words) const { return output.find(words) != std::string::npos; }
};
EndedRun RunToEnd(std::vector<std::string> arguments,
                  std::chrono::seconds limit = std::chrono::seconds(60));

// Polls every 50 ms until `condition` holds. Returns false after `limit` or at `deadline`.
bool Eventually(std::chrono::seconds limit, const std::function<bool()>& condition);
bool Eventually(std::chrono::steady_clock::time_point deadline,
                const std::function<bool()>& condition);

// Returns the number after `key`= in a result line, or -1 if it is not there.
double NumberIn(const std::string& line, const std::string& key);
// Returns how often `words` begin in `text`.
std::size_t Count(const std::string& text, const std::string& words);

}  // namespace shoal::tests
