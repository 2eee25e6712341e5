// SPDX-License-Identifier: Apache-2.0
// A proxy in front of a second, real instance over loopback: what passes, and what does not.
#include "mockserver/proxy.h"

#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <future>
#include <sstream>
#include <string>
#include <vector>

#include "http/client_tls.h"
#include "http/responder.h"
#include "runtime/bounded_queue.h"
#include "tests/discovery/service.h"
#include "tests/http/development_files.h"
#include "tests/http/raw_peer.h"
#include "tests/mockserver/proxied.h"
#include "tests/mockserver/services.h"

namespace shoal::mockserver {
namespace {

using Host = discovery::Service;
using Said = std::optional<http::ServerResponse>;

const std::string kRack = "dmtf-rackmount1";
const std::string kSystem = "/redfish/v1/Systems/437XR1138R2";
const std::string kReset = kSystem + "/Actions/ComputerSystem.Reset";

InstanceTableOptions Closed() {
  InstanceTableOptions options;
  options.instance.authentication = Authentication::kRequired;
  return options;
}

http::Headers Header(const std::string& name, const std::string& value) {
  http::Headers headers;
  headers.Add(name, value);
  return headers;
}

std::string ErrorOf(const http::ClientResponse& response) {
  const Json body = Json::parse(response.body, nullptr, false);
  REQUIRE(body.is_object());
  REQUIRE(body.at("error").at("@Message.ExtendedInfo").size() == 1);
  return body.at("error").at("message");
}

// Nothing of it that the network may not change.
void RequireSame(const http::ClientResponse& got, const http::ClientResponse& expected) {
  REQUIRE(got.status == expected.status);
  REQUIRE(got.body == expected.body);
  for (const char* name : {"ETag", "Allow", "Location", "Link", "OData-Version", "Cache-Control",
                           "Content-Type", "Content-Length", "Retry-After", "WWW-Authenticate"}) {
    INFO(name);
    REQUIRE(got.headers.Find(name) == expected.headers.Find(name));
  }
}

// A host whose answers to /redfish/v1/X are a test's.
Said At(const http::ServerRequest& request, const std::string& name,
        http::ServerResponse response) {
  const bool is_it = request.target() == "/redfish/v1/" + name;
  return is_it ? Said(std::move(response)) : Said();
}

http::ServerResponse Text(const std::string& text, const std::string& lines = "") {
  return {.header_lines = lines, .body = std::make_shared<const std::string>(text)};
}

TEST_CASE("What is asked through a proxy is answered as the host answers it") {
  const Host host(kRack);
  Proxied proxied(SettingsFor(host.address()));
  const std::string etag(proxied.Get(kSystem).headers.Find("ETag"));
  REQUIRE_FALSE(etag.empty());
  std::vector<http::ClientRequest> requests;
  for (const std::string& target :
       {std::string("/redfish"), std::string("/redfish/v1"), std::string("/redfish/v1/"),
        std::string("/redfish/v1/odata"), std::string("/redfish/v1/$metadata"),
        std::string("/redfish/v1/openapi.yaml"), std::string("/redfish/v1/NoSuchThing"),
        std::string("/redfish/v1/Systems?$expand=.($levels=1)"),
        std::string("/redfish/v1/Systems?$nonsense=1"), kSystem, kSystem + "/", kReset}) {
    for (const char* method : {"GET", "HEAD", "OPTIONS"}) {
      requests.push_back({.method = method, .target = target});
    }
  }
  requests.push_back({.target = kSystem, .headers = Header("If-None-Match", etag)});
  requests.push_back({.target = kSystem, .headers = Header("OData-Version", "3.0")});
  requests.push_back({.target = kSystem, .headers = Header("Accept", "text/plain")});
  for (const http::ClientRequest& request : requests) {
    INFO(request.method << " " << request.target);
    const auto direct = http::Fetch(host.address(), request).value();
    RequireSame(proxied.Try(request).value(), direct);
  }
}

TEST_CASE("A mutation is refused unless it was named, and then does at the host what it says") {
  Host host(kRack);
  Proxied proxied(SettingsFor(host.address(), {"PATCH /redfish/v1/Systems/*"}));
  const std::string patch = R"({"AssetTag": "by proxy"})";
  for (const auto& [method, target] : std::vector<std::pair<std::string, std::string>>{
           {"POST", kReset},
           {"PATCH", "/redfish/v1/Chassis/1U"},
           {"PUT", kSystem},
           {"DELETE", "/redfish/v1/SessionService/Sessions/1"},
           {"POST", kSessions}}) {
    const auto refused = proxied.Ask(method, target, patch);
    INFO(method << " " << target);
    REQUIRE(refused.status == 403);
    REQUIRE(ErrorOf(refused).find("mockserver.proxy.allow = [\"" + method + " " + target + "\"]") !=
            std::string::npos);
  }
  REQUIRE(host.methods().empty());
  const auto passed = proxied.Ask("PATCH", kSystem, patch);
  REQUIRE(passed.status == 200);
  REQUIRE(host.methods().count("PATCH") == 1);
  REQUIRE(Json::parse(proxied.Get(kSystem).body).at("AssetTag") == "by proxy");
  // What the host refuses is its own to say.
  const auto bad = proxied.Ask("PATCH", kSystem, R"({"AssetTag": 7})");
  REQUIRE(bad.status == 400);
  REQUIRE(proxied.Ask("TRACE", "/redfish/v1").status == 501);
  REQUIRE(proxied.Get("/etc/passwd").status == 404);
  REQUIRE(proxied.Get("/redfish/..%2fetc").status == 400);
}

TEST_CASE(
    "No header of a client makes a change of a read, and hop-by-hop fields end at the proxy") {
  std::mutex mutex;
  std::vector<std::string> seen;
  const Host host(kRack, {}, [&](const http::ServerRequest& request) {
    const std::lock_guard lock(mutex);
    for (const char* name :
         {"X-HTTP-Method-Override", "X-HTTP-Method", "Keep-Alive", "TE", "Upgrade", "Cookie",
          "Proxy-Authorization", "Accept-Encoding", "If-Match", "Via", "Host", "X-Auth-Token"}) {
      const std::string_view value = request.Header(name);
      if (!value.empty()) seen.push_back(std::string(name) + ": " + std::string(value));
    }
    return Said();
  });
  Proxied proxied(SettingsFor(host.address()));
  http::Headers headers;
  headers.Add("Host", "client-side.example");
  headers.Add("X-HTTP-Method-Override", "DELETE");
  headers.Add("X-HTTP-Method", "DELETE");
  headers.Add("Keep-Alive", "timeout=1");
  headers.Add("TE", "trailers");
  headers.Add("Upgrade", "h2c");
  headers.Add("Cookie", "a=b");
  headers.Add("Proxy-Authorization", "Basic eA==");
  headers.Add("Accept-Encoding", "gzip");
  headers.Add("If-Match", "\"x\"");
  headers.Add("Connection", "if-match , Keep-Alive");
  REQUIRE(proxied.Ask("GET", kSystem, "", headers).status == 200);
  REQUIRE(seen == std::vector<std::string>{"Via: 1.1 shoal", "Host: " + host.address()});
}

TEST_CASE("An answer loses what is of one connection alone, and what would lead past the proxy") {
  std::string address;
  const Host host(kRack, {}, [&](const http::ServerRequest& request) {
    return At(request, "X",
              Text("{}",
                   "X-Mine: 1\r\nX-mine: 2\r\nX-Nominated: 1\r\nKeep-Alive: timeout=5\r\n"
                   "Proxy-Authenticate: Basic\r\nTrailer: X\r\nUpgrade: h2c\r\n"
                   "Alt-Svc: h2=\"bmc:443\"\r\nConnection: x-nominated\r\n"
                   "X-Long: " +
                       std::string(3000, 'x') + "\r\nSet-Cookie: s=1\r\n" + "Location: http://" +
                       address + "/redfish/v1/Y?z\r\n"));
  });
  address = host.address();
  Proxied proxied(SettingsFor(host.address()));
  const auto answer = proxied.Get("/redfish/v1/X");
  REQUIRE(answer.status == 200);
  std::vector<std::string> names;
  for (const auto& [name, value] : answer.headers) names.push_back(name);
  std::sort(names.begin(), names.end());
  REQUIRE(names == std::vector<std::string>{"Content-Length", "Content-Type", "Date", "Location",
                                            "Set-Cookie", "X-Long", "X-Mine", "X-mine"});
  REQUIRE(answer.headers.Find("Location") == "/redfish/v1/Y?z");
}

TEST_CASE("A host that is down, slow, too talkative or no HTTP is a 502 or 504, and passes") {
  std::atomic<bool> held = true;
  runtime::BoundedQueue<http::Responder> holding(16);
  const Host host(kRack, {}, [&](const http::ServerRequest& request) {
    if (request.target() == "/redfish/v1/Slow" && held) {
      http::ServerResponse response;
      response.later = [&](http::Responder responder) { holding.Push(std::move(responder)); };
      return Said(std::move(response));
    }
    if (request.target() == "/redfish/v1/Cut") {
      return Said(http::ServerResponse{.dropped = true});
    }
    if (request.target() == "/redfish/v1/Odd") return Said(http::ServerResponse{.status = 101});
    return At(request, "Long", Text(std::string(5000, 'x')));
  });
  ProxySettings settings = SettingsFor(host.address());
  settings.access.connection.request_deadline = std::chrono::milliseconds(200);
  settings.access.connection.max_body_bytes = 100'000;
  Proxied proxied(std::move(settings));
  const auto slow = proxied.Get("/redfish/v1/Slow");
  REQUIRE(slow.status == 504);
  REQUIRE(ErrorOf(slow).find("in time") != std::string::npos);
  REQUIRE(proxied.Get("/redfish/v1/Cut").status == 502);
  REQUIRE(proxied.Get("/redfish/v1/Odd").status == 502);
  REQUIRE(proxied.Get("/redfish/v1/Long").status == 200);
  held = false;
  REQUIRE(proxied.Get("/redfish/v1/Slow").status == 404);

  ProxySettings narrow = SettingsFor(host.address());
  narrow.access.connection.max_body_bytes = 4096;
  REQUIRE(ErrorOf(Proxied(std::move(narrow)).Get("/redfish/v1/Long")).find("too long") !=
          std::string::npos);

  std::string address;
  { address = Host(kRack).address(); }
  const auto down = Proxied(SettingsFor(address)).Get(kSystem);
  REQUIRE(down.status == 502);
  REQUIRE(ErrorOf(down).find("cannot be reached") != std::string::npos);
}

TEST_CASE("A host that speaks noise is a 502, whatever the noise") {
  for (const std::string noise :
       {"nonsense\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "HTTP/1.1 999 Odd\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n", "HTTP/1.1 200 OK\r\nX",
        "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort"}) {
    boost::asio::io_context context;
    boost::asio::ip::tcp::acceptor acceptor(context,
                                            {boost::asio::ip::make_address("127.0.0.1"), 0});
    const std::string address = "127.0.0.1:" + std::to_string(acceptor.local_endpoint().port());
    std::atomic<bool> stopping = false;
    std::thread speaker([&] {
      // A request of which no byte of an answer came is sent again.
      while (true) {
        boost::asio::ip::tcp::socket socket(context);
        acceptor.accept(socket);
        if (stopping) return;
        boost::system::error_code ignored;
        std::string asked;
        boost::asio::read_until(socket, boost::asio::dynamic_buffer(asked), "\r\n\r\n", ignored);
        boost::asio::write(socket, boost::asio::buffer(noise), ignored);
      }
    });
    int status = 0;
    {
      Proxied proxied(SettingsFor(address));
      status = proxied.Get("/redfish/v1").status;
    }
    stopping = true;
    { const http::RawPeer last(address); }
    speaker.join();
    INFO(noise);
    REQUIRE(status == 502);
  }
}

TEST_CASE("A host is asked by TLS when it is trusted, and not at all otherwise") {
  const http::DevelopmentFiles files;
  Host host(kRack, {}, {}, files.Options());
  ProxySettings settings = SettingsFor(host.address());
  settings.access.connection.tls = http::ClientTls({}).value();
  const auto refused = Proxied(settings).Get(kSystem);
  REQUIRE(refused.status == 502);
  REQUIRE(ErrorOf(refused).find("not trusted") != std::string::npos);
  REQUIRE(host.methods().empty());
  settings.access.connection.tls = http::ClientTls({.authority_file = files.certificate}).value();
  REQUIRE(Proxied(settings).Get(kSystem).status == 200);
}

TEST_CASE("Many clients share few connections to the host") {
  const Host host(kRack);
  Proxied proxied(SettingsFor(host.address()));
  std::vector<std::future<int>> clients;
  for (int i = 0; i < 24; ++i) {
    clients.push_back(std::async(std::launch::async, [&] { return proxied.Get(kSystem).status; }));
  }
  for (auto& client : clients) REQUIRE(client.get() == 200);
  REQUIRE(host.server().counts().accepted_total <= 4);
}

TEST_CASE("A request that waits at the end is given up") {
  runtime::BoundedQueue<http::Responder> holding(16);
  const Host host(kRack, {}, [&](const http::ServerRequest&) {
    http::ServerResponse response;
    response.later = [&](http::Responder responder) { holding.Push(std::move(responder)); };
    return Said(std::move(response));
  });
  Proxied proxied(SettingsFor(host.address()));
  http::RawPeer peer(proxied.address());
  peer.Write("GET /redfish/v1 HTTP/1.1\r\nHost: x\r\n\r\n");
  REQUIRE(holding.Pop().has_value());
  REQUIRE(proxied.Close(std::chrono::milliseconds(20)).ok());
}

TEST_CASE("A stream of events is not passed on") {
  Host host(kRack);
  Proxied proxied(SettingsFor(host.address()));
  const auto refused =
      proxied.Ask("GET", "/redfish/v1/EventService/SSE", "", Header("Accept", "text/event-stream"));
  REQUIRE(refused.status == 501);
  REQUIRE(host.methods().empty());
}

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
  // A client's own is not what counts.
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
    return At(request, "X", Text("{}", "Set-Cookie: SESSION=s3cret\r\nX-Auth-Token: s3cret\r\n"));
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
