// SPDX-License-Identifier: Apache-2.0
#include "mockserver/process/instance_ports.h"

#include <catch2/catch.hpp>

#include "tests/doubles/manual_clock.h"
#include "tests/mockserver/process/running.h"

namespace shoal::mockserver {
namespace {

const std::string kRack = "/redfish/v1/Systems/437XR1138R2";

int StatusAt(const std::string& address, const std::string& target,
             const http::Headers& headers = {}) {
  const auto answer = http::Fetch(address, {.target = target, .headers = headers});
  return answer.ok() ? answer->status : 0;
}

Json Make(Running& running, const std::string& body) {
  const auto made = running.Control("POST", "instances", body);
  REQUIRE(made.status == 201);
  return Json::parse(made.body);
}

}  // namespace

TEST_CASE("On an instance's own port nothing else chooses the instance") {
  Running running;
  Make(running, R"({"capture":"openbmc-stock","id":"other"})");
  const std::string address =
      Make(running, R"({"capture":"dmtf-rackmount1","id":"rack","port":0})").at("address");
  REQUIRE(StatusAt(address, kRack) == 200);
  http::Headers other;
  other.Add("Host", "other.example");
  REQUIRE(StatusAt(address, kRack, other) == 200);
  REQUIRE(StatusAt(address, "/i/other/redfish/v1") == 404);
  REQUIRE(running.Service("GET", "/i/rack" + kRack).status == 200);
  REQUIRE(running.Service("GET", kRack).status == 404);
}

TEST_CASE("A port goes with its instance, deleted or replaced") {
  Running running;
  const std::string rack = R"({"capture":"dmtf-rackmount1","id":"rack")";
  const std::string first = Make(running, rack + R"(,"port":0})").at("address");
  const std::string second = Make(running, rack + R"(,"port":0})").at("address");
  REQUIRE(StatusAt(first, kRack) == 0);
  REQUIRE(StatusAt(second, kRack) == 200);
  REQUIRE(!Make(running, rack + "}").contains("address"));
  REQUIRE(StatusAt(second, kRack) == 0);
  const std::string third = Make(running, rack + R"(,"port":0})").at("address");
  REQUIRE(running.Control("DELETE", "instances/rack").status == 204);
  REQUIRE(StatusAt(third, kRack) == 0);
}

TEST_CASE("Ports are bounded, and those of instances that have gone make room") {
  doubles::ManualClock clock;
  Running running({.idle_limit = std::chrono::seconds(10)}, clock);
  const std::string a = Make(running, R"({"id":"a","port":0})").at("address");
  Make(running, R"({"id":"b","port":0})");
  const auto refused = running.Control("POST", "instances", R"({"id":"c","port":0})");
  REQUIRE(refused.status == 429);
  REQUIRE(refused.body.find("port") != std::string::npos);
  REQUIRE(running.Service("GET", "/i/c/redfish/v1").status == 404);

  const std::string taken = a.substr(a.rfind(':') + 1);
  REQUIRE(running.Control("DELETE", "instances/b").status == 204);
  const auto busy = running.Control("POST", "instances", R"({"id":"c","port":)" + taken + "}");
  REQUIRE(busy.status == 400);
  REQUIRE(busy.body.find(taken) != std::string::npos);
  REQUIRE(running.Control("POST", "instances", R"({"port":65536})").status == 400);
  REQUIRE(running.Control("POST", "instances", R"({"port":"0"})").status == 400);

  Make(running, R"({"id":"b","port":0})");
  clock.Advance(std::chrono::seconds(11));
  running.Sweep();
  REQUIRE(StatusAt(a, "/redfish/v1") == 404);
  Make(running, R"({"id":"c","port":0})");
}

TEST_CASE("Where there are no ports, none is given") {
  runtime::Metrics metrics;
  const auto table = InstanceTable::Create({WorldOf("openbmc-stock")}, {}).value();
  class Control control(*table, metrics);
  const auto no_header = [](const void*, std::string_view) { return std::string_view(); };
  const http::ServerRequest request("POST", "/shoal/v1/instances", R"({"port":0})", nullptr,
                                    no_header);
  const http::ServerResponse answer = control.Handle(request);
  REQUIRE(answer.status == 400);
  REQUIRE(answer.body->find("port") != std::string::npos);
  REQUIRE(table->size() == 0);
}

}  // namespace shoal::mockserver
