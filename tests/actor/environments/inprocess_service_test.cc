// SPDX-License-Identifier: Apache-2.0
#include "actor/environments/inprocess_service.h"

#include <catch2/catch.hpp>
#include <optional>

#include "mockserver/faults/fault.h"
#include "tests/mockserver/service/worlds.h"

namespace shoal::actor {
namespace {

const std::string kServedCapture = "openbmc-stock";
const std::string kSystem = "/redfish/v1/Systems/system";

// A service of one capture with the fault `fault`.
class Faulty {
 public:
  explicit Faulty(const mockserver::Json& fault)
      : worlds_{{kServedCapture, mockserver::WorldOf(kServedCapture)}},
        service_(
            worlds_,
            {.faults = mockserver::FaultSet::Parse({{"faults", mockserver::Json::array({fault})}})
                           .value()}) {
    redfish::Episode episode;
    episode.watch = *redfish::Watch::Parse(
        {{"predicate", {{"exists", {{"uri", kSystem}, {"pointer", "/Id"}}}}}});
    service_.Reset(kServedCapture, episode, [](const auto& progress) { REQUIRE(progress.ok()); });
  }

  absl::StatusOr<ServiceResponse> Send(const std::string& method,
                                       const mockserver::Json& body = nullptr) {
    std::optional<absl::StatusOr<ServiceResponse>> answer;
    service_.Send({.method = method, .uri = kSystem, .body = body},
                  [&](absl::StatusOr<ServiceResponse> response) { answer = std::move(response); });
    return answer.value();
  }

 private:
  const Worlds worlds_;
  InProcessService service_;
};

mockserver::Json Lost(const std::string& drop) {
  return {{"name", "lost"}, {"path", "/redfish/v1/Systems/*"}, {"drop", drop}, {"count", 1}};
}

}  // namespace

TEST_CASE("A dropped answer in process is an error of transport") {
  Faulty service(Lost("answer"));
  const auto lost = service.Send("PATCH", {{"LocationIndicatorActive", true}});
  REQUIRE(lost.status().code() == absl::StatusCode::kUnavailable);
  const auto read = service.Send("GET");
  REQUIRE(read.ok());
  REQUIRE(read->json->at("LocationIndicatorActive") == true);
}

TEST_CASE("A changed resource comes parsed in process, and with faults even so spoiled") {
  mockserver::Json invalid = Lost("request");
  invalid.erase("drop");
  invalid["malformed"] = "invalid";
  invalid["method"] = "GET";
  Faulty service(invalid);
  const auto changed = service.Send("PATCH", {{"LocationIndicatorActive", true}});
  REQUIRE(changed->json->at("LocationIndicatorActive") == true);
  REQUIRE_FALSE(mockserver::Json::accept(*service.Send("GET")->body));
  const auto read = service.Send("GET");
  REQUIRE(read->body == nullptr);
  REQUIRE(*read->json == *changed->json);
}

TEST_CASE("What changes nothing is asked once more, and all else is not, as over HTTP") {
  REQUIRE(Faulty(Lost("request")).Send("GET")->status == 200);
  mockserver::Json always = Lost("request");
  always.erase("count");
  REQUIRE(Faulty(always).Send("GET").status().code() == absl::StatusCode::kUnavailable);
  REQUIRE(Faulty(Lost("request")).Send("PUT").status().code() == absl::StatusCode::kUnavailable);
}

TEST_CASE("A fault's status and malformed body reach whoever asks in process") {
  mockserver::Json busy = Lost("request");
  busy.erase("drop");
  busy["status"] = 503;
  REQUIRE(Faulty(busy).Send("GET")->status == 503);
  busy.erase("status");
  busy["malformed"] = "invalid";
  REQUIRE(!mockserver::Json::accept(*Faulty(busy).Send("GET")->body));
}

}  // namespace shoal::actor
