// SPDX-License-Identifier: Apache-2.0
// What every main() shares: flags, configuration, log, signals, exit codes.
//
//   runtime::Program program("replay", "Keeps trajectories between inference and learners.");
//   program.AddSection("replay", options);
//   if (const auto code = program.Parse(argc, argv)) return *code;
//   ... create in order ...
//   program.WaitForStop();
//   ... tear down in reverse ...
//
// SIGINT and SIGTERM are blocked in Parse, before any thread exists, and read by WaitForStop;
// before that, while the process is being put together, they end it at once with exit code 0. No
// code runs in a signal handler. Used from the main thread, except RequestStop.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "platform/runtime/clock.h"
#include "platform/runtime/cluster.h"
#include "platform/runtime/config.h"
#include "platform/runtime/status.h"
#include "platform/runtime/thread.h"

namespace shoal::runtime {

// Exit codes:
//   0   The work is done, or somebody asked the process to stop.
//   1   It failed at run time, and a restart may help.
//   2   Its flags or its configuration are wrong, or something that it needs at the start is in the
//       way: a port in use, a damaged file. A restart helps only where that goes away.
//   78  What it was told to work on is wrong or not there: INVALID_ARGUMENT and NOT_FOUND, as for a
//       capture that does not exist. No restart helps, and none is made. The number is EX_CONFIG
//       of sysexits.h.
inline constexpr int kExitFailed = 1;
inline constexpr int kExitConfiguration = 2;
inline constexpr int kExitPermanent = 78;

class Program {
 public:
  Program(std::string name, std::string description);
  ~Program();

  // Sections [run] and [cluster] are always there. `options` has Visit(Visitor&) and outlives this.
  template <typename Options>
  void AddSection(std::string name, Options& options) {
    config_.Add(std::move(name), options);
  }
  // A flag of this program's own, e.g. AddFlag("--world-size", world_size, "ranks on this node").
  void AddFlag(const std::string& name, std::int64_t& value, const std::string& help);
  void AddFlag(const std::string& name, std::string& value, const std::string& help);

  // Reads --config FILE, --set section.key=value (repeatable), --index N (or SHOAL_INDEX, or the
  // ordinal at the end of HOSTNAME when SHOAL_INDEX=hostname), --print-config, --version, --help
  // and own flags; sets the log up and logs the git revision and the effective configuration.
  // Returns an exit code when there is nothing to run.
  std::optional<int> Parse(int argc, char** argv);

  // Logs `status` and returns the exit code that fits it.
  int Fail(const absl::Status& status) const;

  // Blocks until SIGINT, SIGTERM or RequestStop. Returns the exit code that RequestStop gave, else
  // 0.
  int WaitForStop();
  // Thread-safe; the first call counts.
  void RequestStop(int exit_code);

  const RunOptions& run() const { return run_; }
  const ClusterOptions& cluster() const { return cluster_; }
  // Which of several processes of this kind this is.
  std::int64_t index() const { return index_; }
  const std::string& name() const { return name_; }
  // The effective configuration as TOML.
  std::string PrintConfig() const { return config_.Print(); }

 private:
  struct Flags;

  // Reads signals from Parse until WaitForStop.
  void WatchStart();
  void EndWatch();

  const std::string name_;
  const std::string description_;
  RunOptions run_;
  ClusterOptions cluster_;
  Config config_;
  std::unique_ptr<Flags> flags_;
  std::int64_t index_ = 0;
  int stop_fd_ = -1;
  int watch_end_fd_ = -1;
  Thread watch_;
  // Written once, before stop_fd_ becomes readable.
  static constexpr int kNoRequest = -1;
  std::atomic<int> requested_exit_code_{kNoRequest};
};

// Revision that the build was made from, "unknown" outside a checkout.
std::string GitRevision();

}  // namespace shoal::runtime
