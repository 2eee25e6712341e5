// SPDX-License-Identifier: Apache-2.0
#include "mockserver/behaviours/tasks.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <string>
#include <vector>

#include "mockserver/messages/extended_info.h"
#include "mockserver/service/editor.h"
#include "tests/mockserver/service/worlds.h"

namespace shoal::mockserver {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const InstanceOptions kSlow{.task_duration = seconds(8)};

// Returns a task that sets the asset tag of the first system when it ends.
Task Tagging(const std::string& system, const std::string& tag) {
  return {.name = "Tag", .complete = [system, tag](Editor& later) {
            later.Set(*later.Find(system), "/AssetTag", tag);
            return JsonResponse(201, {{"tag", tag}});
          }};
}

struct SlowService {
  explicit SlowService(const std::string& capture, InstanceOptions options = {})
      : instance(WorldOf(capture), options) {
    system = LandmarksOf(instance.world()).system;
    const std::string service = redfish::LinkTarget(At(instance, "/redfish/v1", "/Tasks"));
    tasks = redfish::LinkTarget(At(instance, service, "/Tasks"));
    captured = At(instance, tasks, "/Members");
  }

  Response Start(Task task) {
    Editor editor(instance);
    return StartTask(editor, std::move(task));
  }
  Response Start() { return Start(Tagging(system, "new")); }
  Json Tag() { return At(instance, system, "/AssetTag"); }

  Instance instance;
  std::string system;
  std::string tasks;
  Json captured;
};

std::vector<std::string> StatesIn(const Instance& instance) {
  std::vector<std::string> states;
  for (const redfish::HistoryRecord& record : instance.history()) {
    if (record.kind == redfish::kTaskRecord) states.push_back(record.detail.at("TaskState"));
  }
  return states;
}

}  // namespace

TEST_CASE("A task runs in quarters, ends, and its monitor gives the operation's response once") {
  for (const std::string& name : CaptureNames()) {
    INFO(name);
    SlowService service(name, kSlow);
    const Json before = service.Tag();
    const Response started = service.Start();
    REQUIRE(started.status == 202);
    REQUIRE(started.Header("Retry-After") == "2");
    REQUIRE(started.json->at("TaskState") == "Running");
    REQUIRE(started.json->at("TaskMonitor") == started.location);
    const std::string task = started.json->at("@odata.id");
    REQUIRE(task.starts_with(service.tasks + "/"));
    REQUIRE(At(service.instance, service.tasks, "/Members").size() == service.captured.size() + 1);
    REQUIRE(At(service.instance, service.tasks, "/Members@odata.count") ==
            service.captured.size() + 1);
    REQUIRE(TestSchema()->Knows(started.json->at("@odata.type").get<std::string>()));
    for (const int percent : {0, 25, 50, 75}) {
      const Response polled = Get(service.instance, started.location);
      REQUIRE(polled.status == 202);
      REQUIRE(polled.location == started.location);
      REQUIRE(polled.json->at("PercentComplete") == percent);
      REQUIRE(At(service.instance, task, "/PercentComplete") == percent);
      REQUIRE(service.Tag() == before);
      service.instance.Advance(seconds(2));
    }
    REQUIRE(service.Tag() == "new");
    REQUIRE(At(service.instance, task, "/TaskState") == "Completed");
    REQUIRE(At(service.instance, task, "/TaskStatus") == "OK");
    REQUIRE(At(service.instance, task, "/PercentComplete") == 100);
    REQUIRE(At(service.instance, task, "/StartTime") == "1970-01-01T00:00:00Z");
    REQUIRE(At(service.instance, task, "/EndTime") == "1970-01-01T00:00:08Z");
    const Response head =
        service.instance.Handle({.method = Method::kHead, .uri = started.location});
    REQUIRE(head.status == 201);
    const Response ended = Get(service.instance, started.location);
    REQUIRE(ended.status == 201);
    REQUIRE(ended.json->at("tag") == "new");
    REQUIRE(Get(service.instance, started.location).status == 404);
    REQUIRE(StatesIn(service.instance) == std::vector<std::string>{"Running", "Completed"});
    REQUIRE(service.instance.Reset().ok());
    REQUIRE(Get(service.instance, task).status == 404);
    REQUIRE(At(service.instance, service.tasks, "/Members") == service.captured);
  }
}

TEST_CASE("A task without duration is done when the request is answered, and still a task") {
  SlowService service("hpe-dl380a-gen12");
  const Response started = service.Start();
  REQUIRE(started.status == 202);
  REQUIRE(started.json->at("TaskState") == "Completed");
  REQUIRE(service.Tag() == "new");
  REQUIRE(Get(service.instance, started.location).status == 201);
}

TEST_CASE("What a task shows of its request has no passwords at any depth") {
  const Json body = {{"UserName", "kim"},
                     {"Password", "Deep-9-down"},
                     {"Oem", {{"Servers", Json::array({{{"Password", "Deep-9-down"}}})}}}};
  const std::string shown = PayloadOf(Method::kPost, "/redfish/v1/x", body).dump();
  REQUIRE(shown.find("kim") != std::string::npos);
  REQUIRE(shown.find("Servers") != std::string::npos);
  REQUIRE(shown.find("Deep-9-down") == std::string::npos);
}

TEST_CASE("A task is never a side effect") {
  SlowService service("dell-r750");
  REQUIRE(
      service.instance.Reset({}, WatchFor({{"exists", {{"uri", "/x"}, {"pointer", "/y"}}}})).ok());
  service.Start({.name = "Nothing", .complete = [](Editor& later) { return Done(later); }});
  REQUIRE(service.instance.Evaluate().collateral == 0);
}

TEST_CASE("A task whose operation fails is an Exception with the operation's messages") {
  SlowService service("openbmc-stock");
  const Response started = service.Start(
      {.name = "Fails", .complete = [](Editor&) { return ErrorResponse(409, "ResourceInUse"); }});
  const std::string task = started.json->at("@odata.id");
  REQUIRE(At(service.instance, task, "/TaskState") == "Exception");
  REQUIRE(At(service.instance, task, "/TaskStatus") == "Critical");
  REQUIRE(At(service.instance, task, "/Messages/0/MessageId") == "Base.1.22.ResourceInUse");
  const Response ended = Get(service.instance, started.location);
  REQUIRE(ended.status == 409);
  REQUIRE(Messages(ended) == std::vector<std::string>{"ResourceInUse"});
}

TEST_CASE("Deleting the monitor cancels the work and leaves the task") {
  SlowService service("dmtf-rackmount1", kSlow);
  const Json before = service.Tag();
  const Response started = service.Start();
  const std::string task = started.json->at("@odata.id");
  service.instance.Advance(seconds(3));
  REQUIRE(Delete(service.instance, started.location).status == 200);
  REQUIRE(At(service.instance, task, "/TaskState") == "Cancelled");
  REQUIRE(Get(service.instance, started.location).status == 404);
  service.instance.Advance(seconds(60));
  REQUIRE(service.Tag() == before);
  REQUIRE(At(service.instance, task, "/EndTime") == "1970-01-01T00:00:03Z");
  REQUIRE(StatesIn(service.instance) == std::vector<std::string>{"Running", "Cancelled"});
}

TEST_CASE("Deleting a task cancels and removes it") {
  SlowService service("dmtf-rackmount1", kSlow);
  const Json before = service.Tag();
  const Response started = service.Start();
  REQUIRE(Delete(service.instance, started.json->at("@odata.id").get<std::string>()).status == 200);
  REQUIRE(At(service.instance, service.tasks, "/Members") == service.captured);
  REQUIRE(Get(service.instance, started.location).status == 404);
  service.instance.Advance(seconds(60));
  REQUIRE(service.Tag() == before);
  REQUIRE(Delete(service.instance, redfish::LinkTarget(service.captured[0])).status == 200);
}

TEST_CASE("What cannot be cancelled is not") {
  SlowService service("openbmc-stock", kSlow);
  Task task = Tagging(service.system, "new");
  task.is_cancellable = false;
  const Response started = service.Start(std::move(task));
  REQUIRE(Delete(service.instance, started.location).status == 405);
  const std::string uri = started.json->at("@odata.id");
  REQUIRE(Delete(service.instance, uri).status == 405);
  service.instance.Advance(seconds(8));
  REQUIRE(service.Tag() == "new");
  REQUIRE(Delete(service.instance, uri).status == 200);
  REQUIRE(Get(service.instance, started.location).status == 404);
}

TEST_CASE("A task that awaits a boot is Starting until its system boots after the work") {
  for (const std::string& name : CaptureNames()) {
    INFO(name);
    SlowService service(name, kSlow);
    const Json before = service.Tag();
    Task task = Tagging(service.system, "new");
    task.awaits_boot_of = Editor(service.instance).Find(service.system);
    const Response started = service.Start(std::move(task));
    const std::string uri = started.json->at("@odata.id");
    Boot(service.instance, service.system);
    REQUIRE(At(service.instance, uri, "/TaskState") == "Running");
    service.instance.Advance(seconds(8));
    REQUIRE(At(service.instance, uri, "/TaskState") == "Starting");
    REQUIRE(Get(service.instance, started.location).status == 202);
    REQUIRE(service.Tag() == before);
    Boot(service.instance, service.system);
    REQUIRE(At(service.instance, uri, "/TaskState") == "Completed");
    REQUIRE(service.Tag() == "new");
    REQUIRE(StatesIn(service.instance) ==
            std::vector<std::string>{"Running", "Starting", "Completed"});
  }
}

TEST_CASE("A cancelled task does nothing at the boot that it awaited") {
  SlowService service("dell-r750");
  const Json before = service.Tag();
  Task task = Tagging(service.system, "new");
  task.awaits_boot_of = Editor(service.instance).Find(service.system);
  const Response started = service.Start(std::move(task));
  REQUIRE(Delete(service.instance, started.location).status == 200);
  Boot(service.instance, service.system);
  REQUIRE(service.Tag() == before);
}

TEST_CASE(
    "Where finished tasks may be overwritten the oldest goes, elsewhere further are refused") {
  SlowService oldest("openbmc-stock");
  const std::string first = oldest.Start().json->at("@odata.id");
  for (std::size_t i = 1; i < kMaximumTasks; ++i) REQUIRE(oldest.Start().status == 202);
  REQUIRE(Get(oldest.instance, first).status == 200);
  REQUIRE(oldest.Start().status == 202);
  REQUIRE(Get(oldest.instance, first).status == 404);
  REQUIRE(At(oldest.instance, oldest.tasks, "/Members").size() == kMaximumTasks);

  SlowService manual("hpe-dl380a-gen12");
  const std::string kept = manual.Start().json->at("@odata.id");
  for (std::size_t i = 1; i < kMaximumTasks; ++i) REQUIRE(manual.Start().status == 202);
  const Response refused = manual.Start(Tagging(manual.system, "refused"));
  REQUIRE(refused.status == 503);
  REQUIRE(Messages(refused) == std::vector<std::string>{"CreateLimitReachedForResource"});
  REQUIRE(manual.Tag() == "new");
  REQUIRE(Delete(manual.instance, kept).status == 200);
  REQUIRE(manual.Start().status == 202);

  SlowService busy("openbmc-stock", kSlow);
  for (std::size_t i = 0; i < kMaximumTasks; ++i) REQUIRE(busy.Start().status == 202);
  REQUIRE(busy.Start().status == 503);
}

TEST_CASE("A monitor takes no other methods and answers for no other URI") {
  SlowService service("dell-r750", kSlow);
  const std::string monitor = service.Start().location;
  const Response options = service.instance.Handle({.method = Method::kOptions, .uri = monitor});
  REQUIRE(options.status == 204);
  REQUIRE(options.allow == "GET, HEAD, DELETE");
  const Response posted = Post(service.instance, monitor, Json::object());
  REQUIRE(posted.status == 405);
  REQUIRE(posted.allow == "GET, HEAD, DELETE");
  REQUIRE(Get(service.instance, monitor + "0").status == 404);
  REQUIRE(Get(service.instance, monitor + "/").status == 202);
}

}  // namespace shoal::mockserver
