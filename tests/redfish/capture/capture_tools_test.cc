// SPDX-License-Identifier: Apache-2.0
// Tests importing, writing, checking, comparing and packing captures.
#include <catch2/catch.hpp>
#include <filesystem>
#include <string>

#include "redfish/capture/archive.h"
#include "redfish/capture/capture_check.h"
#include "redfish/capture/capture_difference.h"
#include "redfish/capture/capture_import.h"
#include "redfish/capture/capture_writer.h"
#include "redfish/capture/paged_collection.h"
#include "tests/doubles/temporary_folder.h"
#include "tests/redfish/capture/shipped.h"
#include "tests/redfish/goals/mentions.h"

namespace shoal::redfish {
namespace {

using Json = nlohmann::json;

constexpr const char* kRoot =
    R"({"@odata.id": "/redfish/v1", "Systems": {"@odata.id": "/redfish/v1/Systems"}})";
constexpr const char* kSystems = R"({"@odata.id": "/redfish/v1/Systems/", "Members": []})";

ImportedCapture Imported(const std::string& path, const FileMap* files = nullptr) {
  auto imported = ImportCapture(path, files);
  INFO(imported.status().ToString());
  REQUIRE(imported.ok());
  return *std::move(imported);
}

std::string Packed(const ImportedCapture& imported) {
  return PackCapture(imported, "it", "MIT", {}).value();
}

TEST_CASE("Every layout gives the same resources") {
  const doubles::TemporaryFolder folder;
  folder.Write("deep/mockup/redfish/v1/index.json", kRoot);
  folder.Write("deep/mockup/redfish/v1/Systems/index.json", kSystems);
  folder.Write("short/index.json", kRoot);
  folder.Write("short/Systems/index.json", kSystems);
  folder.Write("flat/root.json", kRoot);
  folder.Write("flat/systems.json", kSystems);
  folder.Write("named/a.json", "{}");
  folder.Write("named/b.json", R"({"Members": []})");
  const auto expected = Imported(folder.path() + "/deep").capture->resources();
  REQUIRE(expected.size() == 2);
  REQUIRE(Imported(folder.path() + "/short").capture->resources() == expected);
  REQUIRE(Imported(folder.path() + "/flat").capture->resources() == expected);

  const std::string archive = folder.Write(
      "flat.tar.xz", PackArchive({{"x/root.json", kRoot}, {"x/s.json", kSystems}}, {}).value());
  REQUIRE(Imported(archive).capture->resources() == expected);

  const FileMap files =
      LoadFileMap(
          folder.Write("map", R"({"a.json": "/redfish/v1/", "/redfish/v1/Systems": "b.json"})"))
          .value();
  const auto mapped = Imported(folder.path() + "/named", &files).capture;
  REQUIRE(mapped->resources().size() == 2);
  REQUIRE(mapped->Find("/redfish/v1/Systems")->contains("Members"));
}

TEST_CASE("Flat files without a URI, or with one URI between two, are named") {
  const doubles::TemporaryFolder folder;
  folder.Write("a/root.json", kRoot);
  folder.Write("a/other.json", "{}");
  REQUIRE(Mentions(ImportCapture(folder.path() + "/a", nullptr).status(), "other.json"));
  folder.Write("b/one.json", kRoot);
  folder.Write("b/two.json", kRoot);
  REQUIRE(Mentions(ImportCapture(folder.path() + "/b", nullptr).status(), "two.json"));
}

TEST_CASE("Methods come from the headers that DMTF's mockup creator keeps") {
  const doubles::TemporaryFolder folder;
  folder.Write("redfish/v1/index.json", kRoot);
  folder.Write("redfish/v1/headers.json", R"({"GET": {"Allow": "GET, HEAD", "Server": "x",
                                              "x-auth-token": "t", "Set-Cookie": "s"}})");
  const ManifestEntry entry = Imported(folder.path()).manifest.resources.at("/redfish/v1");
  REQUIRE(entry.methods == std::vector<std::string>{"GET", "HEAD"});
  REQUIRE(entry.headers.at("Server") == "x");
  REQUIRE(entry.headers.size() == 2);
}

TEST_CASE("Headers without Allow leave the manifest's methods as they are") {
  const doubles::TemporaryFolder folder;
  folder.Write("redfish/v1/index.json", kRoot);
  folder.Write("redfish/v1/headers.json", R"({"GET": {"Server": "x"}})");
  folder.Write("manifest.json", R"({"format": "shoal-capture/1", "resources": {"/redfish/v1":
      {"status": 200, "methods": ["GET"], "headers": {"X-Auth-Token": "t"}}}})");
  const ManifestEntry entry = Imported(folder.path()).manifest.resources.at("/redfish/v1");
  REQUIRE(entry.methods == std::vector<std::string>{"GET"});
  REQUIRE_FALSE(entry.headers.contains("X-Auth-Token"));
}

absl::Status WriteRoot(const std::string& folder, const char* name) {
  auto writer = CaptureWriter::Create(folder);
  if (!writer.ok()) return writer.status();
  const absl::Status added = (*writer)->Add("/redfish/v1", {{"Name", name}});
  return added.ok() ? (*writer)->Commit({.source = name}) : added;
}

Json NameIn(const std::string& folder) {
  return Capture::Load(folder).value()->Find("/redfish/v1")->at("Name");
}

TEST_CASE("A commit that was cut off anywhere is undone by the next writer, or was done") {
  namespace fs = std::filesystem;
  for (int moves = 0; moves <= 4; ++moves) {
    INFO(moves);
    const doubles::TemporaryFolder folder;
    const fs::path at(folder.path());
    REQUIRE(WriteRoot(folder.path(), "new").ok());
    fs::create_directories(at / ".fresh");
    fs::rename(at / "redfish", at / ".fresh/redfish");
    fs::rename(at / "manifest.json", at / ".fresh/manifest.json");
    REQUIRE(WriteRoot(folder.path() + "/x", "old").ok());
    fs::rename(at / "x/redfish", at / "redfish");
    fs::rename(at / "x/manifest.json", at / "manifest.json");
    fs::remove_all(at / "x");
    fs::create_directories(at / ".old");
    if (moves > 0) fs::rename(at / "manifest.json", at / ".old/manifest.json");
    if (moves > 1) fs::rename(at / "redfish", at / ".old/redfish");
    if (moves > 2) fs::rename(at / ".fresh/redfish", at / "redfish");
    if (moves > 3) fs::rename(at / ".fresh/manifest.json", at / "manifest.json");
    REQUIRE(CaptureWriter::Create(folder.path()).ok());
    REQUIRE(NameIn(folder.path()) == (moves > 3 ? "new" : "old"));
    REQUIRE(CheckCapture(folder.path())->has_manifest);
    REQUIRE(CheckCapture(folder.path())->faults.empty());
  }
}

TEST_CASE("No capture is written over a folder that is none, or without a service root") {
  const doubles::TemporaryFolder folder;
  folder.Write("mine/redfish/notes", "x");
  REQUIRE(absl::IsFailedPrecondition(WriteRoot(folder.path() + "/mine", "new")));
  REQUIRE(std::filesystem::exists(folder.path() + "/mine/redfish/notes"));

  const std::string capture = folder.path() + "/capture";
  REQUIRE(WriteRoot(capture, "old").ok());
  REQUIRE(absl::IsDataLoss(CaptureWriter::Create(capture).value()->Commit({})));
  REQUIRE(NameIn(capture) == "old");
  REQUIRE(CheckCapture(capture)->faults.empty());
}

TEST_CASE("An archive that cannot be read is a fault, and a missing one is an error") {
  const doubles::TemporaryFolder folder;
  const CaptureCheck check = CheckCapture(folder.Write("cut.tar.xz",
                                                       "\xfd"
                                                       "7zXZ"))
                                 .value();
  REQUIRE(check.faults.size() == 1);
  REQUIRE(absl::IsNotFound(CheckCapture(folder.path() + "/none").status()));
}

TEST_CASE("A written capture is read as it was, verifies, and differs in nothing") {
  for (const char* name : kShipped) {
    const doubles::TemporaryFolder folder;
    REQUIRE(WriteCapture(Imported(ArchiveOf(name)), folder.path(), std::nullopt).ok());
    const auto copy = Capture::Load(folder.path()).value();
    REQUIRE(copy->resources() == Shipped(name).resources());
    REQUIRE(Compare(Shipped(name), *copy, false).empty());
    const CaptureCheck check = CheckCapture(folder.path()).value();
    REQUIRE(check.has_manifest);
    REQUIRE(check.faults.empty());
    REQUIRE(static_cast<std::int64_t>(check.dangling.size()) == Shipped(name).dangling_count());
  }
}

TEST_CASE("Verifying names what was changed, added, removed and is no JSON") {
  const doubles::TemporaryFolder folder;
  folder.Write("from/index.json", kRoot);
  folder.Write("from/Systems/index.json",
               R"({"Members": [{"@odata.id": "/redfish/v1/Systems/9"}]})");
  folder.Write("from/Chassis/index.json", "{}");
  const std::string out = folder.path() + "/out";
  REQUIRE(WriteCapture(Imported(folder.path() + "/from"), out, std::nullopt).ok());
  REQUIRE(CheckCapture(out)->dangling == std::vector<std::string>{"/redfish/v1/Systems/9"});

  folder.Write("out/redfish/v1/Systems/index.json", "{\"Members\": []}");
  folder.Write("out/redfish/v1/New/index.json", "[");
  std::filesystem::remove(out + "/redfish/v1/Chassis/index.json");
  const CaptureCheck check = CheckCapture(out).value();
  REQUIRE(check.faults ==
          std::vector<std::string>{
              "redfish/v1/New/index.json is no JSON object",
              "redfish/v1/Chassis/index.json is in the manifest and not there",
              "redfish/v1/Systems/index.json has another checksum than the manifest says",
              "redfish/v1/New/index.json is not in the manifest"});
}

TEST_CASE("A file that a resource names is a resource, and a fault where a manifest lacks it") {
  const doubles::TemporaryFolder folder;
  folder.Write("from/index.json", kRoot);
  folder.Write("from/Registries/Base/index.json",
               R"({"Location": [{"Uri": "/redfish/v1/Registries/Base.json"},
                                {"Uri": "/redfish/v1/Registries/Base/index.json"}]})");
  folder.Write("from/Registries/Base.json", R"({"Id": "Base.1.5.0"})");
  REQUIRE(CheckCapture(folder.path() + "/from")->resources == 3);
  REQUIRE(CheckCapture(folder.path() + "/from")->faults.empty());
  const std::string out = folder.path() + "/out";
  REQUIRE(WriteCapture(Imported(folder.path() + "/from"), out, std::nullopt).ok());
  REQUIRE(CheckCapture(out)->resources == 3);
  REQUIRE(CheckCapture(out)->faults.empty());

  std::filesystem::remove_all(out);
  std::filesystem::remove(folder.path() + "/from/Registries/Base.json");
  REQUIRE(WriteCapture(Imported(folder.path() + "/from"), out, std::nullopt).ok());
  folder.Write("out/redfish/v1/Registries/Base.json", "{}");
  REQUIRE(CheckCapture(out)->faults ==
          std::vector<std::string>{"/redfish/v1/Registries/Base.json is not in the manifest"});
}

TEST_CASE("A difference says which resources and which properties") {
  const auto make = [](const std::string& system) {
    Capture::Resources resources;
    resources["/redfish/v1"] = Json::parse(kRoot);
    resources["/redfish/v1/S"] = Json::parse(system);
    return resources;
  };
  Capture::Resources first = make(R"({"A": 1, "B": [1, 2], "Gone": 0, "@odata.etag": "1"})");
  first["/redfish/v1/Old"] = Json::object();
  Capture::Resources second = make(R"({"A": 2, "B": [1, 3], "New": {}, "@odata.etag": "2"})");
  second["/redfish/v1/Young"] = Json::object();
  const auto before = Capture::FromResources("a", first).value();
  const auto after = Capture::FromResources("b", second).value();
  const CaptureDifference difference = Compare(*before, *after, true);
  REQUIRE(difference.removed == std::vector<std::string>{"/redfish/v1/Old"});
  REQUIRE(difference.added == std::vector<std::string>{"/redfish/v1/Young"});
  REQUIRE(difference.changed.size() == 1);
  std::vector<std::string> pointers;
  for (const auto& change : difference.changed[0].properties) pointers.push_back(change.pointer);
  REQUIRE(pointers == std::vector<std::string>{"/A", "/B/1", "/Gone", "/New"});
  REQUIRE(Compare(*before, *after, false).changed[0].properties.size() == 5);
}

TEST_CASE("A packed capture has the same bytes each time, a licence, and reads as it was") {
  const doubles::TemporaryFolder folder;
  const ImportedCapture imported = Imported(ArchiveOf("dmtf-rackmount1"));
  const std::string bytes = Packed(imported);
  REQUIRE(Packed(imported) == bytes);
  const std::string path = folder.Write("it.tar.xz", bytes);
  REQUIRE(Capture::Load(path).value()->resources() == imported.capture->resources());
  REQUIRE(CheckCapture(path)->faults.empty());
  REQUIRE(ReadArchive(path, "LICENSE")->files.at(0).bytes == "MIT");
  // Packing the unpacked folder again gives the same bytes.
  REQUIRE(WriteCapture(Imported(path), folder.path() + "/out", std::nullopt).ok());
  REQUIRE(Packed(Imported(folder.path() + "/out")) == bytes);
  REQUIRE_FALSE(PackCapture(imported, "../it", "MIT", {}).ok());
  REQUIRE_FALSE(PackCapture(imported, "it", "", {}).ok());
}

TEST_CASE("Pages become part of their collection; a circle of them ends") {
  Json collection =
      Json::parse(R"({"Members": [{"@odata.id": "/a"}], "Members@odata.nextLink": "/c?2"})");
  const Json second = Json::parse(
      R"({"Members": [{"@odata.id": "/a"}, {"@odata.id": "/b"}], "Members@odata.nextLink": "/c?2"})");
  AppendPages(collection, [&](std::string_view uri) { return uri == "/c?2" ? &second : nullptr; });
  REQUIRE(collection.at("Members").size() == 2);

  Json cut = Json::parse(R"({"Members": [], "@odata.nextLink": "/gone"})");
  AppendPages(cut, [](std::string_view) { return nullptr; });
  REQUIRE(cut.at("@odata.nextLink") == "/gone");
}

TEST_CASE("Pages in a folder are joined however their links are spelled, and a circle ends") {
  const doubles::TemporaryFolder folder;
  folder.Write("redfish/v1/index.json", kRoot);
  folder.Write("redfish/v1/Systems/index.json",
               R"({"Members": [{"Name": "a"}],
                   "Members@odata.nextLink": "https://bmc.lab/redfish/v1//Systems/?%24skip=1#x"})");
  folder.Write(
      "redfish/v1/Systems?$skip=1/index.json",
      R"({"Members": [{"Name": "b"}], "@odata.nextLink": "/redfish/v1/Systems/?$skip=2"})");
  folder.Write(
      "redfish/v1/Systems?$skip=2/index.json",
      R"({"Members": [{"Name": "c"}], "@odata.nextLink": "/redfish//v1/Systems?$skip=1"})");
  const auto capture = Capture::Load(folder.path()).value();
  REQUIRE(capture->Find("/redfish/v1/Systems")->at("Members") ==
          Json::parse(R"([{"Name": "a"}, {"Name": "b"}, {"Name": "c"}])"));
}

TEST_CASE("The pages that the R750 was captured in are whole collections") {
  const Json* const sensors =
      Shipped("dell-r750").Find("/redfish/v1/Systems/System.Embedded.1/Oem/Dell/DellSensors");
  REQUIRE(sensors->at("Members").size() == sensors->at("Members@odata.count"));
  REQUIRE_FALSE(sensors->contains("Members@odata.nextLink"));
}

TEST_CASE("No URI leads a file out of its folder") {
  for (const char* uri : {"/redfish/v1/../x", "/redfish/v1/.", "/redfish/v1/a/index.json", "/etc",
                          "/redfish/v1x", "/redfish/v1/a\nb", "/redfish/v1/a\\b"}) {
    INFO(uri);
    REQUIRE_FALSE(CaptureFileOf(uri).has_value());
  }
  REQUIRE(CaptureFileOf("/redfish/v1").value() == "redfish/v1/index.json");
}

}  // namespace
}  // namespace shoal::redfish
