// SPDX-License-Identifier: Apache-2.0
#include "redfish/goals/plan.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "redfish/capture/uri.h"

namespace shoal::redfish {
namespace {

using Json = nlohmann::json;

const std::string kBox = "/redfish/v1/Systems/box";
const std::string kShelf = "/redfish/v1/Chassis/shelf";
const std::string kUsers = "/redfish/v1/Users";

// A service of fixed bodies that accepts every change.
class FixedService final : public PlanClient {
 public:
  explicit FixedService(std::map<std::string, Json> bodies, bool expands = false)
      : bodies_(std::move(bodies)), expands_(expands) {}

  PlanReply Send(const PlanRequest& request) override {
    sent_.push_back(request.method + " " + request.uri +
                    (request.body.is_null() ? "" : " " + request.body.dump()));
    if (request.method != "GET")
      return {.status = 204, .body = nullptr, .location = "", .token = ""};
    const auto found = bodies_.find(CanonicalUri(request.uri));
    if (found == bodies_.end()) {
      return {.status = 404, .body = nullptr, .location = "", .token = ""};
    }
    Json body = found->second;
    for (Json& member : body["Members"]) {
      const auto of = bodies_.find(LinkTarget(member));
      if (request.uri.ends_with(kExpandQuery) && of != bodies_.end()) member = of->second;
    }
    return {.status = 200, .body = std::move(body), .location = "", .token = ""};
  }
  void Wait(std::chrono::seconds) override {}
  bool Expands(const std::string& uri) const override { return expands_ && uri == kUsers; }

  const std::vector<std::string>& sent() const { return sent_; }

 private:
  const std::map<std::string, Json> bodies_;
  const bool expands_;
  std::vector<std::string> sent_;
};

Json UserNamed(const std::string& name) {
  return {{"@odata.id", kUsers + "/" + name}, {"UserName", name}};
}

std::map<std::string, Json> TwoUsers() {
  const Json members = {{{"@odata.id", kUsers + "/eve"}}, {{"@odata.id", kUsers + "/bob"}}};
  return {{kUsers, {{"@odata.id", kUsers}, {"Members", members}}},
          {kUsers + "/eve", UserNamed("eve")},
          {kUsers + "/bob", UserNamed("bob")}};
}

const Json kRemoveBob = {
    {"method", "DELETE"},
    {"uri", "$each"},
    {"each",
     {{"members", kUsers}, {"where", {{"equals", {{"pointer", "/UserName"}, {"value", "bob"}}}}}}}};

}  // namespace

TEST_CASE("A step that copies looks where the value stands and sends what it sees") {
  const Json step = {{"method", "PATCH"},
                     {"uri", kBox},
                     {"body", {{"Label", "x"}}},
                     {"copy", {{"/AssetTag", {{"uri", kShelf}, {"pointer", "/Serial"}}}}}};
  for (const bool unseen : {false, true}) {
    FixedService service({{kShelf, {{"Serial", "S-9"}}}});
    REQUIRE(RunPlan({step}, service, {.unseen = unseen}).ok());
    REQUIRE(service.sent() ==
            std::vector<std::string>{"GET " + kShelf,
                                     "PATCH " + kBox + R"( {"AssetTag":"S-9","Label":"x"})"});
  }
  FixedService bare({{kShelf, Json::object()}});
  REQUIRE(absl::IsFailedPrecondition(RunPlan({step}, bare).status()));
  FixedService none({});
  REQUIRE(absl::IsFailedPrecondition(RunPlan({step}, none).status()));
}

TEST_CASE("A copy without a place to copy from is refused") {
  for (const Json& copy : {Json(3), Json{{"/A", 3}}, Json{{"/A", {{"uri", kBox}}}},
                           Json{{"/A", {{"uri", kBox}, {"pointer", 3}}}}}) {
    INFO(copy.dump());
    REQUIRE(
        absl::IsInvalidArgument(CheckPlan({{{"method", "PATCH"}, {"uri", kBox}, {"copy", copy}}})));
  }
}

TEST_CASE("An expert waits for a task's work, and says when that failed or cannot be seen") {
  const std::string uri = "/redfish/v1/TaskService/Tasks/7";
  // Answers a change with the first state, and looks at the task with the others. An empty state
  // is a task that is not there.
  class Tasking final : public PlanClient {
   public:
    Tasking(std::string task, std::vector<std::string> states)
        : uri_(std::move(task)), states_(std::move(states)) {}
    PlanReply Send(const PlanRequest& request) override {
      const std::string& state = states_.at(std::min(next_++, states_.size() - 1));
      const int status = request.method != "GET" ? 202 : state.empty() ? 404 : 200;
      return {.status = status,
              .body = {{"@odata.id", uri_}, {"TaskState", state}},
              .location = uri_ + "/Monitor",
              .token = ""};
    }
    void Wait(std::chrono::seconds) override { ++waits_; }
    int waits() const { return waits_; }

   private:
    const std::string uri_;
    const std::vector<std::string> states_;
    std::size_t next_ = 0;
    int waits_ = 0;
  };
  const Json step = {{"method", "PATCH"}, {"uri", kBox}, {"body", {{"Label", "x"}}}};
  const auto run = [&](std::vector<std::string> states, const Json& one) {
    Tasking service(uri, std::move(states));
    const absl::Status status = RunPlan({one}, service, {.looks = 4}).status();
    return std::pair(status.code(), service.waits());
  };
  using Code = absl::StatusCode;
  REQUIRE(run({"Completed"}, step) == std::pair(Code::kOk, 0));
  // It goes on when somebody restarts the system, which the plan may do next.
  REQUIRE(run({"Starting"}, step) == std::pair(Code::kOk, 0));
  REQUIRE(run({"New", "Running", "Completed"}, step) == std::pair(Code::kOk, 2));
  REQUIRE(run({"Running", "Exception"}, step) == std::pair(Code::kFailedPrecondition, 1));
  REQUIRE(run({"Running", ""}, step) == std::pair(Code::kUnavailable, 1));
  REQUIRE(run({"Running"}, step) == std::pair(Code::kUnavailable, 4));
  Json keeping = step;
  keeping["keep"] = "own";
  REQUIRE(run({"Completed"}, keeping) == std::pair(Code::kFailedPrecondition, 0));
}

TEST_CASE("A step for each member reads a collection that expands with one request") {
  FixedService one_by_one(TwoUsers());
  REQUIRE(RunPlan({kRemoveBob}, one_by_one).ok());
  REQUIRE(one_by_one.sent() == std::vector<std::string>{"GET " + kUsers, "GET " + kUsers + "/eve",
                                                        "GET " + kUsers + "/bob",
                                                        "DELETE " + kUsers + "/bob"});
  FixedService at_once(TwoUsers(), /*expands=*/true);
  REQUIRE(RunPlan({kRemoveBob}, at_once).ok());
  REQUIRE(at_once.sent() ==
          std::vector<std::string>{"GET " + kUsers + "?$expand=.", "DELETE " + kUsers + "/bob"});
}

TEST_CASE("The candidate that reads a collection with its members is not the one without") {
  Candidate plain;
  plain.method = "GET";
  plain.uri = kUsers;
  Candidate expanding = plain;
  expanding.uri += kExpandQuery;
  const std::vector<Candidate> candidates = {plain, expanding};
  const auto find = [&](const std::string& uri) {
    return FindCandidate(candidates, {.method = "GET", .uri = uri, .body = nullptr, .token = ""});
  };
  REQUIRE(find(kUsers) == 0);
  REQUIRE(find(kUsers + "/") == 0);
  REQUIRE(find(kUsers + "?$expand=.") == 1);
}

}  // namespace shoal::redfish
