// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <filesystem>
#include <string>

#include "platform/runtime/atomic_file.h"
#include "redfish/capture/manifest.h"
#include "tests/doubles/environment_number.h"
#include "tests/redfish/discovery/killed_crawl.h"
#include "tests/redfish/discovery/service.h"

namespace shoal::discovery {
namespace {

redfish::Manifest ManifestOf(const std::string& folder) {
  const std::string text =
      runtime::ReadFile(folder + "/" + std::string(redfish::kManifestFile)).value();
  return redfish::Manifest::Parse(text).value();
}

TEST_CASE("A crawl of a service equals the capture that the service was loaded from") {
  for (const std::string& name : mockserver::ShippedNames()) {
    const Service service(name);
    const doubles::TemporaryFolder folder;
    Discovery discovery = service.Whole(folder.path());
    discovery.crawl.starts = Unlinked().at(name);
    const DiscoveryResult result = Crawled(discovery);
    INFO(name);
    REQUIRE(result.failed.empty());
    REQUIRE(result.left_out == 0);
    RequireSame(folder.path(), service.resources());
  }
}

TEST_CASE(
    "A crawl of any shipped capture, killed at random moments and taken up again, is the same") {
  for (const std::string& name : mockserver::ShippedNames()) {
    INFO(name);
    // `./test --bars crawl` kills each crawl more often.
    RequireSameAfterKills(name, doubles::EnvironmentNumber("SHOAL_CRAWL_KILLS", 10));
  }
}

TEST_CASE("A crawl by links alone finds all but what nothing links to") {
  const std::string name = "dmtf-rackmount1";
  const Service service(name);
  const doubles::TemporaryFolder folder;
  Crawled(service.Whole(folder.path()));
  redfish::Capture::Resources linked = service.resources();
  for (const std::string& uri : Unlinked().at(name)) linked.erase(uri);
  RequireSame(folder.path(), linked);
}

TEST_CASE("A service is only read, and the manifest says what it answered") {
  Service service("dmtf-rackmount1");
  const doubles::TemporaryFolder folder;
  const std::string nowhere = "/redfish/v1/Systems/absent";
  Discovery discovery = service.Whole(folder.path());
  discovery.crawl.starts = {nowhere};
  const DiscoveryResult result = Crawled(discovery);
  const auto methods = service.methods();
  REQUIRE(methods.size() == methods.count("GET"));

  const redfish::Manifest manifest = ManifestOf(folder.path());
  REQUIRE(manifest.source == "http://" + service.address());
  const redfish::ManifestEntry& system = manifest.resources.at("/redfish/v1/Systems/437XR1138R2");
  REQUIRE(system.status == 200);
  REQUIRE(system.methods == std::vector<std::string>{"GET", "HEAD", "PATCH"});
  REQUIRE(system.headers.contains("ETag"));
  REQUIRE(system.sha256.size() == 64);
  const redfish::ManifestEntry& absent = manifest.resources.at(nowhere);
  REQUIRE(absent.status == 404);
  REQUIRE(absent.sha256.empty());
  REQUIRE(result.capture.absent == 1);
  REQUIRE_FALSE(std::filesystem::exists(folder.path() + "/.crawl"));
}

TEST_CASE("Log entries and sessions are left out unless they are asked for") {
  const Service service("openbmc-stock");
  const doubles::TemporaryFolder folder;
  Discovery discovery = service.Whole(folder.path());
  discovery.crawl.log_entries = false;
  discovery.crawl.sessions = false;
  const DiscoveryResult result = Crawled(discovery);
  REQUIRE(result.skipped > 600);
  const auto capture = redfish::Capture::Load(folder.path()).value();
  for (const auto& [uri, body] : capture->resources()) {
    REQUIRE(uri.find("/Entries/") == std::string::npos);
  }
}

TEST_CASE("Depth and number of resources are bounded, and what is left out is counted") {
  const Service service("dmtf-rackmount1");
  const doubles::TemporaryFolder shallow;
  Discovery discovery = service.Whole(shallow.path());
  discovery.crawl.max_depth = 1;
  DiscoveryResult result = Crawled(discovery);
  REQUIRE(result.left_out > 0);
  REQUIRE(result.capture.resources < 30);

  const doubles::TemporaryFolder few;
  discovery = service.Whole(few.path());
  discovery.crawl.max_resources = 20;
  result = Crawled(discovery);
  REQUIRE(result.left_out > 0);
  REQUIRE(result.capture.resources <= 20);
}

TEST_CASE("A folder with a whole capture is not crawled into again, unless afresh") {
  const Service service("dmtf-rackmount1");
  const doubles::TemporaryFolder folder;
  Discovery discovery = service.Whole(folder.path());
  Crawled(discovery);
  const auto again = Discover(discovery, runtime::SystemClock(), {});
  REQUIRE(again.status().code() == absl::StatusCode::kAlreadyExists);
  discovery.fresh = true;
  REQUIRE(Crawled(discovery).progress.resumed == 0);
}

TEST_CASE("What a folder holds of another source, or that is no capture, is not overwritten") {
  const Service service("dmtf-rackmount1");
  const doubles::TemporaryFolder folder;
  Discovery discovery = service.Whole(folder.path());
  discovery.crawl.max_depth = 1;
  Crawled(discovery);
  discovery.source = "http://elsewhere";
  const auto refused = Discover(discovery, runtime::SystemClock(), {});
  REQUIRE(absl::IsFailedPrecondition(refused.status()));
  REQUIRE(runtime::Message(refused.status()).find(service.address()) != std::string::npos);
  discovery.fresh = true;
  Crawled(discovery);

  const doubles::TemporaryFolder other;
  other.Write("redfish/notes", "mine");
  discovery.folder = other.path();
  REQUIRE(absl::IsFailedPrecondition(Discover(discovery, runtime::SystemClock(), {}).status()));
  REQUIRE(runtime::ReadFile(other.path() + "/redfish/notes").value() == "mine");
  REQUIRE_FALSE(std::filesystem::exists(other.path() + "/.crawl"));
}

TEST_CASE("Secrets are redacted before anything is written") {
  const std::string secret = "correct-horse";
  const Service service("dmtf-rackmount1", {}, [&](const http::ServerRequest& request) {
    std::optional<http::ServerResponse> response;
    if (request.target() == "/redfish/v1/Systems") {
      response = http::ServerResponse{
          .header_lines = "X-Auth-Token: correct-horse\r\n",
          .body = std::make_shared<const std::string>(
              R"({"Members": [], "Oem": {"Password": "correct-horse", "KeyType": "RSA"}})")};
    }
    return response;
  });
  const doubles::TemporaryFolder folder;
  Discovery discovery = service.Whole(folder.path());
  discovery.crawl.redaction = redfish::RedactionOptions{};
  const auto stopped = Discover(discovery, runtime::SystemClock(),
                                [](const CrawlProgress& progress) { return progress.done > 30; });
  REQUIRE(absl::IsCancelled(stopped.status()));
  const std::string journal = runtime::ReadFile(folder.path() + "/.crawl/journal").value();
  REQUIRE(journal.find("KeyType") != std::string::npos);
  REQUIRE(journal.find(secret) == std::string::npos);

  REQUIRE(Crawled(discovery).capture.redacted > 0);
  const auto capture = redfish::Capture::Load(folder.path()).value();
  const auto& oem = capture->Find("/redfish/v1/Systems")->at("Oem");
  REQUIRE(oem.at("Password") == "REDACTED");
  REQUIRE(oem.at("KeyType") == "RSA");
}

}  // namespace
}  // namespace shoal::discovery
