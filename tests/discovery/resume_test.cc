// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "runtime/atomic_file.h"
#include "runtime/random.h"
#include "tests/discovery/service.h"
#include "tests/doubles/temporary_folder.h"

namespace shoal::discovery {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFolder = "SHOAL_TEST_FOLDER";
constexpr const char* kAddress = "SHOAL_TEST_ADDRESS";
constexpr const char* kRequests = "SHOAL_TEST_REQUESTS";
constexpr const char* kMicros = "SHOAL_TEST_MICROS";

Discovery DiscoveryOf(const std::string& address, const std::string& folder) {
  Discovery discovery{.source = "http://" + address, .folder = folder};
  discovery.crawl.connection.address = address;
  discovery.crawl.log_entries = true;
  discovery.crawl.sessions = true;
  discovery.crawl.redaction = std::nullopt;
  return discovery;
}

// What CrawlAndDie starts. It is killed when it has made SHOAL_TEST_REQUESTS requests, or
// SHOAL_TEST_MICROS microseconds after nearly all was answered, while the capture is written.
TEST_CASE("crawls as its environment says", "[.child]") {
  REQUIRE(std::getenv(kFolder) != nullptr);
  const std::int64_t requests = std::atoll(std::getenv(kRequests));
  const suseconds_t micros = std::atol(std::getenv(kMicros));
  const auto result = Discover(DiscoveryOf(std::getenv(kAddress), std::getenv(kFolder)),
                               runtime::SystemClock(), [&](const CrawlProgress& progress) {
                                 if (requests > 0 && progress.requests >= requests)
                                   ::raise(SIGKILL);
                                 if (micros > 0 && progress.queued <= 1 && progress.done > 250) {
                                   const itimerval timer{{0, 0}, {0, micros}};
                                   ::setitimer(ITIMER_REAL, &timer, nullptr);
                                 }
                                 return false;
                               });
  REQUIRE(result.ok());
}

// True when the crawl came to its end.
bool CrawlAndDie(const Discovery& discovery, std::int64_t requests, int micros = 0) {
  ::setenv(kFolder, discovery.folder.c_str(), 1);
  ::setenv(kAddress, discovery.crawl.connection.address.c_str(), 1);
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

// What a machine that lost power leaves: the journal's last bytes are gone, or are noise.
void TearJournal(const std::string& folder, runtime::Random& random) {
  const fs::path journal = fs::path(folder) / ".crawl" / "journal";
  if (!fs::exists(journal)) return;
  const std::uintmax_t size = fs::file_size(journal);
  fs::resize_file(journal, size - random.Below(std::min<std::uintmax_t>(size, 4000)));
  if (random.Below(2) == 0) std::ofstream(journal, std::ios::app) << "0123456789abcdef {\"uri\"";
}

TEST_CASE("A crawl that is killed at fifty moments and taken up again gives the same capture") {
  const Service service("openbmc-stock");
  runtime::Random random(7);
  const doubles::TemporaryFolder folder;
  const Discovery discovery = DiscoveryOf(service.address(), folder.path());
  int kills = 0;
  while (kills < 50) {
    const bool ended = CrawlAndDie(discovery, 1 + static_cast<std::int64_t>(random.Below(60)));
    if (ended) {
      RequireSame(folder.path(), service.resources());
      fs::remove_all(folder.path());
      continue;
    }
    ++kills;
    if (random.Below(3) == 0) TearJournal(folder.path(), random);
  }
  CrawlAndDie(discovery, 0);
  RequireSame(folder.path(), service.resources());
}

TEST_CASE("A process killed while it writes the capture leaves nothing that cannot be mended") {
  const Service service("dmtf-rackmount1");
  for (int micros = 500; micros < 30'000; micros += 4'000) {
    const doubles::TemporaryFolder folder;
    const Discovery discovery = DiscoveryOf(service.address(), folder.path());
    CrawlAndDie(discovery, 0, micros);
    const auto again = Discover(discovery, runtime::SystemClock(), {});
    REQUIRE((again.ok() || again.status().code() == absl::StatusCode::kAlreadyExists));
    redfish::Capture::Resources linked = service.resources();
    for (const std::string& uri : Unlinked().at("dmtf-rackmount1")) linked.erase(uri);
    RequireSame(folder.path(), linked);
  }
}

TEST_CASE("What an earlier run was told is not asked for again") {
  Service service("dmtf-rackmount1");
  const doubles::TemporaryFolder folder;
  const Discovery discovery = service.Whole(folder.path());
  const auto stopped = Discover(discovery, runtime::SystemClock(),
                                [](const CrawlProgress& progress) { return progress.done >= 100; });
  REQUIRE(absl::IsCancelled(stopped.status()));
  const DiscoveryResult result = Crawled(discovery);
  REQUIRE(result.progress.resumed >= 100);
  REQUIRE(result.progress.done == result.progress.resumed + result.progress.requests);
}

TEST_CASE("A journal of another service, or with other redaction, is refused by name") {
  const Service service("dmtf-rackmount1");
  const doubles::TemporaryFolder folder;
  Discovery discovery = service.Whole(folder.path());
  REQUIRE_FALSE(Discover(discovery, runtime::SystemClock(), [](const CrawlProgress& progress) {
                  return progress.done >= 10;
                }).ok());
  Discovery other = discovery;
  other.source = "http://elsewhere:80";
  const absl::Status refused = Discover(other, runtime::SystemClock(), {}).status();
  REQUIRE(absl::IsFailedPrecondition(refused));
  REQUIRE(runtime::Message(refused).find("elsewhere") != std::string::npos);
  other = discovery;
  other.crawl.redaction = redfish::RedactionOptions{};
  REQUIRE(absl::IsFailedPrecondition(Discover(other, runtime::SystemClock(), {}).status()));
}

}  // namespace
}  // namespace shoal::discovery
