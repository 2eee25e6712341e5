// SPDX-License-Identifier: Apache-2.0
#include "mockserver/behaviours/volumes.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <string>
#include <vector>

#include "mockserver/behaviours/raid.h"
#include "mockserver/service/editor.h"
#include "tests/mockserver/service/worlds.h"

namespace shoal::mockserver {
namespace {

using Names = std::vector<std::string>;

// The first storage subsystem that has volumes and at least two drives.
struct Storage {
  explicit Storage(const std::string& capture, InstanceOptions options = {})
      : instance(WorldOf(capture), options) {
    system = LandmarksOf(instance.world()).system;
    const Editor editor(instance);
    for (const World::Resource& resource : instance.world().resources()) {
      const auto id = *editor.Find(resource.uri);
      const std::vector<ResourceId> members = editor.LinkedAll(id, "/Drives");
      const auto collection = editor.Linked(id, "/Volumes");
      if (!editor.IsA(id, "Storage") || members.size() < 2 || !collection) continue;
      volumes = editor.Uri(*collection);
      for (const ResourceId drive : members) drives.push_back(editor.Uri(drive));
      captured = Members();
      return;
    }
    FAIL("no storage in " << capture);
  }

  std::vector<std::string> Members() const {
    std::vector<std::string> uris;
    for (const Json& link : At(instance, volumes, "/Members")) {
      uris.push_back(redfish::LinkTarget(link));
    }
    return uris;
  }
  Json Links(std::size_t count) const {
    Json links = Json::array();
    for (std::size_t i = 0; i < count; ++i) links.push_back({{"@odata.id", drives[i]}});
    return links;
  }
  Json Wanted(const std::string& raid, std::size_t count) const {
    return {{"RAIDType", raid}, {"Links", {{"Drives", Links(count)}}}};
  }
  Response Make(const Json& body) { return Post(instance, volumes, body); }
  // Sends the POST, boots if the volume waits for that, and returns the new volume's URI.
  std::string Made(const Json& body) {
    const Response started = Make(body);
    INFO(*started.body);
    REQUIRE(started.status == 202);
    Boot();
    const Response made = Get(instance, started.location);
    INFO(*made.body);
    REQUIRE(made.status == 201);
    REQUIRE(made.location == made.json->at("@odata.id"));
    return made.location;
  }
  void Boot() { mockserver::Boot(instance, system); }
  // Deletes the volumes that occupy drives.
  void Clear() {
    for (const std::string& volume : Members()) Delete(instance, volume);
    Boot();
  }
  std::int64_t DriveBytes(std::size_t i) const {
    return At(instance, drives[i], "/CapacityBytes").get<std::int64_t>();
  }

  Instance instance;
  std::string system;
  std::string volumes;
  std::vector<std::string> drives;
  std::vector<std::string> captured;
};

const Names kWithVolumes = {"hpe-dl380a-gen12", "dell-r750"};

}  // namespace

TEST_CASE("A volume comes by a task, has its drives linked both ways, and goes by a task") {
  for (const std::string& name : kWithVolumes) {
    INFO(name);
    Storage storage(name);
    storage.Clear();
    const Names left = storage.Members();
    const Json links = At(storage.instance, storage.drives[0], "/Links/Volumes");
    Json body = storage.Wanted("RAID1", 2);
    body["DisplayName"] = "fresh";
    const std::string volume = storage.Made(body);
    Names expected = left;
    expected.push_back(volume);
    REQUIRE(storage.Members() == expected);
    REQUIRE(At(storage.instance, volume, "/RAIDType") == "RAID1");
    REQUIRE(At(storage.instance, volume, "/DisplayName") == "fresh");
    REQUIRE(At(storage.instance, volume, "/Links/Drives") == storage.Links(2));
    REQUIRE(At(storage.instance, volume, "/CapacityBytes") == storage.DriveBytes(0));
    for (std::size_t i = 0; i < 2; ++i) {
      const Json of_drive = At(storage.instance, storage.drives[i], "/Links/Volumes");
      REQUIRE(of_drive.size() == links.size() + 1);
      REQUIRE(redfish::LinkTarget(of_drive.back()) == volume);
      REQUIRE(At(storage.instance, storage.drives[i], "/Links/Volumes@odata.count") ==
              of_drive.size());
    }
    REQUIRE(Messages(storage.Make(body)) == Names{"ResourceInUse"});
    REQUIRE(storage.Make(body).status == 409);

    REQUIRE(Delete(storage.instance, volume).status == 202);
    storage.Boot();
    REQUIRE(storage.Members() == left);
    REQUIRE(Get(storage.instance, volume).status == 404);
    REQUIRE(At(storage.instance, storage.drives[0], "/Links/Volumes") == links);
    REQUIRE(storage.instance.Reset().ok());
    REQUIRE(storage.Members() == storage.captured);
  }
}

TEST_CASE("A captured volume occupies its drives, a raw device does not") {
  Storage hpe("hpe-dl380a-gen12");
  REQUIRE(hpe.Make(hpe.Wanted("RAID1", 2)).status == 409);
  Storage dell("dell-r750");
  REQUIRE(dell.Make(dell.Wanted("RAID5", 3)).status == 202);
  for (const std::string& raw : dell.captured) {
    const Response response = Delete(dell.instance, raw);
    REQUIRE(response.status == 405);
    REQUIRE(response.allow == "GET, HEAD, PATCH");
  }
}

TEST_CASE("Where a collection applies on reset alone nothing happens before the boot") {
  Storage storage("dell-r750");
  const Response started = storage.Make(storage.Wanted("RAID0", 2));
  REQUIRE(started.json->at("TaskState") == "Starting");
  REQUIRE(storage.Members() == storage.captured);
  Json now = storage.Wanted("RAID0", 2);
  now["@Redfish.OperationApplyTime"] = "Immediate";
  REQUIRE(storage.Make(now).status == 400);
  REQUIRE(Messages(storage.Make(now)) == Names{"PropertyValueNotInList"});
  now["@Redfish.OperationApplyTime"] = "OnReset";
  REQUIRE(storage.Make(now).status == 202);
  storage.Boot();
  // Of two tasks that want the same drives, the slower one fails.
  REQUIRE(storage.Members().size() == storage.captured.size() + 1);
  REQUIRE(Get(storage.instance, started.location).status == 201);
  std::vector<std::string> states;
  for (const redfish::HistoryRecord& record : storage.instance.history()) {
    if (record.kind == redfish::kTaskRecord) states.push_back(record.detail.at("TaskState"));
  }
  REQUIRE(states == Names{"Running", "Starting", "Running", "Starting", "Completed", "Exception"});
}

TEST_CASE("Time passes before a volume is there") {
  Storage storage("hpe-dl380a-gen12", {.task_duration = std::chrono::seconds(60)});
  const std::string volume = storage.captured.front();
  const Response started = Delete(storage.instance, volume);
  REQUIRE(started.status == 202);
  storage.instance.Advance(std::chrono::seconds(59));
  REQUIRE(Get(storage.instance, volume).status == 200);
  REQUIRE(Delete(storage.instance, volume).status == 202);
  storage.instance.Advance(std::chrono::seconds(1));
  REQUIRE(Get(storage.instance, volume).status == 404);
  REQUIRE(Get(storage.instance, started.location).status == 200);
  storage.instance.Advance(std::chrono::seconds(60));
  REQUIRE(storage.instance.history().back().detail.at("TaskState") == "Exception");
}

TEST_CASE("Older names for RAID types and drives are taken") {
  Storage storage("dell-r750");
  const std::string volume =
      storage.Made({{"VolumeType", "Mirrored"}, {"Drives", storage.Links(2)}, {"Name", "Old"}});
  REQUIRE(At(storage.instance, volume, "/RAIDType") == "RAID1");
  REQUIRE(At(storage.instance, volume, "/VolumeType") == "Mirrored");
  REQUIRE(At(storage.instance, volume, "/Name") == "Old");
  REQUIRE(At(storage.instance, volume, "/Links/Drives") == storage.Links(2));
}

TEST_CASE("The size of a volume is what its drives and its RAID type give, or what is asked for") {
  const RaidLevel* const raid5 = FindRaidType("RAID5");
  REQUIRE(raid5->CapacityBytes(3, 100) == 200);
  REQUIRE(FindRaidType("RAID0")->CapacityBytes(3, 100) == 300);
  REQUIRE(FindRaidType("RAID1")->CapacityBytes(2, 100) == 100);
  REQUIRE(FindRaidType("RAID6")->CapacityBytes(6, 100) == 400);
  REQUIRE(FindRaidType("RAID10")->CapacityBytes(6, 100) == 300);
  REQUIRE(FindRaidType("RAID50")->CapacityBytes(6, 100) == 400);
  REQUIRE(FindVolumeType("StripedWithParity") == raid5);
  REQUIRE(FindVolumeType("") == nullptr);

  Storage storage("dell-r750");
  Json body = storage.Wanted("RAID5", 3);
  body["CapacityBytes"] = 2 * storage.DriveBytes(0) + 1;
  REQUIRE(Messages(storage.Make(body)) == Names{"PropertyValueOutOfRange"});
  body["CapacityBytes"] = 0;
  REQUIRE(Messages(storage.Make(body)) == Names{"PropertyValueOutOfRange"});
  body["CapacityBytes"] = "much";
  REQUIRE(Messages(storage.Make(body)) == Names{"PropertyValueTypeError"});
  body["CapacityBytes"] = 1'000'000;
  const std::string volume = storage.Made(body);
  REQUIRE(At(storage.instance, volume, "/CapacityBytes") == 1'000'000);
}

TEST_CASE("RAID types go with numbers of drives") {
  const auto takes = [](const char* type) {
    std::vector<std::size_t> counts;
    for (std::size_t drives = 0; drives <= 9; ++drives) {
      if (FindRaidType(type)->Takes(drives)) counts.push_back(drives);
    }
    return counts;
  };
  using Counts = std::vector<std::size_t>;
  REQUIRE(takes("RAID0") == Counts{1, 2, 3, 4, 5, 6, 7, 8, 9});
  REQUIRE(takes("RAID1") == Counts{2});
  REQUIRE(takes("RAID5") == Counts{3, 4, 5, 6, 7, 8, 9});
  REQUIRE(takes("RAID6") == Counts{4, 5, 6, 7, 8, 9});
  REQUIRE(takes("RAID10") == Counts{4, 6, 8});
  REQUIRE(takes("RAID50") == Counts{6, 8});
  Storage storage("dell-r750");
  for (const Json& wrong : {storage.Wanted("RAID1", 1), storage.Wanted("RAID1", 3),
                            storage.Wanted("RAID6", 3), storage.Wanted("RAID0", 0)}) {
    const Response response = storage.Make(wrong);
    REQUIRE(response.status == 400);
    REQUIRE(Messages(response) == Names{"PropertyValueConflict"});
  }
}

TEST_CASE("A volume that cannot be is refused in words, and nothing changes") {
  for (const std::string& name : kWithVolumes) {
    INFO(name);
    Storage storage(name);
    storage.Clear();
    const Names left = storage.Members();
    const auto refusal = [&](const Json& body) {
      const Response response = storage.Make(body);
      INFO(*response.body);
      REQUIRE(response.status == 400);
      return Messages(response);
    };
    REQUIRE(refusal(Json::object()) == Names{"PropertyMissing"});
    REQUIRE(refusal({{"RAIDType", "RAID1"}}) == Names{"PropertyMissing"});
    REQUIRE(refusal({{"RAIDType", 1}}) == Names{"PropertyValueTypeError"});
    REQUIRE(refusal({{"RAIDType", "RAID99"}}) == Names{"PropertyValueNotInList"});
    REQUIRE(refusal({{"VolumeType", "RawDevice"}}) == Names{"PropertyValueNotInList"});
    REQUIRE(refusal({{"RAIDType", "RAID1"}, {"Drives", "both"}}) ==
            Names{"PropertyValueTypeError"});
    Json twice = storage.Wanted("RAID1", 1);
    twice["Links"]["Drives"].push_back(twice["Links"]["Drives"][0]);
    REQUIRE(refusal(twice) == Names{"PropertyValueConflict"});
    for (const Json& stranger : {Json("x"), Json({{"@odata.id", storage.system}}),
                                 Json({{"@odata.id", storage.drives[0] + "0"}})}) {
      Json strange = storage.Wanted("RAID1", 1);
      strange["Links"]["Drives"].push_back(stranger);
      REQUIRE(refusal(strange) == Names{"PropertyValueNotInList"});
    }
    Json unknown = storage.Wanted("RAID1", 2);
    unknown["NoSuchProperty"] = 1;
    REQUIRE(refusal(unknown) == Names{"PropertyUnknown"});
    Json unnamed = storage.Wanted("RAID1", 2);
    unnamed["Name"] = 5;
    REQUIRE(refusal(unnamed) == Names{"PropertyValueTypeError"});
    REQUIRE(storage.Members() == left);
  }
}

TEST_CASE("A RAID type that no controller lists is refused, and so is another subsystem's drive") {
  Storage storage("hpe-dl380a-gen12");
  storage.Clear();
  REQUIRE(Messages(storage.Make(storage.Wanted("RAID0", 2))) == Names{"PropertyValueNotInList"});
  Json strange = storage.Wanted("RAID1", 1);
  strange["Links"]["Drives"].push_back(
      {{"@odata.id", "/redfish/v1/Systems/1/Storage/DA000000/Drives/DA000000"}});
  REQUIRE(Get(storage.instance, redfish::LinkTarget(strange["Links"]["Drives"][1])).status == 200);
  REQUIRE(Messages(storage.Make(strange)) == Names{"PropertyValueNotInList"});
}

TEST_CASE("A new volume can do what the others of its collection can") {
  Storage storage("dell-r750");
  const std::string volume = storage.Made(storage.Wanted("RAID1", 2));
  for (const std::string& uri : {volume, storage.captured.front()}) {
    const std::string target = At(storage.instance, uri, "/Actions/#Volume.Initialize/target");
    REQUIRE(target.starts_with(uri));
    const Json before = *storage.instance.Find(uri);
    const Response started = Post(storage.instance, target, {{"InitializeType", "Fast"}});
    REQUIRE(started.status == 202);
    REQUIRE(started.json->at("TaskState") == "Completed");
    REQUIRE(Post(storage.instance, target, {{"InitializeType", "Odd"}}).status == 400);
    const Response waits =
        Post(storage.instance, target,
             {{"InitializeType", "Fast"}, {"@Redfish.OperationApplyTime", "OnReset"}});
    REQUIRE(waits.json->at("TaskState") == "Starting");
    REQUIRE(*storage.instance.Find(uri) == before);
  }
}

TEST_CASE("A predicate tells that exactly one RAID1 volume is on two drives") {
  for (const std::string& name : kWithVolumes) {
    Storage storage(name);
    const auto has = [&storage](std::size_t i) {
      return Json{{"contains",
                   {{"pointer", "/Links/Drives"}, {"value", {{"@odata.id", storage.drives[i]}}}}}};
    };
    const auto some = [&storage](const Json& holds) {
      return Json{{"some", {{"members", storage.volumes}, {"holds", holds}}}};
    };
    const auto is = [](const char* type) {
      return Json{{"equals", {{"pointer", "/RAIDType"}, {"value", type}}}};
    };
    const Json goal = {
        {"all", {some({{"all", {is("RAID1"), has(0), has(1)}}}), {{"not", some(is("RAID0"))}}}}};
    REQUIRE(storage.instance.Reset({}, WatchFor(goal)).ok());
    storage.Clear();
    REQUIRE_FALSE(storage.instance.Evaluate().satisfied);
    storage.Made(storage.Wanted("RAID1", 2));
    REQUIRE(storage.instance.Evaluate().satisfied);
  }
}

}  // namespace shoal::mockserver
