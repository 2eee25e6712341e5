// SPDX-License-Identifier: Apache-2.0
// Tests what a proxy passes on to a second, real instance over loopback, and what it does not.
#include "mockserver/proxy/proxy.h"

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <future>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "platform/http/responder.h"
#include "platform/http/tls_context.h"
#include "platform/runtime/bounded_queue.h"
#include "tests/mockserver/proxy/proxied.h"
#include "tests/mockserver/service/services.h"
#include "tests/platform/http/development_files.h"
#include "tests/platform/http/raw_peer.h"

namespace shoal::mockserver {
namespace {

const std::string kReset = kSystem + "/Actions/ComputerSystem.Reset";

std::string ErrorOf(const http::ClientResponse& response) {
  const Json body = Json::parse(response.body, nullptr, false);
  REQUIRE(body.is_object());
  REQUIRE(body.at("error").at("@Message.ExtendedInfo").size() == 1);
  return body.at("error").at("message");
}

// Compares everything that the network must not change.
void RequireSame(const http::ClientResponse& got, const http::ClientResponse& expected) {
  REQUIRE(got.status == expected.status);
  REQUIRE(got.body == expected.body);
  for (const char* name : {"ETag", "Allow", "Location", "Link", "OData-Version", "Cache-Control",
                           "Content-Type", "Content-Length", "Retry-After", "WWW-Authenticate"}) {
    INFO(name);
    REQUIRE(got.headers.Find(name) == expected.headers.Find(name));
  }
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
  // A request that the host refuses gets the host's answer.
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
    return SaidAt(request, "X",
                  Text("{}",
                       "X-Mine: 1\r\nX-mine: 2\r\nX-Nominated: 1\r\nKeep-Alive: timeout=5\r\n"
                       "Proxy-Authenticate: Basic\r\nTrailer: X\r\nUpgrade: h2c\r\n"
                       "Alt-Svc: h2=\"bmc:443\"\r\nConnection: x-nominated\r\n"
                       "X-Long: " +
                           std::string(3000, 'x') + "\r\nSet-Cookie: s=1\r\n" +
                           "Location: http://" + address + "/redfish/v1/Y?z\r\n"));
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
    return SaidAt(request, "Long", Text(std::string(5000, 'x')));
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
      // The client sends a request again if no byte of an answer came.
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

}  // namespace
}  // namespace shoal::mockserver
