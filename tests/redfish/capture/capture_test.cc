// SPDX-License-Identifier: Apache-2.0
#include "redfish/capture/capture.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <string>

#include "redfish/capture/capture_path.h"
#include "redfish/capture/landmarks.h"
#include "redfish/capture/uri.h"
#include "tests/doubles/temporary_folder.h"
#include "tests/redfish/capture/shipped.h"
#include "tests/redfish/goals/mentions.h"

namespace shoal::redfish {
namespace {

std::string ReadBytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

TEST_CASE("The shipped captures hold as many resources as their archives have bodies") {
  const std::map<std::string, std::size_t> kSizes = {{"dell-r750", 2638},
                                                     {"dmtf-rackmount1", 272},
                                                     {"hpe-dl380a-gen12", 2151},
                                                     {"openbmc-stock", 945}};
  for (const auto& [name, size] : kSizes) {
    const Capture& capture = Shipped(name);
    REQUIRE(capture.name() == name);
    REQUIRE(capture.resources().size() == size);
    REQUIRE(capture.digest().size() == 64);
    REQUIRE(capture.service_root().contains("Systems"));
  }
  REQUIRE(Shipped("dell-r750").error_count() == 8);
  REQUIRE(Shipped("hpe-dl380a-gen12").error_count() == 13);
}

TEST_CASE("Every key of a capture is canonical and below the service root") {
  for (const char* name : kShipped) {
    for (const auto& [uri, body] : Shipped(name).resources()) {
      REQUIRE(uri == CanonicalUri(uri));
      REQUIRE(uri.starts_with(kServiceRoot));
      REQUIRE(body.is_object());
    }
  }
}

TEST_CASE("System, chassis, manager and network protocol are found by links on every capture") {
  const Landmarks dell = FindLandmarks(Shipped("dell-r750"));
  REQUIRE(dell.system == "/redfish/v1/Systems/System.Embedded.1");
  REQUIRE(dell.chassis == "/redfish/v1/Chassis/System.Embedded.1");
  REQUIRE(dell.network_protocol == "/redfish/v1/Managers/iDRAC.Embedded.1/NetworkProtocol");
  const Landmarks hpe = FindLandmarks(Shipped("hpe-dl380a-gen12"));
  REQUIRE(hpe.chassis == "/redfish/v1/Chassis/1");
  const Landmarks openbmc = FindLandmarks(Shipped("openbmc-stock"));
  REQUIRE(openbmc.system == "/redfish/v1/Systems/system");
  REQUIRE(openbmc.manager == "/redfish/v1/Managers/bmc");
}

TEST_CASE("A missing archive is NOT_FOUND and named") {
  const auto result = Capture::Load("/nowhere/at-all.tar.xz");
  REQUIRE(result.status().code() == absl::StatusCode::kNotFound);
  REQUIRE(Mentions(result.status(), "/nowhere/at-all.tar.xz"));
}

TEST_CASE("A truncated archive is DATA_LOSS and named, wherever it is cut") {
  const doubles::TemporaryFolder folder;
  const std::string whole = ReadBytes(ArchiveOf("dmtf-rackmount1"));
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{3}, std::size_t{100}, whole.size() / 2, whole.size() - 1}) {
    const std::string path = folder.Write("cut.tar.xz", whole.substr(0, size));
    const auto result = Capture::Load(path);
    REQUIRE(result.status().code() == absl::StatusCode::kDataLoss);
    REQUIRE(Mentions(result.status(), path));
  }
}

TEST_CASE("A corrupt archive is DATA_LOSS and named") {
  const doubles::TemporaryFolder folder;
  std::string bytes = ReadBytes(ArchiveOf("dmtf-rackmount1"));
  for (std::size_t i = 20000; i < 20064; ++i) bytes[i] = static_cast<char>(~bytes[i]);
  const std::string path = folder.Write("flipped.tar.xz", bytes);
  const auto result = Capture::Load(path);
  REQUIRE(result.status().code() == absl::StatusCode::kDataLoss);
  REQUIRE(Mentions(result.status(), path));
  const auto text = Capture::Load(folder.Write("text.tar.xz", "no archive at all"));
  REQUIRE(text.status().code() == absl::StatusCode::kDataLoss);
}

TEST_CASE("Trees with and without redfish/v1 in the path come out alike") {
  const doubles::TemporaryFolder folder;
  const std::string root = R"({"@odata.id": "/redfish/v1/", "Name": "Root"})";
  const std::string system = R"({"@odata.id": "/redfish/v1/Systems/1"})";
  folder.Write("with/host/redfish/v1/index.json", root);
  folder.Write("with/host/redfish/v1/Systems/1/index.json", system);
  folder.Write("without/index.json", root);
  folder.Write("without/Systems/1/index.json", system);
  const auto with = Capture::Load(folder.path() + "/with");
  const auto without = Capture::Load(folder.path() + "/without");
  REQUIRE(with.ok());
  REQUIRE(without.ok());
  REQUIRE(with.value()->resources() == without.value()->resources());
  REQUIRE(with.value()->digest() == without.value()->digest());
  REQUIRE(with.value()->Find("/redfish/v1/Systems/1") != nullptr);
}

TEST_CASE("A file of its own is where a resource says that it is, and nothing else is read") {
  const doubles::TemporaryFolder folder;
  folder.Write("index.json", R"({"@odata.id": "/redfish/v1/"})");
  folder.Write("Registries/Base/index.json",
               R"({"Location": [{"Uri": "/redfish/v1/Registries/Base.json"}, 7, {"Uri": false},
                                {"Uri": "/redfish/v1/Registries/Absent.json"}]})");
  folder.Write("Registries/Base.json", R"({"Id": "Base.1.5.0"})");
  folder.Write("Registries/Other.json", "noise");
  folder.Write("Base.json", "{}");
  const auto capture = Capture::Load(folder.path());
  REQUIRE(capture.ok());
  REQUIRE(capture.value()->resources().size() == 3);
  REQUIRE(*capture.value()->Find("/redfish/v1/Registries/Base.json") ==
          nlohmann::json{{"Id", "Base.1.5.0"}});

  folder.Write("Registries/Base.json", "noise");
  const absl::Status refused = Capture::Load(folder.path()).status();
  REQUIRE(absl::IsDataLoss(refused));
  REQUIRE(refused.message().find("Registries/Base.json") != std::string::npos);
}

TEST_CASE("Recorded errors are absent, and members that point at nothing are counted") {
  const doubles::TemporaryFolder folder;
  folder.Write("index.json", R"({"@odata.id": "/redfish/v1"})");
  folder.Write("Systems/index.json", R"({"@odata.id": "/redfish/v1/Systems", "Members": [
      {"@odata.id": "/redfish/v1/Systems/1"}, {"@odata.id": "/redfish/v1/Systems/2/"},
      {"@odata.id": "/redfish/v1/Systems/3"}]})");
  folder.Write("Systems/1/index.json", R"({"error": {"code": "Base.1.0.GeneralError"}})");
  folder.Write("Systems/2/index.json", R"({"@odata.id": "/redfish/v1/Systems/2"})");
  const auto capture = Capture::Load(folder.path());
  REQUIRE(capture.ok());
  REQUIRE(capture.value()->Find("/redfish/v1/Systems/1") == nullptr);
  REQUIRE(capture.value()->error_count() == 1);
  REQUIRE(capture.value()->dangling_count() == 2);
}

TEST_CASE("A body that is no JSON object and a tree without a root are DATA_LOSS") {
  const doubles::TemporaryFolder folder;
  folder.Write("bad/index.json", "{\"Name\": ");
  const auto broken = Capture::Load(folder.path() + "/bad");
  REQUIRE(broken.status().code() == absl::StatusCode::kDataLoss);
  REQUIRE(Mentions(broken.status(), "index.json"));
  folder.Write("empty/readme.txt", "nothing");
  REQUIRE(Capture::Load(folder.path() + "/empty").status().code() == absl::StatusCode::kDataLoss);
  REQUIRE(Capture::FromResources("x", {}).status().code() == absl::StatusCode::kDataLoss);
}

TEST_CASE("A capture is found by its name, and by the path of a folder or of an archive") {
  const doubles::TemporaryFolder folder;
  folder.Write("captures/shipped.tar.xz", "");
  folder.Write("captures/unpacked/redfish/v1/index.json", "{}");
  folder.Write("own.tar.xz", "");
  const std::string data = folder.path();
  REQUIRE(FindCapture("shipped", data).value() == data + "/captures/shipped.tar.xz");
  REQUIRE(FindCapture("unpacked", data).value() == data + "/captures/unpacked");
  REQUIRE(FindCapture(data + "/own.tar.xz", data).value() == data + "/own.tar.xz");
  REQUIRE(FindCapture(data + "/captures/unpacked/", data).value() == data + "/captures/unpacked/");
}

TEST_CASE("A capture that is nowhere is named in one line, with what is close to it or all names") {
  const doubles::TemporaryFolder folder;
  folder.Write("captures/dell-r750.tar.xz", "");
  folder.Write("captures/lab/redfish/v1/index.json", "{}");
  const std::string captures = folder.path() + "/captures";
  const absl::Status typo = FindCapture("dell-r75", folder.path()).status();
  REQUIRE(absl::IsNotFound(typo));
  REQUIRE(runtime::Message(typo) == "no capture \"dell-r75\": looked for " + captures +
                                        "/dell-r75.tar.xz, " + captures +
                                        "/dell-r75, dell-r75 (did you mean dell-r750?)");
  REQUIRE(runtime::Message(FindCapture("none/such", folder.path()).status()) ==
          "no capture \"none/such\": looked for none/such; " + captures + " has dell-r750, lab");
}

}  // namespace
}  // namespace shoal::redfish
