// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <catch2/catch.hpp>
#include <filesystem>
#include <mutex>
#include <string>
#include <vector>

#include "platform/http/stream_channel.h"
#include "platform/runtime/random.h"
#include "tests/doubles/manual_clock.h"
#include "tests/redfish/discovery/service.h"

namespace shoal::discovery {
namespace {

using std::chrono::milliseconds;

http::ServerResponse Busy() { return {.status = 503, .header_lines = "Retry-After: 0\r\n"}; }

TEST_CASE("A service that answers one request in four with 503 is crawled whole") {
  std::atomic<std::uint32_t> count = 0;
  const Service service("openbmc-stock", {}, [&](const http::ServerRequest&) {
    const bool fails = runtime::UniformAt(3, 0, 0, count++) < 0.25;
    return fails ? std::optional(Busy()) : std::nullopt;
  });
  const doubles::TemporaryFolder folder;
  Discovery discovery = service.Whole(folder.path());
  discovery.crawl.attempts = 20;
  const DiscoveryResult result = Crawled(discovery);
  REQUIRE(result.progress.retries > 100);
  RequireSame(folder.path(), service.resources());
}

TEST_CASE("A service that closes connections in the middle of answers is crawled whole") {
  std::atomic<std::uint32_t> count = 0;
  const auto cut = [&](const http::ServerRequest&) {
    std::optional<http::ServerResponse> response;
    if (runtime::UniformAt(5, 0, 0, count++) < 0.1) {
      // This exceeds the bytes that may wait, so the connection is closed at once.
      response = http::ServerResponse{.stream = [](http::StreamWriter writer) {
        writer.Write("{\"Id\":");
        writer.Write(std::string(200, ' '));
      }};
    }
    return response;
  };
  const Service service("openbmc-stock", {}, cut, {.max_stream_bytes = 100});
  const doubles::TemporaryFolder folder;
  Discovery discovery = service.Whole(folder.path());
  discovery.crawl.attempts = 20;
  REQUIRE(Crawled(discovery).progress.retries > 50);
  RequireSame(folder.path(), service.resources());
}

TEST_CASE("What keeps failing is told, the rest is kept, and the next run asks for that alone") {
  std::atomic<bool> broken = true;
  Service service("dmtf-rackmount1", {}, [&](const http::ServerRequest& request) {
    const bool fails = broken && request.target() == "/redfish/v1/Chassis";
    return fails ? std::optional(Busy()) : std::nullopt;
  });
  const doubles::TemporaryFolder folder;
  const Discovery discovery = service.Whole(folder.path());
  const DiscoveryResult first = Crawled(discovery);
  REQUIRE(first.failed.at("/redfish/v1/Chassis") == "status 503");
  REQUIRE(first.capture.resources > 50);

  broken = false;
  const DiscoveryResult second = Crawled(discovery);
  REQUIRE(second.failed.empty());
  REQUIRE(second.progress.resumed == first.progress.done);
  redfish::Capture::Resources linked = service.resources();
  for (const std::string& uri : Unlinked().at("dmtf-rackmount1")) linked.erase(uri);
  RequireSame(folder.path(), linked);
}

TEST_CASE("Attempts wait longer from one to the next, and as long as Retry-After says") {
  doubles::ManualClock clock;
  std::vector<runtime::TimePoint> asked;
  std::mutex mutex;
  const Service service("dmtf-rackmount1", {}, [&](const http::ServerRequest& request) {
    if (request.target() != "/redfish/v1/Chassis") return std::optional<http::ServerResponse>();
    const std::lock_guard lock(mutex);
    asked.push_back(clock.Now());
    if (asked.size() == 3) {
      return std::optional(
          http::ServerResponse{.status = 503, .header_lines = "Retry-After: 7\r\n"});
    }
    return std::optional(Busy());
  });
  const doubles::TemporaryFolder folder;
  Discovery discovery = service.Whole(folder.path());
  discovery.crawl.attempts = 5;
  discovery.crawl.back_off = milliseconds(100);
  discovery.crawl.longest_back_off = milliseconds(60'000);
  REQUIRE(Discover(discovery, clock, [&](const CrawlProgress& progress) {
            if (progress.queued == 1 || progress.requests == 0) clock.Advance(milliseconds(10));
            return false;
          }).ok());
  REQUIRE(asked.size() == 5);
  const auto wait = [&](std::size_t i) { return asked[i + 1] - asked[i]; };
  REQUIRE(wait(0) >= milliseconds(50));
  REQUIRE(wait(0) <= milliseconds(200));
  REQUIRE(wait(1) >= milliseconds(100));
  REQUIRE(wait(2) >= milliseconds(7'000));
  REQUIRE(wait(2) <= milliseconds(7'100));
  REQUIRE(wait(3) >= milliseconds(400));
}

TEST_CASE("No more requests are made in a second than were asked for") {
  doubles::ManualClock clock;
  Service service("dmtf-rackmount1");
  const doubles::TemporaryFolder folder;
  Discovery discovery = service.Whole(folder.path());
  discovery.crawl.requests_per_second = 100;
  const runtime::TimePoint start = clock.Now();
  const auto result = Discover(discovery, clock, [&](const CrawlProgress& progress) {
    if (progress.requests > 0) {
      const auto allowed = 2 + (clock.Now() - start) / milliseconds(10);
      if (progress.requests > allowed) return true;
    }
    clock.Advance(milliseconds(1));
    return false;
  });
  REQUIRE(result.ok());
  REQUIRE(clock.Now() - start >= milliseconds(2'500));
}

TEST_CASE("A crawl ends at its deadline and can be taken up") {
  doubles::ManualClock clock;
  const Service service("dmtf-rackmount1");
  const doubles::TemporaryFolder folder;
  Discovery discovery = service.Whole(folder.path());
  discovery.crawl.deadline = milliseconds(100);
  const auto result = Discover(discovery, clock, [&](const CrawlProgress& progress) {
    if (progress.done >= 50) clock.Advance(milliseconds(100));
    return false;
  });
  REQUIRE(absl::IsDeadlineExceeded(result.status()));
  discovery.crawl.deadline.reset();
  REQUIRE(Crawled(discovery).progress.resumed >= 50);
}

std::optional<http::ServerResponse> Says(const std::string& body) {
  return http::ServerResponse{.body = std::make_shared<const std::string>(body)};
}

TEST_CASE("A service root that is none is asked for again, and an old capture outlives it") {
  std::string root;
  const Service service("dmtf-rackmount1", {}, [&](const http::ServerRequest& request) {
    const bool lies = !root.empty() && request.target() == "/redfish/v1/";
    return lies ? Says(root) : std::nullopt;
  });
  const doubles::TemporaryFolder folder;
  Discovery discovery = service.Whole(folder.path());
  Crawled(discovery);
  const auto before = redfish::Capture::Load(folder.path()).value()->resources();
  discovery.fresh = true;
  for (const char* lie : {"<html>", "[]", "{}", "{\"@odata.id\": "}) {
    INFO(lie);
    root = lie;
    REQUIRE(absl::IsUnavailable(Discover(discovery, runtime::SystemClock(), {}).status()));
    REQUIRE(redfish::Capture::Load(folder.path()).value()->resources() == before);
  }
  root.clear();
  discovery.fresh = false;
  Crawled(discovery);
  RequireSame(folder.path(), before);
}

TEST_CASE("An object that is cut off is asked for again") {
  std::atomic<int> cuts = 0;
  const Service service("dmtf-rackmount1", {}, [&](const http::ServerRequest& request) {
    const bool cut = request.target() == "/redfish/v1/Chassis" && cuts++ < 2;
    return cut ? Says("{\"Members\": [") : std::nullopt;
  });
  const doubles::TemporaryFolder folder;
  Discovery discovery = service.Whole(folder.path());
  discovery.crawl.starts = Unlinked().at("dmtf-rackmount1");
  REQUIRE(Crawled(discovery).progress.retries == 2);
  RequireSame(folder.path(), service.resources());
}

TEST_CASE("Pages are joined however their links are written, and are as deep as their collection") {
  std::string address;
  const Service service("dmtf-rackmount1", {}, [&](const http::ServerRequest& request) {
    const std::string_view target = request.target();
    if (target == "/redfish/v1/Chassis") {
      return Says(R"({"Members": [], "Members@odata.nextLink": "http://)" + address +
                  R"(/redfish/v1/Chassis/?page=2"})");
    }
    if (target == "/redfish/v1/Chassis?page=2") {
      return Says(R"({"Members": [], "Members@odata.nextLink": "/redfish/v1/Chassis//?page=3"})");
    }
    if (target != "/redfish/v1/Chassis?page=3") return std::optional<http::ServerResponse>();
    return Says(R"({"Members": [{"@odata.id": "/redfish/v1/Chassis/1U"}]})");
  });
  address = service.address();
  const doubles::TemporaryFolder folder;
  Discovery discovery = service.Whole(folder.path());
  discovery.crawl.max_depth = 2;
  Crawled(discovery);
  const auto capture = redfish::Capture::Load(folder.path()).value();
  const auto* const chassis = capture->Find("/redfish/v1/Chassis");
  REQUIRE(chassis->at("Members").size() == 1);
  REQUIRE_FALSE(chassis->contains("Members@odata.nextLink"));
  REQUIRE(capture->Find("/redfish/v1/Chassis/1U") != nullptr);
}

TEST_CASE("A host where nobody listens is told apart from one that is no Redfish service") {
  const doubles::TemporaryFolder folder;
  std::string address;
  Discovery discovery;
  {
    const Service service("dmtf-rackmount1");
    discovery = service.Whole(folder.path());
  }
  const absl::Status nobody = Discover(discovery, runtime::SystemClock(), {}).status();
  REQUIRE(absl::IsUnavailable(nobody));
  REQUIRE(runtime::Message(nobody).find(discovery.crawl.connection.address) != std::string::npos);

  const Service other("dmtf-rackmount1", {}, [](const http::ServerRequest&) {
    return std::optional(http::ServerResponse{.status = 404});
  });
  const doubles::TemporaryFolder second;
  const absl::Status no_root =
      Discover(other.Whole(second.path()), runtime::SystemClock(), {}).status();
  REQUIRE(absl::IsUnavailable(no_root));
  REQUIRE(runtime::Message(no_root).find("404") != std::string::npos);
}

TEST_CASE("A hostile service cannot lead a crawl out of its folder or round in circles") {
  const Service service("dmtf-rackmount1", {}, [](const http::ServerRequest& request) {
    std::optional<http::ServerResponse> response;
    const std::string target(request.target());
    if (target.starts_with("/redfish/v1/Systems")) {
      const std::string body =
          R"({"Members": [{"@odata.id": "/redfish/v1/../../../tmp/x"},)"
          R"({"@odata.id": "/redfish/v1/Systems/index.json"},)"
          R"({"@odata.id": "http://elsewhere/redfish/v1/Steal"}, {"@odata.id": 7}],)"
          R"("Members@odata.nextLink": ")" +
          target.substr(0, 60) + R"(?$skip=1"})";
      response = http::ServerResponse{.body = std::make_shared<const std::string>(body)};
    } else if (target == "/redfish/v1/Chassis") {
      response = http::ServerResponse{
          .body = std::make_shared<const std::string>(std::string(100'000, '['))};
    }
    return response;
  });
  const doubles::TemporaryFolder folder;
  const DiscoveryResult result = Crawled(service.Whole(folder.path() + "/a/b"));
  REQUIRE(result.skipped == 2);
  REQUIRE(std::distance(std::filesystem::directory_iterator(folder.path()),
                        std::filesystem::directory_iterator()) == 1);
  const auto capture = redfish::Capture::Load(folder.path() + "/a/b").value();
  REQUIRE(capture->Find("/redfish/v1/Chassis") == nullptr);
  REQUIRE(capture->Find("/redfish/v1/Steal") == nullptr);
}

}  // namespace
}  // namespace shoal::discovery
