// SPDX-License-Identifier: Apache-2.0
#include "actor/environments/host_service.h"

#include <catch2/catch.hpp>

#include "tests/operate/lamp.h"

namespace shoal::actor {
namespace {

using operate::kLamp;
using operate::Lamp;

redfish::Episode LampOn() {
  redfish::Episode episode;
  episode.watch =
      redfish::Watch::Parse(
          {{"predicate", {{"equals", {{"uri", kLamp}, {"pointer", "/State"}, {"value", "On"}}}}},
           {"milestones", nlohmann::json::array()},
           {"allowed", nlohmann::json::array()}})
          .value();
  return episode;
}

// A service that may do to the lamp what the options say, at the start of an episode.
class Lit {
 public:
  Lit(const Lamp& lamp, RealHostOptions options) : service_(Make(lamp, std::move(options))) {
    service_->Reset("lamp", LampOn(), [this](absl::StatusOr<redfish::Progress> progress) {
      REQUIRE(progress.ok());
      start = *progress;
    });
  }

  ServiceResponse Send(const std::string& method, nlohmann::json body = nullptr) {
    absl::StatusOr<ServiceResponse> answer;
    service_->Send({.method = method, .uri = kLamp, .body = std::move(body)},
                   [&answer](absl::StatusOr<ServiceResponse> sent) { answer = std::move(sent); });
    REQUIRE(answer.ok());
    return *answer;
  }
  ServiceResponse Switch() { return Send("PATCH", {{"State", "On"}}); }

  redfish::Progress start;

 private:
  static std::unique_ptr<HostService> Make(const Lamp& lamp, RealHostOptions options) {
    options.url = "http://" + lamp.address();
    const HostTerms terms = TermsOf(options).value();
    return std::make_unique<HostService>(
        terms, std::make_shared<operate::Budget>(terms.permissions.budget));
  }

  const std::unique_ptr<HostService> service_;
};

}  // namespace

TEST_CASE("A real host is only read unless methods are named") {
  Lamp lamp;
  Lit lit(lamp, {});
  REQUIRE_FALSE(lit.start.satisfied);
  REQUIRE(JsonOf(lit.Send("GET"))->at("State") == "Off");
  const ServiceResponse refused = lit.Switch();
  REQUIRE(refused.status == 403);
  REQUIRE(JsonOf(refused)->at("error").at("message") == "the host is only read");
  REQUIRE(lamp.requests().empty());
}

TEST_CASE("A named method changes a host until the budget is spent, and the goal is judged by it") {
  Lamp lamp;
  Lit lit(lamp, {.methods = {"PATCH"}, .budget = 1});
  const ServiceResponse done = lit.Switch();
  REQUIRE(done.status == 204);
  REQUIRE(done.progress.satisfied);
  REQUIRE(lit.Switch().status == 403);
  REQUIRE(lit.Send("POST", {{"State", "On"}}).status == 403);
  REQUIRE(lamp.requests().size() == 1);
}

TEST_CASE("Paths that are not named are not written on a host") {
  Lamp lamp;
  Lit lit(lamp, {.methods = {"PATCH"}, .uris = {"/redfish/v1/Systems/**"}, .budget = 9});
  REQUIRE(lit.Switch().status == 403);
  REQUIRE(lamp.requests().empty());
}

TEST_CASE("Nothing makes a host misbehave, and whoever asks for it learns that") {
  Lamp lamp;
  HostService service(TermsOf({.url = "http://" + lamp.address()}).value(),
                      std::make_shared<operate::Budget>(0));
  const auto set = service.SetFaults({.rate = 0.5, .task = std::chrono::milliseconds(5'000)});
  REQUIRE(set.ok());
  REQUIRE(set->rate == 0);
  REQUIRE_FALSE(set->task);
}

TEST_CASE("What may be done to a host must be said whole") {
  const auto refusal = [](const RealHostOptions& options) {
    const auto terms = TermsOf(options);
    REQUIRE(absl::IsInvalidArgument(terms.status()));
    return std::string(terms.status().message());
  };
  REQUIRE(refusal({}).find("environment.host.url") != std::string::npos);
  REQUIRE(refusal({.url = "https://a", .methods = {"PATCH"}}).find("budget") != std::string::npos);
  REQUIRE(refusal({.url = "https://a", .budget = 3}).find("methods") != std::string::npos);
  REQUIRE(refusal({.url = "https://a", .methods = {"GET"}, .budget = 3}).find("GET") !=
          std::string::npos);
  REQUIRE(refusal({.url = "https://a", .access = {.user = "root"}}).find("password") !=
          std::string::npos);
}

}  // namespace shoal::actor
