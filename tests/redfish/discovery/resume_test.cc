// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "tests/doubles/temporary_folder.h"
#include "tests/redfish/discovery/killed_crawl.h"
#include "tests/redfish/discovery/service.h"

namespace shoal::discovery {
namespace {

TEST_CASE("A crawl that is killed at fifty moments and taken up again gives the same capture") {
  RequireSameAfterKills("openbmc-stock", 50);
}

TEST_CASE("A process killed while it writes the capture leaves nothing that cannot be mended") {
  const std::string name = "dmtf-rackmount1";
  const Service service(name);
  int killed = 0;
  for (int micros = 500; micros < 30'000; micros += 8'000) {
    const doubles::TemporaryFolder folder;
    const CrawlToKill crawl{.capture = name, .address = service.address(), .folder = folder.path()};
    killed += CrawlAndDieWriting(crawl, micros) ? 0 : 1;
    const auto again = Discover(DiscoveryOf(crawl), runtime::SystemClock(), {});
    REQUIRE((again.ok() || again.status().code() == absl::StatusCode::kAlreadyExists));
    RequireSame(folder.path(), service.resources());
  }
  REQUIRE(killed > 0);
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
