// SPDX-License-Identifier: Apache-2.0
// `shoal` as a person starts it: a real process with real children, in a folder of its own.
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
  // `arguments` follow the program's name. Runs are written to a temporary folder, gone afterwards
  // unless the test failed.
  explicit ShoalRun(std::vector<std::string> arguments);
  ~ShoalRun();
  ShoalRun(const ShoalRun&) = delete;
  ShoalRun& operator=(const ShoalRun&) = delete;

  // False when it still runs after `limit`.
  bool WaitForExit(std::chrono::seconds limit);
  // REQUIRES: WaitForExit was true.
  cli::ExitState exit() const { return *exit_; }
  // All that it printed, standard output and error together.
  std::string output() const;
  // The last line that it printed.
  std::string last_line() const;
  // The text of a file below the run directory; empty when it is not there.
  std::string File(const std::string& name) const;
  std::string folder() const { return folder_; }

  // Newest values of metrics.jsonl.
  double environment_steps() const { return Last("metrics.jsonl", "environment_steps"); }
  double updates() const { return Last("metrics.jsonl", "updates"); }
  // `key` of the last line of a .jsonl file below the run directory; 0 when it is not there.
  double Last(const std::string& file, const std::string& key) const;
  // Lines of metrics.jsonl.
  std::size_t recorded_rows() const;

  // Pids of what this run started; `program`: "actor", ...; empty: all.
  std::vector<pid_t> Children(const std::string& program = "") const;
  // As Ctrl-C does.
  void Interrupt();
  // As a crash does: SIGKILL to shoal alone.
  void Kill();

 private:
  std::string folder_;
  std::unique_ptr<cli::ChildProcess> process_;
  std::optional<cli::ExitState> exit_;
};

// `shoal` with these arguments, run to its end, which REQUIREs to come within a minute. The exit
// code is -1 where a signal ended it.
struct EndedRun {
  int code = -1;
  std::string output = {};
  std::string last_line = {};

  bool Says(const std::string& words) const { return output.find(words) != std::string::npos; }
};
EndedRun RunToEnd(std::vector<std::string> arguments);

// Asks again every 50 ms until `condition` holds; false after `limit`, or at `deadline`.
bool Eventually(std::chrono::seconds limit, const std::function<bool()>& condition);
bool Eventually(std::chrono::steady_clock::time_point deadline,
                const std::function<bool()>& condition);

// The number after `key`= in a result line; -1 when it is not there.
double NumberIn(const std::string& line, const std::string& key);

}  // namespace shoal::tests
