// SPDX-License-Identifier: Apache-2.0
#include "mockserver/process/event_sender.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <catch2/catch.hpp>
#include <string>
#include <thread>
#include <vector>

#include "mockserver/process/control.h"
#include "mockserver/process/front.h"
#include "platform/http/server.h"
#include "tests/mockserver/events/event_clients.h"
#include "tests/platform/http/raw_peer.h"

namespace shoal::mockserver {
namespace {

struct Received {
  std::string target;
  std::string content_type;
  std::string key;
  std::string body;
};

// A subscriber on loopback that gives scripted answers, then 204.
class Listener {
 public:
  explicit Listener(std::vector<int> answers = {})
      : answers_(std::move(answers)), server_(http::Server::Create({}, [this](const auto& request) {
                                                return Answer(request);
                                              }).value()) {}

  std::string Uri() const { return "http://" + server_->address() + "/events?from=bmc"; }

  // Waits until `count` requests have come.
  std::vector<Received> Await(std::size_t count) {
    const runtime::MutexLock lock(mutex_);
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (received_.size() < count && came_.WaitUntil(mutex_, deadline)) {
    }
    return received_;
  }

 private:
  http::ServerResponse Answer(const http::ServerRequest& request) {
    const runtime::MutexLock lock(mutex_);
    const std::size_t number = received_.size();
    received_.push_back({std::string(request.target()), std::string(request.Header("Content-Type")),
                         std::string(request.Header("X-Key")), std::string(request.body())});
    came_.NotifyAll();
    return {.status = number < answers_.size() ? answers_[number] : 204};
  }

  const std::vector<int> answers_;
  runtime::Mutex mutex_;
  runtime::CondVar came_;
  std::vector<Received> received_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<http::Server> server_;
};

// A mock server without ports that sends its events. Requests go to the front as the HTTP server
// would pass them.
class RunningSender {
 public:
  explicit RunningSender(EventSenderOptions options = {})
      : table_(InstanceTable::Create({WorldOf("openbmc-stock")},
                                     {.instance = {.event_delivery = EventDelivery::kPush}})
                   .value()),
        sender_(metrics_, options),
        front_(*table_, metrics_, &sender_),
        control_(*table_, metrics_, {}, &sender_) {}

  Json Service(const std::string& method, const std::string& target, const Json& body) {
    return Send(front_, method, target, body);
  }
  Json Control(const std::string& method, const std::string& path, const Json& body) {
    return Send(control_, method, "/shoal/v1/instances/default/" + path, body);
  }
  // Waits for the first `count` events in the history and returns their details.
  std::vector<Json> AwaitEvents(std::size_t count) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (true) {
      std::vector<Json> events;
      const Json history = Control("GET", "history", Json());
      for (const Json& record : history.at("records")) {
        if (record.at("kind") == "event") events.push_back(record.at("detail"));
      }
      if (events.size() >= count || std::chrono::steady_clock::now() > deadline) return events;
      std::this_thread::yield();
    }
  }
  http::ServerResponse Handle(const http::ServerRequest& request) { return front_.Handle(request); }
  std::size_t Subscribers() { return Service("GET", kSubscriptions, Json()).at("Members").size(); }
  void PowerOn() {
    Service("POST", "/redfish/v1/Systems/system/Actions/ComputerSystem.Reset",
            {{"ResetType", "On"}});
  }

 private:
  template <typename Handler>
  static Json Send(Handler& handler, const std::string& method, const std::string& target,
                   const Json& body) {
    const std::string text = body.is_null() ? std::string() : body.dump();
    const http::ServerRequest request(
        method, target, text, nullptr,
        [](const void*, std::string_view) { return std::string_view(); });
    const http::ServerResponse response = handler.Handle(request);
    REQUIRE(response.status < 300);
    return response.body == nullptr ? Json() : Json::parse(*response.body);
  }

  runtime::Metrics metrics_;
  std::unique_ptr<InstanceTable> table_;
  EventSender sender_;
  Front front_;
  class Control control_;
};

constexpr const char* kPoweredOn = "ResourceEvent.1.4.ResourcePoweredOn";

// A client's connection to a mock server, and what comes over it.
class StreamClient {
 public:
  StreamClient(const std::string& address, const std::string& target) : peer_(address) {
    peer_.Write("GET " + target + " HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\n\r\n");
    head_ = peer_.ReadUntil("\r\n\r\n");
  }

  const std::string& head() const { return head_; }
  // Returns the next event's payload.
  Json Next() {
    const std::string event = peer_.ReadUntil("\n\n");
    const std::size_t data = event.find("data: ");
    REQUIRE(data != std::string::npos);
    return Json::parse(event.substr(data + 6));
  }
  // Reads until the server ends the stream.
  std::string Rest() { return peer_.ReadAll(); }
  void Close() { peer_.Close(); }

 private:
  http::RawPeer peer_;
  std::string head_;
};

const std::string kStream = "/redfish/v1/EventService/SSE";

}  // namespace

TEST_CASE("A listener gets a power event, once more after it answered 500, and no more then") {
  Listener listener({500});
  RunningSender running;
  Json subscription = SubscriptionTo(listener.Uri());
  subscription["HttpHeaders"] = Json::array({{{"X-Key", "secret"}}});
  running.Service("POST", kSubscriptions, subscription);
  running.PowerOn();

  std::vector<Received> received = listener.Await(1);
  REQUIRE(received.size() == 1);
  REQUIRE(received[0].target == "/events?from=bmc");
  REQUIRE(received[0].content_type == "application/json");
  REQUIRE(received[0].key == "secret");
  const Json event = Json::parse(received[0].body);
  REQUIRE(event.at("Context") == "ours");
  REQUIRE(event.at("Events").at(0).at("MessageId") == kPoweredOn);
  std::vector<Json> events = running.AwaitEvents(1);
  REQUIRE(events.size() == 1);
  REQUIRE(events[0].at("delivered") == false);

  running.Control("POST", "advance", {{"milliseconds", 29'999}});
  REQUIRE(listener.Await(1).size() == 1);
  running.Control("POST", "advance", {{"milliseconds", 1}});
  received = listener.Await(2);
  REQUIRE(received.size() == 2);
  REQUIRE(received[1].body == received[0].body);
  events = running.AwaitEvents(2);
  REQUIRE(events.size() == 2);
  REQUIRE(events[1] == Json{{"delivered", true},
                            {"MessageId", kPoweredOn},
                            {"destination", listener.Uri()},
                            {"attempt", 2}});
  running.Control("POST", "advance", {{"milliseconds", 600'000}});
  REQUIRE(running.AwaitEvents(2).size() == 2);
  REQUIRE(listener.Await(2).size() == 2);
}

TEST_CASE("A subscriber that is not there, and one of https, do not keep another one waiting") {
  Listener listener;
  std::string nobody;
  {
    const auto gone = http::Server::Create({}, [](const auto&) { return http::ServerResponse(); });
    nobody = "http://" + (*gone)->address() + "/";
  }
  RunningSender running;
  for (const std::string& destination :
       {nobody, "https://" + listener.Uri().substr(7), listener.Uri()}) {
    running.Service("POST", kSubscriptions, SubscriptionTo(destination));
  }
  running.PowerOn();
  REQUIRE(listener.Await(1).size() == 1);
  const std::vector<Json> events = running.AwaitEvents(3);
  REQUIRE(events.size() == 3);
  for (const Json& event : events) {
    REQUIRE(event.at("delivered") == (event.at("destination") == Json(listener.Uri())));
  }
}

TEST_CASE("A subscriber that never answers fails at the deadline") {
  boost::asio::io_context context;
  const boost::asio::ip::tcp::acceptor silent(context,
                                              {boost::asio::ip::address_v4::loopback(), 0});
  RunningSender running({.deadline = std::chrono::milliseconds(50)});
  running.Service(
      "POST", kSubscriptions,
      SubscriptionTo("http://127.0.0.1:" + std::to_string(silent.local_endpoint().port()) + "/"));
  running.PowerOn();
  const std::vector<Json> events = running.AwaitEvents(1);
  REQUIRE(events.size() == 1);
  REQUIRE(events[0].at("delivered") == false);
}

TEST_CASE("More deliveries than may be under way fail at once") {
  boost::asio::io_context context;
  const boost::asio::ip::tcp::acceptor silent(context,
                                              {boost::asio::ip::address_v4::loopback(), 0});
  const std::string destination =
      "http://127.0.0.1:" + std::to_string(silent.local_endpoint().port()) + "/";
  RunningSender running({.max_waiting = 1, .deadline = std::chrono::minutes(10)});
  running.Service("POST", kSubscriptions, SubscriptionTo(destination));
  running.Service("POST", kSubscriptions, SubscriptionTo(destination));
  running.PowerOn();
  REQUIRE(running.AwaitEvents(1).size() == 1);
}

TEST_CASE("A client hears of events on an open connection, and its subscription goes with it") {
  RunningSender running;
  const auto server = http::Server::Create({}, [&](const auto& request) {
                        return running.Handle(request);
                      }).value();
  StreamClient client(server->address(), kStream);
  REQUIRE(client.head().starts_with("HTTP/1.1 200"));
  REQUIRE(client.head().find("Content-Type: text/event-stream\r\n") != std::string::npos);
  REQUIRE(running.Subscribers() == 1);
  running.PowerOn();
  const Json event = client.Next();
  REQUIRE(event.at("Events").at(0).at("MessageId") == kPoweredOn);
  client.Close();
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (running.Subscribers() > 0 && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::yield();
  }
  REQUIRE(running.Subscribers() == 0);
}

TEST_CASE("A connection with events ends when its subscription is deleted, or the service reset") {
  RunningSender running;
  const auto server = http::Server::Create({}, [&](const auto& request) {
                        return running.Handle(request);
                      }).value();
  StreamClient deleted(server->address(), kStream);
  const Json members = running.Service("GET", kSubscriptions, Json()).at("Members");
  REQUIRE(members.size() == 1);
  running.Service("DELETE", members.at(0).at("@odata.id"), Json());
  REQUIRE(deleted.Rest().find("data:") == std::string::npos);
  StreamClient reset(server->address(), kStream);
  running.Control("POST", "reset", Json::object());
  REQUIRE(reset.Rest().find("data:") == std::string::npos);
  REQUIRE(running.Subscribers() == 0);
}

}  // namespace shoal::mockserver
