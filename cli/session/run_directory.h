// SPDX-License-Identifier: Apache-2.0
// runs/<name>/ holds everything that a run leaves behind. `shoal report` reads nothing else.
//
//   config.toml        effective configuration of all processes
//   run.json           name, command, git revision, start, and the same of each time it went on
//   lock               held by the program that writes the others
//   processes.json     the processes of the cluster, and where they serve metrics
//   metrics.jsonl      one object a second: what the status line shows, and every metric drawn
//   metrics_table.json what those metrics are
//   evaluations.jsonl  one object for each greedy evaluation while training
//   result.json        the evaluation at the end
//   report.html        learning curves and tables
//   events.out.tfevents.*   the same numbers for TensorBoard
//   logs/<process>.log evaluations/   and what the learner keeps: checkpoints/ parameters/ ...
//
// Not thread-safe.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "platform/runtime/status.h"

namespace shoal::cli {

// The processes that `shoal` started, and where each serves metrics.
inline constexpr char kProcessesFile[] = "processes.json";

class RunDirectory {
 public:
  // Makes <directory>/<name>/. Returns ALREADY_EXISTS when the run exists already.
  static absl::StatusOr<RunDirectory> Create(const std::string& directory, const std::string& name);
  // Opens <path>/ to go on with its run. NOT_FOUND where no run is that came as far as to write its
  // configuration, and FAILED_PRECONDITION while another program writes it.
  static absl::StatusOr<RunDirectory> Open(const std::string& path);

  // Lets a learner train again in whose folder one has left why training diverged.
  absl::Status ForgetDivergence() const;
  // Points the link <directory>/latest to this run.
  void BecomeLatest() const;

  const std::string& path() const { return path_; }

  // Replaces a file below the run directory.
  absl::Status Write(const std::string& name, std::string_view text) const;
  // Adds a line to a file below the run directory.
  absl::Status AppendLine(const std::string& name, std::string_view line) const;
  // Returns the last lines of a file that AppendLine wrote, at most 4 MiB of them, none if it is
  // not there. A line that was cut off at the end is removed from the file.
  absl::StatusOr<std::vector<std::string>> LastLines(const std::string& name) const;

 private:
  struct Lock;

  RunDirectory(std::string path, std::shared_ptr<const Lock> lock)
      : path_(std::move(path)), lock_(std::move(lock)) {}
  // Takes the lock of a run. The errors are those of Open.
  static absl::StatusOr<RunDirectory> LockAt(const std::string& path);

  std::string path_;
  std::shared_ptr<const Lock> lock_;
};

// Returns the folder with what the run at `path` has learned: that of its best version, or else
// that of its newest ones.
std::string LearnedParameters(const std::string& path);

// Returns <stem of the cluster file>-<UTC time>, as in "redfish-20260131-120000".
std::string DefaultRunName(const std::string& config_path);

}  // namespace shoal::cli
