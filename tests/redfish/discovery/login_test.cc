// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <string>

#include "tests/mockserver/service/services.h"
#include "tests/redfish/discovery/service.h"

namespace shoal::discovery {
namespace {

using Json = nlohmann::json;

mockserver::InstanceTableOptions Closed() {
  mockserver::InstanceTableOptions options;
  options.instance.authentication = mockserver::Authentication::kRequired;
  return options;
}

Discovery By(Authentication authentication, const Service& service, const std::string& folder) {
  Discovery discovery = service.Whole(folder);
  discovery.crawl.authentication = authentication;
  discovery.crawl.user = "Administrator";
  discovery.crawl.password = mockserver::kPasswordOfAll;
  return discovery;
}

TEST_CASE("A service that asks who is there is crawled by Basic") {
  Service service("dmtf-rackmount1", Closed());
  const doubles::TemporaryFolder folder;
  Discovery discovery = By(Authentication::kBasic, service, folder.path());
  discovery.crawl.starts = Unlinked().at("dmtf-rackmount1");
  Crawled(discovery);
  RequireSame(folder.path(), service.resources());
}

TEST_CASE("A session is the one POST of a crawl, and is deleted at its end") {
  Service service("dmtf-rackmount1", Closed());
  const doubles::TemporaryFolder folder;
  Discovery discovery = By(Authentication::kSession, service, folder.path());
  discovery.crawl.sessions = false;
  REQUIRE(Crawled(discovery).capture.resources > 200);
  const auto methods = service.methods();
  REQUIRE(methods.count("POST") == 1);
  REQUIRE(methods.count("DELETE") == 1);
  REQUIRE(methods.size() == methods.count("GET") + 2);
}

TEST_CASE("A session that the service forgets is made again") {
  int refused = 0;
  Service service("dmtf-rackmount1", Closed(), [&](const http::ServerRequest& request) {
    std::optional<http::ServerResponse> response;
    if (request.target().ends_with("/Chassis") && refused++ == 0) {
      response = http::ServerResponse{.status = 401};
    }
    return response;
  });
  const doubles::TemporaryFolder folder;
  Discovery discovery = By(Authentication::kSession, service, folder.path());
  discovery.crawl.sessions = false;
  REQUIRE(Crawled(discovery).failed.empty());
  REQUIRE(service.methods().count("POST") == 2);
  REQUIRE(service.methods().count("DELETE") == 2);
}

TEST_CASE("What is refused under a new session too is refused, and costs one session") {
  Service service("dmtf-rackmount1", Closed(), [](const http::ServerRequest& request) {
    const bool refused = request.target().ends_with("/Chassis");
    return refused ? std::optional(http::ServerResponse{.status = 401}) : std::nullopt;
  });
  const doubles::TemporaryFolder folder;
  Discovery discovery = By(Authentication::kSession, service, folder.path());
  discovery.crawl.sessions = false;
  discovery.crawl.concurrency = 1;
  discovery.crawl.starts = {"/redfish/v1/Systems"};
  REQUIRE(Crawled(discovery).failed.at("/redfish/v1/Chassis") == "status 401");
  REQUIRE(service.methods().count("POST") == 2);
  REQUIRE(service.methods().count("DELETE") == 2);
}

TEST_CASE("A logout that fails is a warning, and one of a session that is gone is none") {
  for (const int status : {500, 401, 404, 410}) {
    Service service("dmtf-rackmount1", Closed(), [&](const http::ServerRequest& request) {
      const bool fails = request.method() == "DELETE";
      return fails ? std::optional(http::ServerResponse{.status = status}) : std::nullopt;
    });
    const doubles::TemporaryFolder folder;
    Discovery discovery = By(Authentication::kSession, service, folder.path());
    discovery.crawl.max_depth = 1;
    discovery.crawl.sessions = false;
    const DiscoveryResult result = Crawled(discovery);
    REQUIRE(result.capture.resources > 5);
    REQUIRE(result.warnings.size() == (status == 500 ? 1 : 0));
  }
}

TEST_CASE("A login that fails for now may be tried again, and only a session is deleted") {
  for (const int status : {429, 500, 503}) {
    const Service service("dmtf-rackmount1", Closed(), [&](const http::ServerRequest& request) {
      const bool fails = request.method() == "POST";
      return fails ? std::optional(http::ServerResponse{.status = status}) : std::nullopt;
    });
    const doubles::TemporaryFolder folder;
    const Discovery discovery = By(Authentication::kSession, service, folder.path());
    REQUIRE(absl::IsUnavailable(Discover(discovery, runtime::SystemClock(), {}).status()));
  }
  const std::string location =
      GENERATE("Location: /redfish/v1/Chassis/1U\r\n",
               "Location: https://elsewhere:8/redfish/v1/SessionService/Sessions/7/\r\n");
  std::string deleted;
  const Service service("dmtf-rackmount1", {}, [&](const http::ServerRequest& request) {
    std::optional<http::ServerResponse> response;
    if (request.method() == "POST") {
      response =
          http::ServerResponse{.status = 201, .header_lines = "X-Auth-Token: t\r\n" + location};
    } else if (request.method() == "DELETE") {
      deleted = request.target();
      response = http::ServerResponse{.status = 204};
    }
    return response;
  });
  const doubles::TemporaryFolder folder;
  Discovery discovery = By(Authentication::kSession, service, folder.path());
  discovery.crawl.max_depth = 0;
  Crawled(discovery);
  const bool names_session = location.find("Sessions/7") != std::string::npos;
  REQUIRE(deleted == (names_session ? "/redfish/v1/SessionService/Sessions/7" : ""));
}

TEST_CASE("A session whose URI the service does not tell is found by its Id, or said to stay") {
  const std::string collection = "/redfish/v1/SessionService/Sessions";
  for (const std::string id : {"new", "other", "../Chassis/1U", ""}) {
    std::string deleted;
    const Service service("dmtf-rackmount1", {}, [&](const http::ServerRequest& request) {
      std::optional<http::ServerResponse> response;
      std::string body;
      if (request.method() == "POST") {
        body = Json{{"Id", id}}.dump();
        response = http::ServerResponse{.status = 201, .header_lines = "X-Auth-Token: t\r\n"};
      } else if (request.method() == "DELETE") {
        deleted = request.target();
        response = http::ServerResponse{.status = 204};
      } else if (request.target() == collection) {
        REQUIRE(request.Header("X-Auth-Token") == "t");
        body = R"({"Members": [{"@odata.id": "/redfish/v1/Chassis/new"},
                               {"@odata.id": "/redfish/v1/SessionService/Sessions/new/"}]})";
        response.emplace();
      }
      if (!body.empty()) response->body = std::make_shared<const std::string>(body);
      return response;
    });
    const doubles::TemporaryFolder folder;
    Discovery discovery = By(Authentication::kSession, service, folder.path());
    discovery.crawl.max_depth = 0;
    const DiscoveryResult result = Crawled(discovery);
    INFO(id);
    REQUIRE(deleted == (id == "new" ? collection + "/new" : ""));
    REQUIRE(result.warnings.size() == (id == "new" ? 0 : 1));
  }
}

TEST_CASE("A wrong password is told as such, with the user's name and without the password") {
  Service service("dmtf-rackmount1", Closed());
  const doubles::TemporaryFolder folder;
  Discovery discovery = By(Authentication::kSession, service, folder.path());
  discovery.crawl.password = "wrong-one";
  const absl::Status status = Discover(discovery, runtime::SystemClock(), {}).status();
  REQUIRE(absl::IsFailedPrecondition(status));
  REQUIRE(runtime::Message(status).find("Administrator") != std::string::npos);
  REQUIRE(runtime::Message(status).find("wrong-one") == std::string::npos);
}

TEST_CASE("A service that refuses everything but its root is no capture of one resource") {
  Service service("dmtf-rackmount1", Closed());
  const doubles::TemporaryFolder folder;
  Discovery discovery = By(Authentication::kBasic, service, folder.path());
  discovery.crawl.password = "wrong-one";
  const absl::Status status = Discover(discovery, runtime::SystemClock(), {}).status();
  REQUIRE(absl::IsFailedPrecondition(status));
  REQUIRE(runtime::Message(status).find("401") != std::string::npos);
}

}  // namespace
}  // namespace shoal::discovery
