// SPDX-License-Identifier: Apache-2.0
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <catch2/catch.hpp>
#include <deque>
#include <set>
#include <string>
#include <vector>

#include "mockserver/process/front.h"
#include "mockserver/process/instance_table.h"
#include "platform/http/address.h"
#include "platform/http/fetch.h"
#include "platform/http/server.h"
#include "platform/runtime/random.h"
#include "tests/mockserver/service/worlds.h"

namespace shoal::mockserver {
namespace {

namespace asio = boost::asio;

constexpr int kConnections = 400;
constexpr std::size_t kHalfOpen = 64;
const std::set<int> kRefusals = {200, 204, 304, 400, 404, 405, 406, 408,
                                 411, 412, 413, 415, 417, 431, 501, 503};

// Makes what one connection sends: requests, or bytes that only begin like requests.
class Peer {
 public:
  Peer(const World& world, std::uint64_t seed) : world_(world), random_(seed) {}

  std::string Draw() {
    std::string sent;
    for (std::uint64_t n = 1 + random_.Below(4); n > 0; --n) sent += DrawOne();
    return sent;
  }
  bool LeavesItHalf() { return random_.Below(8) == 0; }
  std::string Half(std::string whole) { return whole.substr(0, random_.Below(whole.size())); }

 private:
  std::string Uri() { return world_.resources()[random_.Below(world_.resources().size())].uri; }

  std::string Noise(std::uint64_t most) {
    std::string noise;
    for (std::uint64_t n = random_.Below(most); n > 0; --n) {
      noise += static_cast<char>(random_.Below(256));
    }
    return noise;
  }

  std::string DrawOne() {
    const std::string get = "GET " + Uri() + " HTTP/1.1\r\nHost: x\r\n";
    switch (random_.Below(9)) {
      case 0: {
        std::string flood = get;
        for (int i = 0; i < 500; ++i) flood += "X-Flood-" + std::to_string(i) + ": y\r\n";
        return flood + "\r\n";
      }
      case 1:
        return get + "X-Long: " + std::string(100'000, 'z') + "\r\n\r\n";
      case 2:
        return "GET /" + std::string(70'000, 'u') + " HTTP/1.1\r\nHost: x\r\n\r\n";
      case 3:
        return "PATCH " + Uri() + " HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\n\r\n{";
      case 4:
        return "PATCH " + Uri() + " HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n" +
               "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n";
      case 5:
        return Noise(300) + "\r\n\r\n";
      case 6:
        return get + "If-None-Match: " + Noise(40) + "\r\n\r\n";
      case 7:
        return "PATCH " + Uri() + " HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" +
               "FFFFFFFFFFFFFFFF\r\n";
      default:
        return get + "\r\n";
    }
  }

  const World& world_;
  runtime::Random random_;
};

std::vector<int> StatusesIn(const std::string& text) {
  std::vector<int> statuses;
  const std::string mark = "HTTP/1.1 ";
  for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + 1)) {
    statuses.push_back(std::stoi(text.substr(at + mark.size(), 3)));
  }
  return statuses;
}

}  // namespace

TEST_CASE("Header floods, endless bodies, noise and half-open connections leave a service whole") {
  runtime::Metrics metrics;
  for (const std::string& name : CaptureNames()) {
    const auto world = WorldOf(name);
    const auto table = InstanceTable::Create({world}, {}).value();
    Front front(*table, metrics);
    const auto server = http::Server::Create({}, [&](const auto& request) {
                          return front.Handle(request);
                        }).value();
    const auto address = http::ParseAddress(server->address()).value();
    asio::io_context context;
    const asio::ip::tcp::endpoint endpoint(asio::ip::make_address(address.host), address.port);
    Peer peer(*world, 17);
    std::deque<asio::ip::tcp::socket> half_open;
    std::set<int> seen;
    for (int i = 0; i < kConnections; ++i) {
      INFO(name << " connection " << i);
      asio::ip::tcp::socket socket(context);
      socket.connect(endpoint);
      boost::system::error_code error;
      std::string sent = peer.Draw();
      if (peer.LeavesItHalf()) {
        asio::write(socket, asio::buffer(peer.Half(std::move(sent))), error);
        half_open.push_back(std::move(socket));
        if (half_open.size() > kHalfOpen) half_open.pop_front();
        continue;
      }
      asio::write(socket, asio::buffer(sent), error);
      socket.shutdown(asio::ip::tcp::socket::shutdown_send, error);
      std::string answer;
      asio::read(socket, asio::dynamic_buffer(answer), error);
      for (const int status : StatusesIn(answer)) {
        REQUIRE(kRefusals.contains(status));
        seen.insert(status);
      }
    }
    for (const int status : {200, 400, 413, 431}) REQUIRE(seen.contains(status));
    const auto root = http::Fetch(server->address(), {.target = "/redfish/v1"}).value();
    REQUIRE(root.status == 200);
    REQUIRE(server->counts().connections <= static_cast<std::int64_t>(kHalfOpen) + 2);
    const auto slot = table->Default();
    const runtime::MutexLock lock(slot->mutex);
    REQUIRE(slot->instance.changed_resources() == 0);
  }
}

}  // namespace shoal::mockserver
