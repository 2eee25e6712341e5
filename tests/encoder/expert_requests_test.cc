// SPDX-License-Identifier: Apache-2.0
#include "encoder/expert_requests.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

namespace shoal::encoder {
namespace {

using nlohmann::json;

std::vector<redfish::PlanRequest> RequestsOf(const std::string& file) {
  const auto suite = redfish::LoadGoals("data/goals").value();
  const auto goal = redfish::Goal::Load("data/goals/" + file + ".toml").value();
  const auto capture = redfish::Capture::Load("data/captures/dmtf-catfish.tar.xz").value();
  const auto applied = redfish::AppliedGoal::Create(goal, *capture, suite).value();
  for (std::uint64_t number = 0; number < 50; ++number) {
    const auto episode = applied->DrawEpisode(1, number, redfish::Split::kEvaluate).value();
    if (episode.satisfied || episode.optimum < 2) continue;
    const auto requests = ExpertRequests(*capture, *applied, episode);
    REQUIRE(requests.ok());
    return *requests;
  }
  return {};
}

redfish::Candidate Offered(const char* method, const json& body) {
  redfish::Candidate candidate;
  candidate.method = method;
  candidate.uri = "/redfish/v1/a";
  candidate.body = body;
  return candidate;
}

bool Like(const char* method, const json& offered, const json& asked) {
  return IsLike(Offered(method, offered), {method, "/redfish/v1/a", asked, ""});
}

TEST_CASE("an expert's override and the restart that its effect calls for are found in memory") {
  const auto requests = RequestsOf("05-pxe_once");
  REQUIRE(requests.size() == 2);
  REQUIRE(requests[0].method == "PATCH");
  REQUIRE(requests[0].body.at("Boot").at("BootSourceOverrideTarget") == "Pxe");
  REQUIRE(requests[1].method == "POST");
  REQUIRE(requests[1].body.contains("ResetType"));
}

TEST_CASE("members that an expert makes are there for its next request") {
  const auto requests = RequestsOf("09-forced_password");
  REQUIRE(requests.size() == 3);
  REQUIRE(requests[0].method == "POST");
  REQUIRE(requests[1].method == "PATCH");
  REQUIRE(requests[2].method == "POST");
}

TEST_CASE("a candidate is like a request whose values it offers") {
  REQUIRE(Like("PATCH", {{"A", 1}}, {{"A", 1}}));
  REQUIRE(Like("PATCH", {{"A", "<goal.A>"}}, {{"A", "x"}}));
  REQUIRE(Like("PATCH", {{"A", json::array({"<goal.A>"})}}, {{"A", {"x", "y"}}}));
  REQUIRE(Like("GET", nullptr, nullptr));
  REQUIRE(Like("POST", {{"A", 1}, {"B", 2}}, {{"A", 1}}));
  REQUIRE(Like("POST", json::object(), nullptr));
  REQUIRE_FALSE(Like("PATCH", {{"A", 1}, {"B", 2}}, {{"A", 1}}));
  REQUIRE_FALSE(Like("PATCH", {{"A", 1}}, {{"A", 2}}));
  REQUIRE_FALSE(Like("POST", {{"B", 1}}, {{"A", 1}}));
  REQUIRE_FALSE(IsLike(Offered("GET", nullptr), {"GET", "/redfish/v1/b", nullptr, ""}));
  REQUIRE_FALSE(IsLike(Offered("GET", nullptr), {"DELETE", "/redfish/v1/a", nullptr, ""}));
}

}  // namespace
}  // namespace shoal::encoder
