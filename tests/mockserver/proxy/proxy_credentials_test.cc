// SPDX-License-Identifier: Apache-2.0
// Tests with which credentials a proxy speaks to the host, and that no client learns them.
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <catch2/catch.hpp>
#include <memory>
#include <sstream>
#include <string>

#include "mockserver/proxy/proxy.h"
#include "tests/mockserver/proxy/proxied.h"
#include "tests/mockserver/service/services.h"

namespace shoal::mockserver {
namespace {

TEST_CASE("Clients log in themselves where the proxy has no user, once that is named") {
  Host host(kRack, Closed());
  Proxied proxied(SettingsFor(host.address(), {"POST " + std::string(kSessions),
                                               "DELETE " + std::string(kSessions) + "/*"}));
  REQUIRE(proxied.Get(kSystem).status == 401);
  const std::string login =
      Json{{"UserName", "Administrator"}, {"Password", kPasswordOfAll}}.dump();
  const auto session = proxied.Ask("POST", kSessions, login);
  REQUIRE(session.status == 201);
  const http::Headers token =
      Header("X-Auth-Token", std::string(session.headers.Find("X-Auth-Token")));
  REQUIRE(proxied.Ask("GET", kSystem, "", token).status == 200);
  const std::string location(session.headers.Find("Location"));
  REQUIRE(proxied.Ask("DELETE", location, "", token).status / 100 == 2);
}

TEST_CASE("A proxy with a user logs in once, in place of its clients, and out at its end") {
  Host host(kRack, Closed());
  ProxySettings settings = SettingsFor(host.address());
  settings.access.authentication = discovery::Authentication::kSession;
  settings.access.user = "Administrator";
  settings.access.password = kPasswordOfAll;
  Proxied proxied(std::move(settings));
  REQUIRE(host.methods().empty());
  for (int i = 0; i < 3; ++i) REQUIRE(proxied.Get(kSystem).status == 200);
  // The client's own token has no effect.
  REQUIRE(proxied.Ask("GET", kSystem, "", Header("X-Auth-Token", "stolen")).status == 200);
  REQUIRE(host.methods().count("POST") == 1);
  REQUIRE(host.methods().count("DELETE") == 0);
  REQUIRE(proxied.Close().ok());
  REQUIRE(host.methods().count("DELETE") == 1);
}

TEST_CASE("A login that the host refuses is tried once, and the client is not told whose it was") {
  Host host(kRack, Closed());
  ProxySettings settings = SettingsFor(host.address());
  settings.access.authentication = discovery::Authentication::kSession;
  settings.access.user = "Administrator";
  settings.access.password = "wrong-one";
  Proxied proxied(std::move(settings));
  for (int i = 0; i < 3; ++i) {
    const auto answer = proxied.Get(kSystem);
    REQUIRE(answer.status == 502);
    REQUIRE(answer.body.find("Administrator") == std::string::npos);
  }
  REQUIRE(host.methods().count("POST") == 1);
}

TEST_CASE("Credentials of the proxy's own session do not reach its clients") {
  const Host host(kRack, {}, [&](const http::ServerRequest& request) {
    return SaidAt(request, "X",
                  Text("{}", "Set-Cookie: SESSION=s3cret\r\nX-Auth-Token: s3cret\r\n"));
  });
  ProxySettings settings = SettingsFor(host.address());
  settings.access.authentication = discovery::Authentication::kBasic;
  settings.access.user = "Administrator";
  settings.access.password = kPasswordOfAll;
  Proxied proxied(std::move(settings));
  for (const auto& [name, value] : proxied.Get("/redfish/v1/X").headers) {
    INFO(name);
    REQUIRE(value.find("s3cret") == std::string::npos);
  }
}

TEST_CASE("Nothing that lets a client in is logged") {
  std::ostringstream log;
  const auto sink = std::make_shared<spdlog::sinks::ostream_sink_mt>(log);
  auto& sinks = spdlog::default_logger()->sinks();
  sinks.push_back(sink);
  {
    const Host host(kRack, {}, [&](const http::ServerRequest& request) {
      const bool drops = request.target().find("Drop") != std::string_view::npos;
      return drops ? Said(http::ServerResponse{.dropped = true}) : Said();
    });
    Proxied proxied(SettingsFor(host.address(), {"POST " + std::string(kSessions)}));
    http::Headers headers;
    headers.Add("Host", "h0st-of-client");
    headers.Add("Authorization", "Basic czNjcmV0");
    headers.Add("X-Auth-Token", "t0ken");
    const std::string body = R"({"UserName": "Administrator", "Password": "s3cret-pass"})";
    proxied.Ask("POST", kSessions, body, headers);
    REQUIRE(proxied.Ask("GET", "/redfish/v1/Drop?q=s3cret-query", "", headers).status == 502);
  }
  sinks.pop_back();
  REQUIRE(log.str().find("event=mutation_passed_on") != std::string::npos);
  REQUIRE(log.str().find("event=not_answered") != std::string::npos);
  for (const char* secret : {"czNjcmV0", "t0ken", "s3cret", "h0st-of-client"}) {
    INFO(secret);
    REQUIRE(log.str().find(secret) == std::string::npos);
  }
}

}  // namespace
}  // namespace shoal::mockserver
