// SPDX-License-Identifier: Apache-2.0
#include "mockserver/proxy/origin.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "platform/http/responder.h"
#include "platform/http/server.h"
#include "platform/runtime/bounded_queue.h"
#include "tests/doubles/manual_clock.h"

namespace shoal::mockserver {
namespace {

using Outcome = absl::StatusOr<http::ClientResponse>;

// A host that holds its answers until the test releases them, except those that a session needs.
class HoldingHost {
 public:
  HoldingHost()
      : server_(http::Server::Create({}, [this](const http::ServerRequest& request) {
                  return Handle(request);
                }).value()) {}

  discovery::CrawlOptions access() const { return {.connection = {.address = server_->address()}}; }
  http::Responder Next() { return *holding_.Pop(); }
  int logins() const { return logins_; }
  int logouts() const { return logouts_; }

 private:
  http::ServerResponse Handle(const http::ServerRequest& request) {
    if (request.method() == "POST") {
      ++logins_;
      return {.status = 201,
              .header_lines =
                  "X-Auth-Token: t\r\nLocation: "
                  "/redfish/v1/SessionService/Sessions/1\r\n"};
    }
    if (request.method() == "DELETE") {
      ++logouts_;
      return {.status = 204};
    }
    if (request.target() == "/redfish/v1/") return {.status = 200};
    http::ServerResponse response;
    response.later = [this](http::Responder responder) { holding_.Push(std::move(responder)); };
    return response;
  }

  std::atomic<int> logins_ = 0;
  std::atomic<int> logouts_ = 0;
  runtime::BoundedQueue<http::Responder> holding_{1024};
  // The server comes last, since its threads use the members above.
  const std::unique_ptr<http::Server> server_;
};

std::future<Outcome> Ask(Origin& origin) {
  auto told = std::make_shared<std::promise<Outcome>>();
  std::future<Outcome> outcome = told->get_future();
  origin.Ask({.target = "/redfish/v1/X"},
             [told](Outcome response, double) { told->set_value(std::move(response)); });
  return outcome;
}

TEST_CASE("Requests past the limit are refused at once, and those before it are answered") {
  HoldingHost host;
  discovery::CrawlOptions access = host.access();
  access.concurrency = 2;
  Origin origin(access, runtime::SystemClock());
  std::vector<std::future<Outcome>> waiting;
  for (std::size_t i = 0; i < Origin::kMaximumWaiting; ++i) waiting.push_back(Ask(origin));
  REQUIRE(absl::IsResourceExhausted(Ask(origin).get().status()));
  for (std::size_t i = 0; i < Origin::kMaximumWaiting; ++i) host.Next().Send({.status = 204});
  for (auto& outcome : waiting) REQUIRE(outcome.get().value().status == 204);
}

TEST_CASE("A request that has waited longer than an answer may take is not sent") {
  HoldingHost host;
  discovery::CrawlOptions access = host.access();
  access.concurrency = 1;
  doubles::ManualClock clock;
  Origin origin(access, clock);
  auto first = Ask(origin);
  const http::Responder held = host.Next();
  auto second = Ask(origin);
  clock.Advance(access.connection.request_deadline);
  held.Send({.status = 204});
  REQUIRE(first.get().value().status == 204);
  REQUIRE(absl::IsDeadlineExceeded(second.get().status()));
}

TEST_CASE("A session that the host forgets is made again, but not at once and not for ever") {
  HoldingHost host;
  discovery::CrawlOptions access = host.access();
  access.authentication = discovery::Authentication::kSession;
  access.user = "u";
  access.password = "p";
  doubles::ManualClock clock;
  Origin origin(access, clock);
  const auto asked = [&](const std::vector<int>& statuses) {
    auto outcome = Ask(origin);
    for (const int status : statuses) host.Next().Send({.status = status});
    return outcome.get().value().status;
  };
  REQUIRE(asked({401}) == 401);
  REQUIRE(host.logins() == 1);
  clock.Advance(Origin::kRenewalPause);
  REQUIRE(asked({401, 200}) == 200);
  REQUIRE(host.logins() == 2);
  REQUIRE(host.logouts() == 1);
  clock.Advance(Origin::kRenewalPause);
  REQUIRE(asked({401, 401}) == 401);
  REQUIRE(host.logins() == 3);
  REQUIRE(origin.Stop(std::chrono::milliseconds(5'000)).ok());
  REQUIRE(host.logouts() == 3);
}

TEST_CASE("A pace lets requests go one after another") {
  HoldingHost host;
  discovery::CrawlOptions access = host.access();
  access.requests_per_second = 1000;
  Origin origin(access, runtime::SystemClock());
  std::vector<std::future<Outcome>> waiting;
  for (int i = 0; i < 20; ++i) waiting.push_back(Ask(origin));
  for (int i = 0; i < 20; ++i) host.Next().Send({.status = 204});
  for (auto& outcome : waiting) REQUIRE(outcome.get().ok());
}

TEST_CASE("What is under way at the end is given up, and asked after it is not") {
  HoldingHost host;
  Origin origin(host.access(), runtime::SystemClock());
  auto under_way = Ask(origin);
  const http::Responder held = host.Next();
  REQUIRE(origin.Stop(std::chrono::milliseconds(0)).ok());
  auto late = Ask(origin);
  REQUIRE(under_way.wait_for(std::chrono::seconds(0)) != std::future_status::ready);
  REQUIRE(late.wait_for(std::chrono::seconds(0)) != std::future_status::ready);
}

}  // namespace
}  // namespace shoal::mockserver
