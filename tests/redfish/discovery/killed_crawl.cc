// SPDX-License-Identifier: Apache-2.0
#include "tests/redfish/discovery/killed_crawl.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "platform/runtime/random.h"
#include "tests/doubles/temporary_folder.h"
#include "tests/redfish/discovery/service.h"

namespace shoal::discovery {
namespace {

namespace fs = std::filesystem;

constexpr const char* kCapture = "SHOAL_TEST_CAPTURE";
constexpr const char* kAddress = "SHOAL_TEST_ADDRESS";
constexpr const char* kFolder = "SHOAL_TEST_FOLDER";
constexpr const char* kRequests = "SHOAL_TEST_REQUESTS";
constexpr const char* kMicros = "SHOAL_TEST_MICROS";

// The hidden test case that RunChild starts.
TEST_CASE("crawls as its environment says", "[.child]") {
  REQUIRE(std::getenv(kFolder) != nullptr);
  const CrawlToKill crawl{.capture = std::getenv(kCapture),
                          .address = std::getenv(kAddress),
                          .folder = std::getenv(kFolder)};
  const std::int64_t requests = std::atoll(std::getenv(kRequests));
  const suseconds_t micros = std::atol(std::getenv(kMicros));
  const auto result =
      Discover(DiscoveryOf(crawl), runtime::SystemClock(), [&](const CrawlProgress& progress) {
        if (requests > 0 && progress.requests >= requests) ::raise(SIGKILL);
        if (micros > 0 && progress.queued <= 1 && progress.done > 250) {
          const itimerval timer{{0, 0}, {0, micros}};
          ::setitimer(ITIMER_REAL, &timer, nullptr);
        }
        return false;
      });
  REQUIRE(result.ok());
}

// Returns true if the crawl came to its end.
bool RunChild(const CrawlToKill& crawl, std::int64_t requests, int micros) {
  ::setenv(kCapture, crawl.capture.c_str(), 1);
  ::setenv(kAddress, crawl.address.c_str(), 1);
  ::setenv(kFolder, crawl.folder.c_str(), 1);
  ::setenv(kRequests, std::to_string(requests).c_str(), 1);
  ::setenv(kMicros, std::to_string(micros).c_str(), 1);
  std::string program = "/proc/self/exe";
  std::string name = "crawls as its environment says";
  char* const arguments[] = {program.data(), name.data(), nullptr};
  pid_t child = 0;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  REQUIRE(::posix_spawn(&child, program.c_str(), &actions, nullptr, arguments, environ) == 0);
  posix_spawn_file_actions_destroy(&actions);
  int state = 0;
  REQUIRE(::waitpid(child, &state, 0) == child);
  if (WIFEXITED(state)) REQUIRE(WEXITSTATUS(state) == 0);
  return WIFEXITED(state);
}

// Does what a loss of power may do: the journal's last bytes are lost, or are noise.
void TearJournal(const std::string& folder, runtime::Random& random) {
  const fs::path journal = fs::path(folder) / ".crawl" / "journal";
  if (!fs::exists(journal)) return;
  const std::uintmax_t size = fs::file_size(journal);
  fs::resize_file(journal, size - random.Below(std::min<std::uintmax_t>(size, 4000)));
  if (random.Below(2) == 0) std::ofstream(journal, std::ios::app) << "0123456789abcdef {\"uri\"";
}

}  // namespace

Discovery DiscoveryOf(const CrawlToKill& crawl) {
  Discovery discovery{.source = "http://" + crawl.address, .folder = crawl.folder};
  discovery.crawl.connection.address = crawl.address;
  discovery.crawl.starts = Unlinked().at(crawl.capture);
  discovery.crawl.log_entries = true;
  discovery.crawl.sessions = true;
  discovery.crawl.redaction = std::nullopt;
  return discovery;
}

bool CrawlAndDie(const CrawlToKill& crawl, std::int64_t requests) {
  return RunChild(crawl, requests, 0);
}

bool CrawlAndDieWriting(const CrawlToKill& crawl, int micros) { return RunChild(crawl, 0, micros); }

void RequireSameAfterKills(const std::string& capture, int kills) {
  const Service service(capture);
  runtime::Random random(7);
  const doubles::TemporaryFolder folder;
  const CrawlToKill crawl{
      .capture = capture, .address = service.address(), .folder = folder.path()};
  // Most kills then hit one crawl, spread over its whole length.
  const std::uint64_t most = 2 * service.resources().size() / static_cast<std::uint64_t>(kills);
  int killed = 0;
  while (killed < kills) {
    if (CrawlAndDie(crawl, 1 + static_cast<std::int64_t>(random.Below(most + 2)))) {
      RequireSame(folder.path(), service.resources());
      fs::remove_all(folder.path());
      continue;
    }
    ++killed;
    if (random.Below(3) == 0) TearJournal(folder.path(), random);
  }
  CrawlAndDie(crawl, 0);
  RequireSame(folder.path(), service.resources());
}

}  // namespace shoal::discovery
