// SPDX-License-Identifier: Apache-2.0
#include "platform/runtime/program.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "platform/runtime/check.h"
#include "platform/runtime/log.h"

namespace shoal::runtime {
namespace {

sigset_t StopSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  return signals;
}

// A StatefulSet's pod is named <name>-<ordinal>.
absl::StatusOr<std::int64_t> IndexFromEnvironment() {
  const char* const variable = std::getenv("SHOAL_INDEX");
  if (variable == nullptr) return 0;
  std::string text = variable;
  if (text == "hostname") {
    const char* const host = std::getenv("HOSTNAME");
    const std::string name = host == nullptr ? "" : host;
    text = name.substr(name.rfind('-') + 1);
  }
  if (text.empty() || text.find_first_not_of("0123456789") != std::string::npos ||
      text.size() > 9) {
    return InvalidArgument("SHOAL_INDEX gives \"" + text + "\", which is not an ordinal");
  }
  return std::stoll(text);
}

int ReportConfigurationError(const std::string& program, const absl::Status& status) {
  std::fprintf(stderr, "%s: %s\n", program.c_str(), Message(status).c_str());
  return kExitConfiguration;
}

// Waits until a stop signal is pending (true) or `end` is readable (false). When both hold, it
// returns false.
bool SignalBefore(int end) {
  const sigset_t signals = StopSignals();
  const int signal_fd = ::signalfd(-1, &signals, SFD_CLOEXEC);
  SHOAL_CHECK(signal_fd >= 0);
  pollfd waits[2] = {{signal_fd, POLLIN, 0}, {end, POLLIN, 0}};
  while (::poll(waits, 2, -1) < 0) {
  }
  ::close(signal_fd);
  return (waits[1].revents & POLLIN) == 0;
}

}  // namespace

struct Program::Flags {
  CLI::App app;
  std::string config_file;
  std::vector<std::string> overrides;
  std::int64_t index = -1;
  int stop_code = 0;
  bool print_config = false;
};

Program::Program(std::string name, std::string description)
    : name_(std::move(name)),
      description_(std::move(description)),
      flags_(std::make_unique<Flags>()) {
  config_.Add("run", run_);
  config_.Add("cluster", cluster_);
  CLI::App& app = flags_->app;
  app.name(name_);
  app.description(description_);
  app.add_option("--config", flags_->config_file, "cluster file (TOML)");
  app.add_option("--set", flags_->overrides, "section.key=value, over the file; repeatable")
      ->allow_extra_args(false);
  app.add_option("--index", flags_->index, "which of several processes of this kind this is");
  app.add_option("--stop-code", flags_->stop_code,
                 "exit code after SIGTERM or SIGINT, for those who take 0 as the end of the work")
      ->check(CLI::Range(0, 255));
  app.add_flag("--print-config", flags_->print_config,
               "print the effective configuration and stop");
  app.set_version_flag("--version", GitRevision());
}

Program::~Program() {
  EndWatch();
  if (stop_fd_ >= 0) ::close(stop_fd_);
}

void Program::AddFlag(const std::string& name, std::int64_t& value, const std::string& help) {
  flags_->app.add_option(name, value, help);
}

void Program::AddFlag(const std::string& name, std::string& value, const std::string& help) {
  flags_->app.add_option(name, value, help);
}

std::optional<int> Program::Parse(int argc, char** argv) {
  flags_->app.footer(
      [this] { return "Knobs (section.key in the cluster file):\n" + config_.Help(); });
  try {
    flags_->app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return flags_->app.exit(error) == 0 ? 0 : kExitConfiguration;
  }
  const absl::Status loaded = config_.Load(flags_->config_file, flags_->overrides);
  if (!loaded.ok()) return ReportConfigurationError(name_, loaded);
  if (flags_->print_config) {
    std::fputs(config_.Print().c_str(), stdout);
    return 0;
  }
  index_ = flags_->index;
  if (index_ < 0) {
    const auto index = IndexFromEnvironment();
    if (!index.ok()) return ReportConfigurationError(name_, index.status());
    index_ = *index;
  }
  const absl::Status log = SetUpLog(name_, index_, run_.log_level);
  if (!log.ok()) return ReportConfigurationError(name_, log);

  const sigset_t signals = StopSignals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  stop_fd_ = ::eventfd(0, EFD_CLOEXEC);
  SHOAL_CHECK(stop_fd_ >= 0);
  WatchStart();
  spdlog::info("event=start revision={} pid={}", GitRevision(), ::getpid());
  spdlog::debug("event=configuration text={}", Quoted(config_.Print()));
  return std::nullopt;
}

int Program::Fail(const absl::Status& status) const {
  spdlog::error("event=failed code={} message={}", absl::StatusCodeToString(status.code()),
                Quoted(Message(status)));
  switch (status.code()) {
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kNotFound:
      return kExitPermanent;
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kDataLoss:
      return kExitConfiguration;
    case absl::StatusCode::kOutOfRange:
      return kExitDiverged;
    default:
      return kExitFailed;
  }
}

void Program::WatchStart() {
  watch_end_fd_ = ::eventfd(0, EFD_CLOEXEC);
  SHOAL_CHECK(watch_end_fd_ >= 0);
  watch_ = Thread("start", [end = watch_end_fd_, code = flags_->stop_code] {
    if (!SignalBefore(end)) return;
    spdlog::info("event=stop reason=signal while=starting");
    spdlog::default_logger()->flush();
    std::_Exit(code);
  });
}

void Program::EndWatch() {
  if (!watch_.joinable()) return;
  const std::uint64_t one = 1;
  SHOAL_CHECK(::write(watch_end_fd_, &one, sizeof one) == sizeof one);
  watch_.Join();
  ::close(watch_end_fd_);
}

int Program::WaitForStop() {
  EndWatch();
  if (!SignalBefore(stop_fd_)) {
    std::uint64_t value = 0;
    SHOAL_CHECK(::read(stop_fd_, &value, sizeof value) == sizeof value);
    const int exit_code = requested_exit_code_;
    spdlog::info("event=stop reason=request exit_code={}", exit_code);
    return exit_code;
  }
  spdlog::info("event=stop reason=signal");
  return flags_->stop_code;
}

void Program::RequestStop(int exit_code) {
  int expected = kNoRequest;
  if (!requested_exit_code_.compare_exchange_strong(expected, exit_code)) return;
  const std::uint64_t one = 1;
  SHOAL_CHECK(::write(stop_fd_, &one, sizeof one) == sizeof one);
}

}  // namespace shoal::runtime
