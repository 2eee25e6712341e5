// SPDX-License-Identifier: Apache-2.0
// The part that every main() shares: flags, configuration, log, signals and exit codes.
//
//   runtime::Program program("replay", "Keeps trajectories between inference and learners.");
//   program.AddSection("replay", options);
//   if (const auto code = program.Parse(argc, argv)) return *code;
//   ... create in order ...
//   program.WaitForStop();
//   ... tear down in reverse ...
//
// Parse blocks SIGINT and SIGTERM before any thread exists, and WaitForStop reads them. A signal
// that comes before WaitForStop, while the process is being put together, ends it at once. The exit
// code after a signal is that of --stop-code, 0 by default. No code runs in a signal handler. All
// methods except RequestStop are for the main thread.
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
//   0   The work is done, or somebody asked the process to stop (unless --stop-code says another).
//   1   The process failed at run time, and a restart may help.
//   2   Its flags or its configuration are wrong, or something blocks the start, such as a port in
//       use or a damaged file. A restart helps only where the obstacle goes away.
//   78  The thing to work on is wrong or missing (INVALID_ARGUMENT and NOT_FOUND), like a capture
//       that does not exist. No restart helps, and none is made. The number is EX_CONFIG of
//       sysexits.h.
//   79  The work went astray in a way that a restart would repeat (OUT_OF_RANGE), like a training
//       whose policy diverges again after each rollback. The first number above those of
//       sysexits.h.
inline constexpr int kExitFailed = 1;
inline constexpr int kExitConfiguration = 2;
inline constexpr int kExitPermanent = 78;
inline constexpr int kExitDiverged = 79;

// Returns true for the exit codes after which the same process, started again, would end alike.
inline constexpr bool IsFinalExit(int code) {
  return code == kExitConfiguration || code == kExitPermanent || code == kExitDiverged;
}

class Program {
 public:
  Program(std::string name, std::string description);
  ~Program();

  // Sections [run] and [cluster] always exist. `options` has Visit(Visitor&) and must outlive this
  // object.
  template <typename Options>
  void AddSection(std::string name, Options& options) {
    config_.Add(std::move(name), options);
  }
  // Adds a flag that only this program has, such as AddFlag("--world-size", world_size, "ranks on
  // this node").
  void AddFlag(const std::string& name, std::int64_t& value, const std::string& help);
  void AddFlag(const std::string& name, std::string& value, const std::string& help);

  // Reads --config FILE, --set section.key=value (repeatable), --index N (or SHOAL_INDEX, or the
  // ordinal at the end of HOSTNAME when SHOAL_INDEX=hostname), --stop-code CODE, --print-config,
  // --version, --help and the program's own flags. Sets up the log, and logs the git revision and
  // the effective configuration. Returns an exit code when there is nothing to run.
  std::optional<int> Parse(int argc, char** argv);

  // Logs `status` and returns the exit code that fits it.
  int Fail(const absl::Status& status) const;

  // Blocks until SIGINT, SIGTERM or RequestStop. Returns the exit code passed to RequestStop, or
  // else that of --stop-code.
  int WaitForStop();
  // Thread-safe. Only the first call takes effect.
  void RequestStop(int exit_code);

  const RunOptions& run() const { return run_; }
  const ClusterOptions& cluster() const { return cluster_; }
  // This process's index among the processes of its kind.
  std::int64_t index() const { return index_; }
  const std::string& name() const { return name_; }
  // Returns the effective configuration as TOML.
  std::string PrintConfig() const { return config_.Print(); }

 private:
  struct Flags;

  // The watch reads signals from Parse until WaitForStop.
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
  // The exit code is written once, before stop_fd_ becomes readable.
  static constexpr int kNoRequest = -1;
  std::atomic<int> requested_exit_code_{kNoRequest};
};

// Returns the git revision of the build, or "unknown" when it was built outside a checkout.
std::string GitRevision();

}  // namespace shoal::runtime
