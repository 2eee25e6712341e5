// SPDX-License-Identifier: Apache-2.0
// Tests faults and savepoints as clients and the control API see them, over HTTP.
#include <atomic>
#include <catch2/catch.hpp>
#include <optional>
#include <thread>

#include "mockserver/process/delayed_answers.h"
#include "platform/runtime/thread.h"
#include "tests/doubles/manual_clock.h"
#include "tests/mockserver/process/running.h"
#include "tests/mockserver/service/worlds.h"

namespace shoal::mockserver {
namespace {

std::string Body(const std::string& faults) { return "{\"faults\":[" + faults + "]}"; }

Json Records(Running& running, const std::string& id) {
  return Json::parse(running.Control("GET", "instances/" + id + "/history").body).at("records");
}

// Returns 0 if there will be no answer.
int StatusOf(const std::optional<http::ServerResponse>& answer) {
  return answer.has_value() ? answer->status : 0;
}

}  // namespace

TEST_CASE("Faults are set, told and taken away through the control API") {
  Running running;
  REQUIRE(running.Control("POST", "instances", R"({"id":"a"})").status == 201);
  REQUIRE(running.Control("GET", "instances/a/faults").body == R"({"faults":[]})");
  const std::string busy =
      Body(R"({"name":"busy","path":"/redfish/v1/Systems/**","status":503,"count":1})");
  REQUIRE(running.Control("PUT", "instances/a/faults", busy).status == 200);
  REQUIRE(Json::parse(running.Control("GET", "instances/a/faults").body) == Json::parse(busy));

  const auto struck = running.Service("GET", "/i/a" + kOpenBmcSystem);
  REQUIRE(struck.status == 503);
  REQUIRE(struck.headers.Find("Retry-After") == "5");
  REQUIRE(struck.headers.Find("OData-Version") == "4.0");
  REQUIRE(Json::parse(struck.body).at("error").contains("@Message.ExtendedInfo"));
  REQUIRE(running.Service("GET", "/i/a" + kOpenBmcSystem).status == 200);
  REQUIRE(running.Service("GET", kOpenBmcSystem).status == 200);
  REQUIRE(Records(running, "a").at(0).at("detail").at("name") == "busy");

  REQUIRE(running.Control("PUT", "instances/a/faults", busy).status == 200);
  REQUIRE(running.Service("GET", "/i/a" + kOpenBmcSystem).status == 503);
  REQUIRE(running.Control("PUT", "instances/a/faults", Body("")).status == 200);
  REQUIRE(running.Service("GET", "/i/a" + kOpenBmcSystem).status == 200);

  const auto wrong = running.Control("PUT", "instances/a/faults",
                                     Body(R"({"name":"x","path":"/a","status":503,"ofen":1})"));
  REQUIRE(wrong.status == 400);
  REQUIRE(wrong.body.find("fault x: unknown member \\\"ofen\\\"") != std::string::npos);
  REQUIRE(running.Control("POST", "instances/a/faults", Body("")).status == 405);
  REQUIRE(running.Control("PUT", "instances/none/faults", Body("")).status == 404);
}

TEST_CASE("A reset may bring other faults, and keeps them where it brings none") {
  Running running;
  REQUIRE(running.Control("POST", "instances", R"({"id":"a"})").status == 201);
  const std::string down = Body(R"({"name":"down","path":"/**","status":500})");
  const std::string resets = "instances/a/reset";
  REQUIRE(running.Control("POST", resets, R"({"faults":)" + down + "}").status == 200);
  REQUIRE(running.Service("GET", "/i/a" + kOpenBmcSystem).status == 500);
  REQUIRE(running.Control("POST", resets).status == 200);
  REQUIRE(running.Service("GET", "/i/a" + kOpenBmcSystem).status == 500);
  REQUIRE(running.Control("POST", resets, R"({"faults":)" + Body("") + "}").status == 200);
  REQUIRE(running.Service("GET", "/i/a" + kOpenBmcSystem).status == 200);

  const auto wrong = running.Control("POST", resets, R"({"faults":{"faults":[{"name":"down"}]}})");
  REQUIRE(wrong.status == 400);
  REQUIRE(wrong.body.find("fault down: needs a \\\"path\\\"") != std::string::npos);
}

TEST_CASE("An instance may be made with faults") {
  Running running;
  REQUIRE(running
              .Control("POST", "instances",
                       R"({"id":"a","faults":[{"name":"down","path":"/**","status":500}]})")
              .status == 201);
  REQUIRE(running.Service("GET", "/i/a" + kOpenBmcSystem).status == 500);
  const auto wrong = running.Control("POST", "instances", R"({"faults":[{"name":"down"}]})");
  REQUIRE(wrong.status == 400);
  REQUIRE(wrong.body.find("fault down: needs a \\\"path\\\"") != std::string::npos);
}

TEST_CASE("A dropped answer is a connection that closes, and a malformed one arrives whole") {
  Running running;
  REQUIRE(running.Control("POST", "instances", R"({"id":"a"})").status == 201);
  const std::string lost =
      R"({"name":"lost","path":"/redfish/v1/Systems/*","method":"PATCH","drop":"answer"},)";
  const std::string cut = R"({"name":"cut","path":"/redfish/v1/Chassis","malformed":"truncated"},)";
  const std::string slow = R"({"name":"slow","path":"/redfish/v1/Managers","latency_ms":3000})";
  REQUIRE(running.Control("PUT", "instances/a/faults", Body(lost + cut + slow)).status == 200);
  const auto nothing =
      running.Try("PATCH", "/i/a" + kOpenBmcSystem, R"({"LocationIndicatorActive":true})");
  REQUIRE(nothing.status().code() == absl::StatusCode::kUnavailable);
  const Json system = Json::parse(running.Service("GET", "/i/a" + kOpenBmcSystem).body);
  REQUIRE(system.at("LocationIndicatorActive") == true);
  const auto malformed = running.Service("GET", "/i/a/redfish/v1/Chassis");
  REQUIRE(malformed.status == 200);
  REQUIRE(!Json::accept(malformed.body));
  // On a virtual clock time passes without anybody waiting.
  REQUIRE(running.Service("GET", "/i/a/redfish/v1/Managers").status == 200);
  REQUIRE(Json::parse(running.Control("GET", "instances/a/history").body).at("now") == 3.0);
}

TEST_CASE("A late answer of an instance with a real clock comes when that has moved") {
  doubles::ManualClock clock;
  DelayedAnswers delayed(clock);
  int sent = 0;
  runtime::Mutex mutex;
  runtime::CondVar came;
  const http::ServerResponse later = delayed.After({.status = 204}, std::chrono::milliseconds(300));
  REQUIRE(later.later);
  later.later(http::Responder([&](const std::optional<http::ServerResponse>& answer) {
    const runtime::MutexLock lock(mutex);
    sent = StatusOf(answer);
    came.NotifyAll();
  }));
  REQUIRE(delayed.waiting() == 1);
  clock.Advance(std::chrono::milliseconds(299));
  {
    const runtime::MutexLock lock(mutex);
    REQUIRE(sent == 0);
  }
  clock.Advance(std::chrono::milliseconds(1));
  const runtime::MutexLock lock(mutex);
  while (sent == 0) came.Wait(mutex);
  REQUIRE(sent == 204);
  REQUIRE(delayed.waiting() == 0);
}

TEST_CASE("An answer that waits when the server stops is sent at once") {
  doubles::ManualClock clock;
  int status = 0;
  {
    DelayedAnswers delayed(clock);
    const http::ServerResponse later = delayed.After({.status = 204}, std::chrono::hours(1));
    later.later(http::Responder([&](const auto& answer) { status = StatusOf(answer); }));
  }
  REQUIRE(status == 204);
}

TEST_CASE("The front makes the clients of a real clock wait") {
  doubles::ManualClock clock;
  Running running({.idle_limit = std::chrono::seconds(0)}, clock);
  REQUIRE(running
              .Control("POST", "instances",
                       R"({"id":"a","clock":"real",
                           "faults":[{"name":"slow","path":"/**","latency_ms":300}]})")
              .status == 201);
  // Another thread moves the clock, and the client only waits for it.
  const runtime::TimePoint start = clock.Now();
  std::atomic<bool> answered{false};
  runtime::Thread mover("mover", [&] {
    while (!answered) {
      clock.Advance(std::chrono::milliseconds(10));
      std::this_thread::yield();
    }
  });
  REQUIRE(running.Service("GET", "/i/a" + kOpenBmcSystem).status == 200);
  answered = true;
  mover.Join();
  REQUIRE(clock.Now() - start >= std::chrono::milliseconds(300));
}

TEST_CASE("Savepoints are made, listed, gone back to and deleted through the control API") {
  Running running;
  REQUIRE(running.Control("POST", "instances", R"({"id":"a"})").status == 201);
  const auto patch = [&](const std::string& lit) {
    return running
        .Service("PATCH", "/i/a" + kOpenBmcSystem, R"({"LocationIndicatorActive":)" + lit + "}")
        .body;
  };
  patch("true");
  const auto saved = running.Control("POST", "instances/a/savepoint", R"({"name":"clean"})");
  REQUIRE(saved.status == 201);
  REQUIRE(Json::parse(saved.body) ==
          Json{{"name", "clean"}, {"now", 0.0}, {"records", 0}, {"changed_resources", 1}});
  const std::string off = patch("false");
  REQUIRE(running.Control("POST", "instances/a/advance", R"({"milliseconds":5000})").status == 200);
  const auto restored = running.Control("POST", "instances/a/restore", R"({"name":"clean"})");
  REQUIRE(restored.status == 200);
  REQUIRE(Json::parse(restored.body).at("satisfied") == false);
  const std::string body = running.Service("GET", "/i/a" + kOpenBmcSystem).body;
  REQUIRE(Json::parse(body).at("LocationIndicatorActive") == true);
  REQUIRE(patch("false") == off);
  REQUIRE(Json::parse(running.Control("GET", "instances/a/history").body).at("now") == 0.0);

  const Json list = Json::parse(running.Control("GET", "instances/a/savepoints").body);
  REQUIRE(list.at("savepoints").size() == 1);
  struct Case {
    std::string method, path, body;
    int status;
  };
  const std::vector<Case> wrong = {
      {"POST", "savepoint", "{}", 400},
      {"POST", "savepoint", R"({"name":"a/b"})", 400},
      {"POST", "savepoint", R"({"name":"a","now":3})", 400},
      {"GET", "savepoint", "", 405},
      {"POST", "restore", R"({"name":"none"})", 404},
      {"POST", "savepoints", "", 405},
      {"GET", "savepoints/clean", "", 405},
      {"DELETE", "savepoints/none", "", 404},
      {"DELETE", "savepoints/clean", "", 204},
      {"POST", "restore", R"({"name":"clean"})", 404},
  };
  for (const Case& one : wrong) {
    INFO(one.method << ' ' << one.path << ' ' << one.body);
    REQUIRE(running.Control(one.method, "instances/a/" + one.path, one.body).status == one.status);
  }
}

}  // namespace shoal::mockserver
