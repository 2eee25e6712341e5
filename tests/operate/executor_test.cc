// SPDX-License-Identifier: Apache-2.0
#include "operate/executor.h"

#include <catch2/catch.hpp>
#include <vector>

#include "lamp.h"
#include "operate/change_report.h"
#include "tests/doubles/temporary_folder.h"

namespace shoal::operate {
namespace {

using std::chrono::milliseconds;

Step PatchLamp() {
  return {
      .method = "PATCH",
      .uri = kLamp,
      .body = {{"State", "On"}},
      .status = 200,
      .effects = {
          {.uri = kLamp, .pointer = "/State", .before = "Off", .after = "On", .matters = true}}};
}

Step ToggleLamp() {
  Step step = PatchLamp();
  step.method = "POST";
  step.uri = kLamp + "/Actions/Lamp.Toggle";
  return step;
}

// One operation on a lamp. The pauses do not wait, and may stop it.
class Operated {
 public:
  explicit Operated(std::vector<Lamp::Reaction> script = {}) : lamp_(std::move(script)) {}

  Execution Run(std::vector<Step> steps, std::int64_t budget = 20) {
    announcement_ = {
        .host = "lamp",
        .goal = "light",
        .steps = std::move(steps),
        .predicate = {{"equals", {{"uri", kLamp}, {"pointer", "/State"}, {"value", "On"}}}}};
    const auto log = AuditLog::Open(Path(), runtime::SystemClock()).value();
    REQUIRE(LogPlan(announcement_, {}, *log).ok());
    return Execute(budget, *log);
  }
  // Goes on with what the log holds.
  Execution GoOn(std::int64_t budget = 20) {
    const auto log = AuditLog::Open(Path(), runtime::SystemClock()).value();
    REQUIRE(log->unfinished());
    announcement_ = ParseAnnouncement(log->unfinished()->plan, {}).value();
    return Execute(budget - log->unfinished()->sent(), *log);
  }
  bool IsUnfinished() {
    return AuditLog::Open(Path(), runtime::SystemClock()).value()->unfinished() != nullptr;
  }

  // What the last operation has changed.
  std::string Changes() {
    return ChangeReport(announcement_,
                        *AuditLog::Open(Path(), runtime::SystemClock()).value()->last());
  }

  Lamp& lamp() { return lamp_; }
  std::string Path() const { return folder_.At("lamp.jsonl"); }
  // Stops the operation once this many requests have come.
  std::size_t stop_after = 1000;

 private:
  Execution Execute(std::int64_t requests, AuditLog& log) {
    HostOptions options;
    options.name = "lamp";
    options.access.connection.address = lamp_.address();
    options.access.attempts = 3;
    Host host(std::move(options), runtime::SystemClock(),
              [this](runtime::Duration) { return lamp_.requests().size() >= stop_after; });
    const Permissions permissions;
    const Secrets secrets;
    Budget budget(requests);
    Executor executor(host, log, permissions, budget, secrets,
                      {.settle = milliseconds(20), .doubt = milliseconds(5)},
                      [](const std::string&) {});
    return executor.Run(announcement_);
  }

  const doubles::TemporaryFolder folder_;
  Lamp lamp_;
  Announcement announcement_;
};

}  // namespace

TEST_CASE("a step is carried out with the ETag of its resource, and the goal is read") {
  Operated operated;
  REQUIRE(operated.Run({PatchLamp()}).outcome == Outcome::kReached);
  REQUIRE(operated.lamp().requests() == std::vector<std::string>{"PATCH \"1\""});
  REQUIRE_FALSE(operated.IsUnfinished());
}

TEST_CASE("an action whose answer was lost is not sent again where the host shows its result") {
  Operated operated({{.acts = true, .status = 0}});
  REQUIRE(operated.Run({ToggleLamp()}).outcome == Outcome::kReached);
  REQUIRE(operated.lamp().requests().size() == 1);
}

TEST_CASE("no request that changes something is sent again by the connection") {
  for (const char* method : {"DELETE", "PUT", "PATCH", "POST"}) {
    INFO(method);
    Operated operated({{.acts = true, .status = 0}});
    Step step = ToggleLamp();
    step.method = method;
    REQUIRE(operated.Run({step}).outcome == Outcome::kReached);
    REQUIRE(operated.lamp().requests().size() == 1);
  }
}

TEST_CASE("an action that did not arrive is sent again") {
  Operated operated({{.acts = false, .status = 0}, {.acts = false, .status = 500}});
  REQUIRE(operated.Run({ToggleLamp()}).outcome == Outcome::kReached);
  REQUIRE(operated.lamp().requests().size() == 3);
}

TEST_CASE("a host that keeps failing is a difference") {
  Operated operated(std::vector<Lamp::Reaction>(9, {.acts = false, .status = 500}));
  REQUIRE(operated.Run({ToggleLamp()}).outcome == Outcome::kStopped);
  REQUIRE(operated.lamp().requests().size() == 3);
}

TEST_CASE("a refusal with 409 is success where the host shows the result, and else a difference") {
  Operated shows({{.acts = true, .status = 409}});
  REQUIRE(shows.Run({ToggleLamp()}).outcome == Outcome::kReached);
  Operated refuses({{.acts = false, .status = 409}});
  const Execution execution = refuses.Run({ToggleLamp()});
  REQUIRE(execution.outcome == Outcome::kStopped);
  REQUIRE(execution.reason.find("409") != std::string::npos);
  REQUIRE_FALSE(refuses.IsUnfinished());
}

TEST_CASE("after 412 the resource is read and the request sent again") {
  Operated operated({{.acts = false, .status = 412}});
  REQUIRE(operated.Run({PatchLamp()}).outcome == Outcome::kReached);
  REQUIRE(operated.lamp().requests().size() == 2);
}

TEST_CASE("nothing is sent to a host that has changed since it was read") {
  Operated operated;
  operated.lamp().Set("Broken");
  const Execution execution = operated.Run({PatchLamp()});
  REQUIRE(execution.outcome == Outcome::kStopped);
  REQUIRE(execution.reason.find("Broken") != std::string::npos);
  REQUIRE(operated.lamp().requests().empty());
}

TEST_CASE("a PATCH is not sent where the host shows its result already") {
  Operated operated;
  operated.lamp().Set("On");
  REQUIRE(operated.Run({PatchLamp()}).outcome == Outcome::kReached);
  REQUIRE(operated.lamp().requests().empty());
}

TEST_CASE("a result that does not show is a difference") {
  Operated operated({{.acts = false, .status = 204}});
  const Execution execution = operated.Run({PatchLamp()});
  REQUIRE(execution.outcome == Outcome::kStopped);
  REQUIRE(execution.reason.find("/State") != std::string::npos);
}

TEST_CASE("an action that shows nothing and whose answer was lost is not repeated") {
  Operated operated({{.acts = true, .status = 0}});
  Step step = ToggleLamp();
  step.effects.clear();
  REQUIRE(operated.Run({step}).outcome == Outcome::kStopped);
  REQUIRE(operated.lamp().requests().size() == 1);
}

TEST_CASE("no request is sent beyond the budget") {
  Operated operated({{.acts = false, .status = 0}});
  REQUIRE(operated.Run({ToggleLamp()}, 1).outcome == Outcome::kNotPermitted);
  REQUIRE(operated.lamp().requests().size() == 1);
}

TEST_CASE("an operation that goes on has what is left of its budget") {
  Operated operated({{.acts = false, .status = 503}, {.acts = false, .status = 0}});
  operated.stop_after = 1;
  REQUIRE(operated.Run({PatchLamp()}, 2).outcome == Outcome::kInterrupted);
  operated.stop_after = 1000;
  REQUIRE(operated.GoOn(2).outcome == Outcome::kNotPermitted);
  REQUIRE(operated.lamp().requests().size() == 2);
}

TEST_CASE("an operation that stops says what it has changed and what was there before") {
  Operated operated({{.acts = true}, {.acts = false, .status = 400}});
  Step made = ToggleLamp();
  made.effects.push_back(
      {.uri = kLamp + "/Bulbs/1", .pointer = "", .after = "bulb", .matters = false});
  Step off = PatchLamp();
  off.body = {{"State", "Off"}};
  off.effects.front() = {
      .uri = kLamp, .pointer = "/State", .before = "On", .after = "Off", .matters = true};
  REQUIRE(operated.Run({made, off, PatchLamp()}).outcome == Outcome::kStopped);
  REQUIRE(operated.Changes() ==
          "Changed so far, with what was there before:\n"
          "  request 1, POST /redfish/v1/Lamp/Actions/Lamp.Toggle:\n"
          "    /State of /redfish/v1/Lamp was \"Off\"\n"
          "  request 2, PATCH /redfish/v1/Lamp, if it was carried out:\n"
          "    /State of /redfish/v1/Lamp was \"On\"\n");
}

TEST_CASE("an operation of which nothing was sent has changed nothing") {
  Operated operated;
  operated.lamp().Set("Broken");
  REQUIRE(operated.Run({PatchLamp()}).outcome == Outcome::kStopped);
  REQUIRE(operated.Changes().empty());
}

TEST_CASE("an operation that was stopped goes on from its log and repeats nothing") {
  Operated operated;
  operated.stop_after = 1;
  Step again = PatchLamp();
  again.effects.clear();
  REQUIRE(operated.Run({ToggleLamp(), again}).outcome == Outcome::kInterrupted);
  REQUIRE(operated.lamp().requests().size() == 1);
  REQUIRE(operated.IsUnfinished());
  operated.stop_after = 1000;
  REQUIRE(operated.GoOn().outcome == Outcome::kReached);
  REQUIRE(operated.lamp().requests().size() == 2);
  REQUIRE(operated.lamp().requests().back().starts_with("PATCH"));
  REQUIRE_FALSE(operated.IsUnfinished());
}

}  // namespace shoal::operate
