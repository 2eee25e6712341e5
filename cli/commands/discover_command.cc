// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/discover_command.h"

#include <absl/strings/str_format.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/commands/command_result.h"
#include "cli/commands/host_access.h"
#include "cli/commands/redact_flag.h"
#include "platform/display/live_line.h"
#include "platform/runtime/mutex.h"
#include "platform/runtime/program.h"
#include "platform/runtime/stop_signals.h"
#include "platform/runtime/thread.h"
#include "redfish/capture/capture.h"
#include "redfish/discovery/discover.h"
#include "redfish/discovery/service_url.h"

namespace shoal::cli {
namespace {

using discovery::CrawlProgress;
using discovery::Discovery;
using discovery::DiscoveryResult;
using discovery::ParseServiceUrl;

struct DiscoverFlags {
  std::string url;
  operate::HostAccess access;
  std::string redact = "secrets";
  std::string known;
  double deadline_minutes = 0;
  Discovery discovery;
};

absl::StatusOr<Discovery> DiscoveryFrom(const DiscoverFlags& flags) {
  Discovery discovery = flags.discovery;
  SHOAL_ASSIGN_OR_RETURN(const http::Url url, ParseServiceUrl(flags.url));
  discovery.source = url.Origin();
  operate::PasswordFiles passwords;
  SHOAL_RETURN_IF_ERROR(operate::FillConnection(flags.access, url, passwords, discovery.crawl));
  discovery.crawl.redaction = RedactionOf(flags.redact);
  if (flags.deadline_minutes > 0) {
    discovery.crawl.deadline = std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::duration<double, std::ratio<60>>(flags.deadline_minutes));
  }
  if (!flags.known.empty()) {
    SHOAL_ASSIGN_OR_RETURN(const auto known, redfish::Capture::Load(flags.known));
    for (const auto& [uri, body] : known->resources()) discovery.crawl.starts.push_back(uri);
  }
  return discovery;
}

// A crawl on a thread of its own, which another thread watches.
class WatchedCrawl {
 public:
  explicit WatchedCrawl(const Discovery& discovery)
      : thread_("discover", [this, &discovery] {
          auto result = discovery::Discover(discovery, runtime::SystemClock(),
                                            [this](const CrawlProgress& now) { return See(now); });
          const runtime::MutexLock lock(mutex_);
          result_.emplace(std::move(result));
        }) {}

  void Stop() { stopping_ = true; }
  CrawlProgress progress() {
    const runtime::MutexLock lock(mutex_);
    return progress_;
  }
  // Returns nothing while the crawl goes on.
  std::optional<absl::StatusOr<DiscoveryResult>> result() {
    const runtime::MutexLock lock(mutex_);
    return result_;
  }

 private:
  bool See(const CrawlProgress& now) {
    const runtime::MutexLock lock(mutex_);
    progress_ = now;
    return stopping_;
  }

  std::atomic<bool> stopping_ = false;
  runtime::Mutex mutex_;
  CrawlProgress progress_ ABSL_GUARDED_BY(mutex_);
  std::optional<absl::StatusOr<DiscoveryResult>> result_ ABSL_GUARDED_BY(mutex_);
  // The last member, as the thread uses those above.
  runtime::Thread thread_;
};

std::string LineOf(const CrawlProgress& progress, double seconds) {
  const double rate = seconds > 0 ? static_cast<double>(progress.requests) / seconds : 0;
  const auto left =
      static_cast<long>(rate > 0 ? static_cast<double>(progress.queued) / rate + 0.5 : 0);
  return absl::StrFormat("done %d  queued %d  failed %d  retries %d  %.1f requests/s  left %d:%02d",
                         progress.done, progress.queued, progress.failed, progress.retries, rate,
                         left / 60, left % 60);
}

absl::StatusOr<DiscoveryResult> RunWatched(const Discovery& discovery) {
  constexpr std::chrono::milliseconds kLook{100};
  const runtime::StopSignals signals;
  runtime::Clock& clock = runtime::SystemClock();
  const runtime::TimePoint started = clock.Now();
  display::LiveLine line(std::chrono::seconds(2), clock);
  WatchedCrawl crawl(discovery);
  for (;;) {
    if (runtime::StopSignals::Wait(kLook)) crawl.Stop();
    if (auto result = crawl.result()) return *std::move(result);
    const std::chrono::duration<double> passed = clock.Now() - started;
    line.Show([&](auto) { return LineOf(crawl.progress(), passed.count()); });
  }
}

void PrintResult(const Discovery& discovery, const DiscoveryResult& result) {
  constexpr int kNamed = 20;
  int named = 0;
  for (const auto& [uri, reason] : result.failed) {
    if (++named > kNamed) break;
    std::fprintf(stderr, "failed %s: %s\n", uri.c_str(), reason.c_str());
  }
  for (const std::string& warning : result.warnings) {
    std::fprintf(stderr, "warning: %s\n", warning.c_str());
  }
  std::printf(
      "capture %s resources=%lld absent=%lld skipped=%lld left_out=%lld failed=%zu redacted=%lld "
      "requests=%lld resumed=%lld\n",
      discovery.folder.c_str(), static_cast<long long>(result.capture.resources),
      static_cast<long long>(result.capture.absent), static_cast<long long>(result.skipped),
      static_cast<long long>(result.left_out), result.failed.size(),
      static_cast<long long>(result.capture.redacted),
      static_cast<long long>(result.progress.requests),
      static_cast<long long>(result.progress.resumed));
}

int RunDiscover(const DiscoverFlags& flags) {
  const absl::StatusOr<Discovery> discovery = DiscoveryFrom(flags);
  if (!discovery.ok()) return FailCommand(discovery.status());
  const absl::StatusOr<DiscoveryResult> result = RunWatched(*discovery);
  if (absl::IsAlreadyExists(result.status())) {
    std::printf("%s; --fresh crawls again\n", runtime::Message(result.status()).c_str());
    return 0;
  }
  if (!result.ok()) {
    const int code = FailCommand(result.status());
    if (code == runtime::kExitFailed) {
      std::fprintf(stderr, "the same command goes on from here\n");
    }
    return code;
  }
  PrintResult(*discovery, *result);
  if (result->failed.empty()) return 0;
  std::fprintf(stderr, "the same command asks again for what failed\n");
  return runtime::kExitFailed;
}

void AddPaceFlags(CLI::App& command, DiscoverFlags& flags) {
  discovery::CrawlOptions& crawl = flags.discovery.crawl;
  command.add_option("--concurrency", crawl.concurrency, "connections at once")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  command
      .add_option("--rate", crawl.requests_per_second, "requests per second at most; 0: no limit")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  command.add_option("--attempts", crawl.attempts, "attempts of each URI, with growing pauses")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command.add_option("--deadline", flags.deadline_minutes, "minutes in all; 0: no limit")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  command.add_option("--seed", crawl.seed, "pauses are drawn from it")->capture_default_str();
}

void AddExtentFlags(CLI::App& command, DiscoverFlags& flags) {
  discovery::CrawlOptions& crawl = flags.discovery.crawl;
  command.add_option("--depth", crawl.max_depth, "links from the service root at most")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str();
  command.add_option("--max-resources", crawl.max_resources, "URIs at most")
      ->check(CLI::Range(1, 10'000'000))
      ->capture_default_str();
  command.add_flag("--logs", crawl.log_entries, "log entries too");
  command.add_flag("--sessions", crawl.sessions, "sessions too");
  command.add_option("--also", crawl.starts, "a URI that nothing links to; repeatable")
      ->allow_extra_args(false);
  command.add_option("--known", flags.known, "also every URI of this earlier capture");
  AddRedact(command, flags.redact);
  command.add_flag("--fresh", flags.discovery.fresh,
                   "forget what FOLDER holds; without it an interrupted crawl goes on");
}

}  // namespace

void AddDiscover(CLI::App& app, std::function<int()>& action) {
  const auto flags = std::make_shared<DiscoverFlags>();
  CLI::App* const command = app.add_subcommand(
      "discover", "Crawl a Redfish service into a capture; it is only read, a login apart");
  command->add_option("URL", flags->url, "https://host[:port], or http://...")->required();
  command->add_option("--out", flags->discovery.folder, "folder of the capture")->required();
  AddConnection(*command, flags->access);
  AddPaceFlags(*command, *flags);
  AddExtentFlags(*command, *flags);
  command->callback([flags, &action] { action = [flags] { return RunDiscover(*flags); }; });
}

}  // namespace shoal::cli
