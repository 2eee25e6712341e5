// SPDX-License-Identifier: Apache-2.0
#include "mockserver/faults/fault.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/mockserver/service/services.h"
#include "tests/mockserver/service/worlds.h"

namespace shoal::mockserver {
namespace {

const std::string kChassis = "/redfish/v1/Chassis/chassis";

std::shared_ptr<const FaultSet> Faults(const Json& list, std::uint64_t seed = 0) {
  return FaultSet::Parse({{"faults", list}, {"seed", seed}}).value();
}

Instance WithFaults(const Json& list, InstanceOptions options = {}) {
  options.faults = Faults(list);
  return Instance(WorldOf("openbmc-stock"), options);
}
Instance WithFault(const Json& one, InstanceOptions options = {}) {
  return WithFaults(Json::array({one}), options);
}

// Returns how `count` GETs of the system are answered, such as "..5." with one 5xx.
std::string Pattern(Instance& instance, int count, const std::string& uri = kOpenBmcSystem) {
  std::string pattern;
  for (int i = 0; i < count; ++i) pattern += Get(instance, uri).status >= 500 ? '5' : '.';
  return pattern;
}

// Returns all that a client sees of a response.
std::string Bytes(const Response& response) {
  std::string bytes = std::to_string(response.status) + (response.dropped ? " dropped " : " ") +
                      response.etag + ' ' + std::to_string(response.latency.count()) + '\n';
  for (const auto& [name, value] : response.headers) bytes += name + ": " + value + '\n';
  return response.body == nullptr ? bytes : bytes + *response.body;
}

std::string Bytes(const Instance& instance) {
  std::string bytes;
  for (const redfish::HistoryRecord& record : instance.history()) {
    bytes += record.kind + ' ' + record.uri + ' ' + record.detail.dump() + ' ' +
             std::to_string(record.time) + '\n';
  }
  return bytes;
}

// Sends mixed requests and returns their answers, followed by the history.
std::string Use(Instance& instance, int rounds) {
  std::string bytes;
  for (int i = 0; i < rounds; ++i) {
    bytes += Bytes(Get(instance, kOpenBmcSystem));
    bytes += Bytes(Patch(instance, kOpenBmcSystem, {{"LocationIndicatorActive", i % 2 == 0}}));
    bytes += Bytes(ResetOf(instance, kOpenBmcSystem, i % 2 == 0 ? "ForceOff" : "On"));
    bytes += Bytes(Get(instance, "/redfish/v1/Chassis"));
    instance.Advance(std::chrono::milliseconds(500));
  }
  return bytes + Bytes(instance);
}

const Json& EveryKind() {
  static const Json kFaults = Json::parse(R"([
    {"name": "slow", "path": "/redfish/v1/**", "latency_ms": 700, "probability": 0.3},
    {"name": "busy", "path": "/redfish/v1/Systems/**", "status": 503, "probability": 0.2},
    {"name": "lost", "path": "/redfish/v1/**", "drop": "answer", "probability": 0.1},
    {"name": "cut", "path": "/redfish/v1/**", "method": "GET", "malformed": "truncated",
     "probability": 0.2},
    {"name": "flapping", "path": "/redfish/v1/Chassis", "status": 500,
     "flap": {"fails": 1, "works": 2}}])");
  return kFaults;
}

}  // namespace

TEST_CASE("A status fault answers in the standard's words, and nothing else happens") {
  Instance instance = WithFault({{"name", "busy"},
                                 {"path", "/redfish/v1/Systems/**"},
                                 {"method", "PATCH"},
                                 {"status", 503},
                                 {"retry_after_seconds", 7}});
  const Response refused = Patch(instance, kOpenBmcSystem, {{"LocationIndicatorActive", true}});
  REQUIRE(refused.status == 503);
  REQUIRE(Messages(refused) == Names{"ServiceTemporarilyUnavailable"});
  REQUIRE(refused.Header("Retry-After") == "7");
  REQUIRE(instance.changed_resources() == 0);
  REQUIRE(Get(instance, kOpenBmcSystem).status == 200);
  REQUIRE(Patch(instance, kChassis, {{"LocationIndicatorActive", true}}).status < 500);
  REQUIRE(Count(instance, kFaultRecord) == 1);
  const redfish::HistoryRecord& record = instance.history().front();
  REQUIRE(record.uri == kOpenBmcSystem);
  REQUIRE(record.detail ==
          Json{{"name", "busy"}, {"status", 503}, {"method", "PATCH"}, {"request", 1}});
}

TEST_CASE("Every status from 400 to 599 has an error that a Redfish client can read") {
  for (int status = 400; status < 600; ++status) {
    Instance instance = WithFault({{"name", "one"}, {"path", "/**"}, {"status", status}});
    const Response response = Get(instance, kOpenBmcSystem);
    REQUIRE(response.status == status);
    REQUIRE(Messages(response).size() == 1);
  }
}

TEST_CASE("A count ends a fault, and a flap comes and goes") {
  const Json busy = {{"name", "busy"}, {"path", "/redfish/v1/Systems/*"}, {"status", 500}};
  Json counted = busy;
  counted["count"] = 2;
  Instance instance = WithFault(counted);
  REQUIRE(Pattern(instance, 3, kChassis) == "...");
  REQUIRE(Pattern(instance, 5) == "55...");
  Json flapping = busy;
  flapping["flap"] = {{"fails", 2}, {"works", 3}};
  instance.SetFaults(Faults(Json::array({flapping})));
  REQUIRE(Pattern(instance, 12) == "55...55...55");
  flapping["count"] = 3;
  instance.SetFaults(Faults(Json::array({flapping})));
  REQUIRE(Pattern(instance, 12) == "55...5......");
}

TEST_CASE("Reset starts the counts of faults anew and keeps the faults") {
  Instance instance = WithFault(
      {{"name", "once"}, {"path", "/redfish/v1/Systems/*"}, {"status", 500}, {"count", 1}});
  REQUIRE(Pattern(instance, 3) == "5..");
  REQUIRE(instance.Reset().ok());
  REQUIRE(Pattern(instance, 3) == "5..");
}

TEST_CASE("A probability is drawn from the seeds, each fault's draws its own") {
  const auto fault = [](const std::string& name, const std::string& path) {
    return Json{{"name", name}, {"path", path}, {"status", 500}, {"probability", 0.3}};
  };
  const auto pattern = [](std::uint64_t seed, const Json& list, std::uint64_t set_seed) {
    Instance instance(WorldOf("openbmc-stock"), {.seed = seed});
    instance.SetFaults(Faults(list, set_seed));
    return Pattern(instance, 400);
  };
  const Json one = fault("one", "/redfish/v1/Systems/*");
  const std::string first = pattern(7, Json::array({one}), 0);
  REQUIRE(pattern(7, Json::array({one}), 0) == first);
  REQUIRE(pattern(8, Json::array({one}), 0) != first);
  REQUIRE(pattern(7, Json::array({one}), 1) != first);
  REQUIRE(pattern(7, Json::array({fault("two", "/redfish/v1/Systems/*")}), 0) != first);
  REQUIRE(pattern(7, Json::array({fault("other", "/redfish/v1/Chassis/*"), one}), 0) == first);
  const auto struck = std::count(first.begin(), first.end(), '5');
  REQUIRE(struck > 85);
  REQUIRE(struck < 155);
}

TEST_CASE(
    "A latency is time that passes on a virtual clock, and is left to the owner of a real one") {
  const Json slow = {{"name", "slow"}, {"path", "/**"}, {"latency_ms", 1500}};
  const Json slower = {{"name", "slower"}, {"path", "/**"}, {"latency_ms", 1000}};
  Instance instance =
      WithFaults(Json::array({slow, slower}), {.power_transient = std::chrono::milliseconds(2000)});
  REQUIRE(At(instance, kOpenBmcSystem, "/PowerState") == "Off");
  const Response on = ResetOf(instance, kOpenBmcSystem, "On");
  REQUIRE(on.latency == std::chrono::milliseconds(2500));
  REQUIRE(instance.now() == std::chrono::milliseconds(2500));
  REQUIRE(At(instance, kOpenBmcSystem, "/PowerState") == "On");
  REQUIRE(Count(instance, kFaultRecord) == 2);
  Instance real = WithFault(slow, {.clock = ClockKind::kReal});
  REQUIRE(Get(real, kOpenBmcSystem).latency == std::chrono::milliseconds(1500));
  REQUIRE(real.now().count() == 0);
}

TEST_CASE("A request may be lost before it took effect, or its answer after") {
  const Json lost = {{"name", "lost"}, {"path", "/redfish/v1/**"}, {"drop", "request"}};
  Instance before = WithFault(lost);
  REQUIRE(Patch(before, kOpenBmcSystem, {{"LocationIndicatorActive", true}}).dropped);
  REQUIRE(before.changed_resources() == 0);
  Json answer = lost;
  answer["drop"] = "answer";
  Instance after = WithFault(answer);
  REQUIRE(Patch(after, kOpenBmcSystem, {{"LocationIndicatorActive", true}}).dropped);
  REQUIRE(At(after, kOpenBmcSystem, "/LocationIndicatorActive") == true);
}

TEST_CASE("A malformed answer is no JSON, and the resource is what it was") {
  for (const char* kind : {"truncated", "invalid"}) {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
      Instance instance = WithFault(
          {{"name", "bad"}, {"path", "/redfish/v1/**"}, {"malformed", kind}, {"count", 1}},
          {.seed = seed});
      const Response bad = Get(instance, kOpenBmcSystem);
      REQUIRE(bad.status == 200);
      REQUIRE(!bad.body->empty());
      REQUIRE(!Json::accept(*bad.body));
      const Response good = Get(instance, kOpenBmcSystem);
      REQUIRE(Json::accept(*good.body));
      REQUIRE(bad.etag == good.etag);
    }
  }
}

TEST_CASE("What has no JSON cannot be malformed, and the history does not say so") {
  Instance instance =
      WithFault({{"name", "bad"}, {"path", "/redfish/v1/**"}, {"malformed", "invalid"}});
  const Response head = instance.Handle({.method = Method::kOptions, .uri = kOpenBmcSystem});
  REQUIRE(head.status == 204);
  REQUIRE(instance.history().empty());
}

TEST_CASE("A change that becomes a task is made when the work is over, and not before") {
  const Json lit = {{"LocationIndicatorActive", true}};
  Instance instance =
      WithFault({{"name", "task"}, {"path", "/redfish/v1/Systems/**"}, {"task_ms", 4'000}});
  const Response accepted = Patch(instance, kOpenBmcSystem, lit);
  REQUIRE(accepted.status == 202);
  REQUIRE(accepted.json->at("TaskState") == "Running");
  REQUIRE(accepted.json->at("Name") == "PATCH " + kOpenBmcSystem);
  REQUIRE(accepted.json->at("Payload").at("TargetUri") == kOpenBmcSystem);
  const std::string task = accepted.json->at("@odata.id");
  instance.Advance(std::chrono::milliseconds(3'999));
  REQUIRE(At(instance, kOpenBmcSystem, "/LocationIndicatorActive") == false);
  REQUIRE(Get(instance, accepted.location).status == 202);
  instance.Advance(std::chrono::milliseconds(1));
  REQUIRE(At(instance, kOpenBmcSystem, "/LocationIndicatorActive") == true);
  REQUIRE(At(instance, task, "/TaskState") == "Completed");
  Instance sound(WorldOf("openbmc-stock"));
  REQUIRE(Get(instance, accepted.location).status == Patch(sound, kOpenBmcSystem, lit).status);
}

TEST_CASE("A task may be over at once, and its request still has been made once only") {
  Instance instance = WithFault({{"name", "task"}, {"path", "/redfish/v1/**"}, {"task_ms", 0}});
  const Response accepted = ResetOf(instance, kOpenBmcSystem, "ForceRestart");
  REQUIRE(accepted.status == 202);
  REQUIRE(accepted.json->at("TaskState") == "Completed");
  REQUIRE(Count(instance, redfish::kBootRecord) == 1);
}

TEST_CASE("What fails, reads, logs in or is about a task becomes none, and is no strike") {
  Instance instance =
      WithFault({{"name", "task"}, {"path", "/redfish/v1/**"}, {"task_ms", 9'000}, {"count", 1}});
  Instance sound(WorldOf("openbmc-stock"));
  REQUIRE(Get(instance, kOpenBmcSystem).status == 200);
  const Json unknown = {{"Colour", "red"}};
  REQUIRE(Bytes(Patch(instance, kOpenBmcSystem, unknown)) ==
          Bytes(Patch(sound, kOpenBmcSystem, unknown)));
  REQUIRE(LogIn(instance, "root", kPasswordOfAll).status == 201);
  REQUIRE(Count(instance, kFaultRecord) == 0);
  const Response accepted = Patch(instance, kOpenBmcSystem, {{"LocationIndicatorActive", true}});
  REQUIRE(accepted.status == 202);
  REQUIRE(Count(instance, kFaultRecord) == 1);
  REQUIRE(Delete(instance, accepted.location).status < 202);
  instance.Advance(std::chrono::seconds(9));
  REQUIRE(At(instance, kOpenBmcSystem, "/LocationIndicatorActive") == false);
}

TEST_CASE("A task that the service starts anyway is the only one") {
  const Json fault = {{"name", "task"}, {"path", "/redfish/v1/**"}, {"task_ms", 500}};
  Instance instance(WorldOf("hpe-dl380a-gen12"), {.faults = Faults(Json::array({fault}))});
  const Response deleted = Delete(instance, "/redfish/v1/Systems/1/Storage/DE010000/Volumes/1");
  REQUIRE(deleted.status == 202);
  REQUIRE(deleted.json->at("Name") == "Delete volume");
}

TEST_CASE("A task carries its request out though the user has logged out meanwhile") {
  Instance instance =
      WithFault({{"name", "task"}, {"path", "/redfish/v1/Systems/**"}, {"task_ms", 1'000}},
                {.authentication = Authentication::kRequired});
  const Response login = LogIn(instance, "root", kPasswordOfAll);
  const std::string token = TokenOf(login);
  const Json lit = {{"LocationIndicatorActive", true}};
  REQUIRE(ByToken(instance, Method::kPatch, kOpenBmcSystem, token, lit).status == 202);
  REQUIRE(ByToken(instance, Method::kDelete, login.location, token).status < 300);
  instance.Advance(std::chrono::seconds(1));
  REQUIRE(instance.Find(kOpenBmcSystem)->at("LocationIndicatorActive") == true);
}

TEST_CASE("A fault is not passed by in other words for the same resource") {
  Instance instance = WithFault({{"name", "down"}, {"path", kOpenBmcSystem}, {"status", 500}});
  for (const std::string& uri : {kOpenBmcSystem + "/", kOpenBmcSystem + "?$select=Name",
                                 "/redfish/" + kOpenBmcSystem.substr(8), kOpenBmcSystem + "#x"}) {
    INFO(uri);
    REQUIRE(Get(instance, uri).status == 500);
  }
}

TEST_CASE("Same seed and same requests give the same faults, byte for byte") {
  Instance a = WithFaults(EveryKind(), {.seed = 11});
  Instance b = WithFaults(EveryKind(), {.seed = 11});
  Instance c = WithFaults(EveryKind(), {.seed = 12});
  const std::string used = Use(a, 50);
  REQUIRE(Use(b, 50) == used);
  REQUIRE(Use(c, 50) != used);
  REQUIRE(a.Reset().ok());
  REQUIRE(Use(a, 50) == used);
  REQUIRE(Count(a, kFaultRecord) > 50);
}

TEST_CASE("What is wrong with faults is said with its name") {
  struct Case {
    std::string fault, says;
  };
  const std::vector<Case> cases = {
      {R"({"path":"/a","status":500})", "fault #0: needs a \"name\""},
      {R"({"name":"a b","path":"/a","status":500})", "name"},
      {R"({"name":"a","status":500})", "fault a: needs a \"path\""},
      {R"({"name":"a","path":"b","status":500})", "path"},
      {R"({"name":"a","path":"/b","method":"FETCH","status":500})", "method"},
      {R"({"name":"a","path":"/b"})", "one of"},
      {R"({"name":"a","path":"/b","status":500,"drop":"answer"})", "one of"},
      {R"({"name":"a","path":"/b","status":200})", "status"},
      {R"({"name":"a","path":"/b","status":"500"})", "status"},
      {R"({"name":"a","path":"/b","status":503,"retry_after_seconds":-1})", "retry_after"},
      {R"({"name":"a","path":"/b","drop":"answer","retry_after_seconds":1})", "retry_after"},
      {R"({"name":"a","path":"/b","latency_ms":0})", "latency_ms"},
      {R"({"name":"a","path":"/b","task_ms":-1})", "task_ms"},
      {R"({"name":"a","path":"/b","task_ms":1,"drop":"answer"})", "one of"},
      {R"({"name":"a","path":"/b","drop":"both"})", "drop"},
      {R"({"name":"a","path":"/b","malformed":true})", "malformed"},
      {R"({"name":"a","path":"/b","status":500,"probability":0})", "probability"},
      {R"({"name":"a","path":"/b","status":500,"probability":"1"})", "probability"},
      {R"({"name":"a","path":"/b","status":500,"count":0})", "count"},
      {R"({"name":"a","path":"/b","status":500,"flap":3})", "flap"},
      {R"({"name":"a","path":"/b","status":500,"flap":{"fails":0}})", "fails"},
      {R"({"name":"a","path":"/b","status":500,"often":1})", "often"},
      {R"(5)", "object"},
  };
  for (const Case& wrong : cases) {
    INFO(wrong.fault);
    const auto parsed = FaultSet::Parse({{"faults", Json::array({Json::parse(wrong.fault)})}});
    REQUIRE(parsed.status().code() == absl::StatusCode::kInvalidArgument);
    REQUIRE(runtime::Message(parsed.status()).find(wrong.says) != std::string::npos);
  }
  const Json twice = Json::parse(R"([{"name":"a","path":"/b","status":500},
                                     {"name":"a","path":"/c","status":500}])");
  REQUIRE(!FaultSet::Parse({{"faults", twice}}).ok());
  REQUIRE(!FaultSet::Parse(Json::object()).ok());
  REQUIRE(!FaultSet::Parse({{"faults", 5}}).ok());
  REQUIRE(!FaultSet::Parse({{"faults", Json::array()}, {"seed", -1}}).ok());
}

}  // namespace shoal::mockserver
