// SPDX-License-Identifier: Apache-2.0
// Tests `shoal capture` as a person starts it.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "mock_process.h"
#include "platform/http/fetch.h"
#include "platform/runtime/atomic_file.h"
#include "redfish/capture/archive.h"
#include "shoal_run.h"
#include "tests/doubles/temporary_folder.h"

namespace shoal::tests {
namespace {

const std::string kArchive = "data/captures/dmtf-rackmount1.tar.xz";
constexpr const char* kRoot =
    R"({"@odata.id": "/redfish/v1", "@odata.type": "#ServiceRoot.v1_0_0.ServiceRoot",
  "Systems": {"@odata.id": "/redfish/v1/Systems"}})";
constexpr const char* kSystems =
    R"({"@odata.id": "/redfish/v1/Systems", "Members": [{"@odata.id": "/redfish/v1/Systems/1"}]})";

EndedRun Capture(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "capture");
  return RunToEnd(std::move(arguments));
}

// Writes three resources, one of them with secrets, and a manifest.
std::string Small(const doubles::TemporaryFolder& folder, const std::string& name) {
  folder.Write("tree/redfish/v1/index.json", kRoot);
  folder.Write("tree/redfish/v1/Systems/index.json", kSystems);
  folder.Write("tree/redfish/v1/Systems/1/index.json",
               R"({"@odata.id": "/redfish/v1/Systems/1", "Name": "one", "SerialNumber": "SN-1",
                   "Password": "s3cret"})");
  const std::string out = folder.path() + "/" + name;
  REQUIRE(Capture({"import", folder.path() + "/tree", "--out", out}).code == 0);
  return out;
}

}  // namespace

TEST_CASE("a capture that is whole is good, and a damaged one is named with its fault",
          "[capture]") {
  const EndedRun good = Capture({"verify", kArchive});
  INFO(good.output);
  REQUIRE(good.code == 0);
  REQUIRE(good.last_line.starts_with("good resources="));
  REQUIRE(NumberIn(good.last_line, "faults") == 0);

  const doubles::TemporaryFolder folder;
  const std::string bytes = runtime::ReadFile(kArchive).value();
  const std::string cut = folder.Write("cut.tar.xz", bytes.substr(0, bytes.size() / 2));
  const EndedRun damaged = Capture({"verify", cut});
  INFO(damaged.output);
  REQUIRE(damaged.code == 1);
  REQUIRE(damaged.Says("fault: "));
  REQUIRE(damaged.Says("cut.tar.xz"));
  REQUIRE(damaged.last_line.starts_with("bad resources=0 faults=1"));

  const std::string small = Small(folder, "small");
  REQUIRE(Capture({"verify", small}).last_line ==
          "good resources=3 faults=0 dangling=0 errors=0 manifest=yes");
  folder.Write("small/redfish/v1/Systems/index.json", R"({"Members": []})");
  folder.Write("small/redfish/v1/Chassis/index.json", "[1");
  const EndedRun changed = Capture({"verify", small});
  INFO(changed.output);
  REQUIRE(changed.code == 1);
  REQUIRE(changed.Says("redfish/v1/Systems/index.json has another checksum"));
  REQUIRE(changed.Says("redfish/v1/Chassis/index.json is no JSON object"));
  REQUIRE(Capture({"verify", small, "--list", "0"}).Says("more\n"));
}

TEST_CASE("two captures are compared, resource by resource", "[capture]") {
  const doubles::TemporaryFolder folder;
  const std::string before = Small(folder, "before");
  const std::string after = folder.path() + "/after";
  folder.Write("tree/redfish/v1/Systems/1/index.json",
               R"({"@odata.id": "/redfish/v1/Systems/1", "Name": "two", "SerialNumber": "SN-1",
                   "Password": "s3cret"})");
  folder.Write("tree/redfish/v1/Chassis/index.json", R"({"Members": []})");
  REQUIRE(Capture({"import", folder.path() + "/tree", "--out", after}).code == 0);
  const EndedRun same = Capture({"diff", before, before});
  REQUIRE(same.code == 0);
  REQUIRE(same.last_line == "added=0 removed=0 changed=0");
  const EndedRun different = Capture({"diff", before, after});
  INFO(different.output);
  REQUIRE(different.code == 1);
  REQUIRE(different.Says("+ /redfish/v1/Chassis\n"));
  REQUIRE(different.Says("~ /redfish/v1/Systems/1\n    /Name: \"one\" -> \"two\"\n"));
  REQUIRE(different.last_line == "added=1 removed=0 changed=1");
  REQUIRE_FALSE(Capture({"diff", before, after, "--names"}).Says("/Name"));
  REQUIRE(Capture({"diff", after, before}).Says("- /redfish/v1/Chassis\n"));
}

TEST_CASE("a redacted copy has no secrets and is whole", "[capture]") {
  const doubles::TemporaryFolder folder;
  const std::string small = Small(folder, "small");
  const std::string out = folder.path() + "/out";
  REQUIRE(Capture({"redact", small, "--out", out}).code == 0);
  const std::string system = "/redfish/v1/Systems/1/index.json";
  const std::string text = runtime::ReadFile(out + system).value();
  REQUIRE(text.find("s3cret") == std::string::npos);
  REQUIRE(text.find("SN-1") != std::string::npos);
  REQUIRE(Capture({"verify", out}).code == 0);
  REQUIRE(Capture({"redact", small, "--out", out, "--serials"}).code == 0);
  REQUIRE(runtime::ReadFile(out + system).value().find("SN-1") == std::string::npos);
  // The original does not change.
  REQUIRE(runtime::ReadFile(small + system).value().find("s3cret") != std::string::npos);
}

TEST_CASE("captures are imported from folders, flat ones too, and from archives", "[capture]") {
  const doubles::TemporaryFolder folder;
  const std::string small = Small(folder, "small");
  const std::string out = folder.path() + "/out";
  const auto imported = [&](const std::string& from, const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {"import", from, "--out", out};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const EndedRun ended = Capture(std::move(arguments));
    INFO(ended.output);
    REQUIRE(ended.code == 0);
    REQUIRE(Capture({"verify", out}).code == 0);
    return ended.last_line;
  };
  const std::string tar = folder.Write(
      "it.tar.xz",
      redfish::PackArchive(
          {{"x/redfish/v1/index.json", kRoot}, {"x/redfish/v1/Systems/index.json", kSystems}}, {})
          .value());
  REQUIRE(imported(tar) == "capture " + out + " resources=2 dangling=1");
  folder.Write("flat/root.json", kRoot);
  folder.Write("flat/systems.json", kSystems);
  REQUIRE(imported(folder.path() + "/flat") == "capture " + out + " resources=2 dangling=1");
  const std::string map =
      folder.Write("map.json", R"({"root.json": "/redfish/v1", "systems.json": "/redfish/v1/S"})");
  REQUIRE(imported(folder.path() + "/flat", {"--map", map}) ==
          "capture " + out + " resources=2 dangling=1");
  REQUIRE(imported(small, {"--redact", "secrets"}).starts_with("capture "));
  REQUIRE(runtime::ReadFile(out + "/redfish/v1/Systems/1/index.json").value().find("s3cret") ==
          std::string::npos);
}

TEST_CASE("a packed capture is the same bytes each time, loads, and is served", "[capture]") {
  const doubles::TemporaryFolder folder;
  const std::string small = Small(folder, "small");
  const std::string licence = folder.Write("LICENSE", "MIT\n");
  const std::string one = folder.path() + "/lab.tar.xz";
  const std::string two = folder.path() + "/two.tar.xz";
  const EndedRun packed = Capture({"pack", small, "--out", one, "--licence", licence});
  INFO(packed.output);
  REQUIRE(packed.code == 0);
  REQUIRE(NumberIn(packed.last_line, "resources") == 3);
  REQUIRE(Capture({"pack", small, "--out", two, "--licence", licence, "--name", "lab"}).code == 0);
  REQUIRE(runtime::ReadFile(one).value() == runtime::ReadFile(two).value());
  REQUIRE(Capture({"verify", one}).code == 0);
  REQUIRE(Capture({"diff", small, one}).code == 0);

  MockProcess mock(
      {"captures=[\"" + one + "\"]", "listen=\"127.0.0.1:0\"", "control_listen=\"127.0.0.1:0\""});
  const auto system = http::Fetch(mock.address(), {.target = "/redfish/v1/Systems/1"}).value();
  REQUIRE(system.status == 200);
  REQUIRE(system.body.find("\"one\"") != std::string::npos);
  REQUIRE(mock.Stop() == 0);
}

TEST_CASE("a capture shows what is in it, and one resource", "[capture]") {
  const EndedRun all = Capture({"show", kArchive});
  REQUIRE(all.code == 0);
  REQUIRE(all.Says("name dmtf-rackmount1\n"));
  REQUIRE(NumberIn(all.last_line, "types") > 10);
  const EndedRun one = Capture({"show", kArchive, "/redfish/v1/Systems/"});
  REQUIRE(one.code == 0);
  REQUIRE(one.Says("\"Members\""));
  const EndedRun none = Capture({"show", kArchive, "/redfish/v1/None"});
  REQUIRE(none.code == 2);
  REQUIRE(none.Says("has no /redfish/v1/None"));
}

TEST_CASE("wrong words to capture are named", "[capture]") {
  const doubles::TemporaryFolder folder;
  const auto refused = [](std::vector<std::string> arguments, const std::string& word) {
    const EndedRun ended = Capture(std::move(arguments));
    INFO(ended.output);
    REQUIRE(ended.code == 2);
    REQUIRE(ended.Says(word));
  };
  const std::string none = folder.path() + "/none";
  refused({}, "subcommand");
  refused({"verfy", kArchive}, "subcommand");
  refused({"verify"}, "CAPTURE");
  refused({"verify", none}, "none");
  refused({"diff", kArchive}, "OTHER");
  refused({"redact", kArchive}, "--out");
  refused({"import", kArchive, "--out", none, "--redact", "some"}, "--redact");
  refused({"import", kArchive, "--out", none, "--map", none}, "--map");
  refused({"pack", kArchive, "--out", none}, "--licence");
  // A folder that holds something else is not replaced.
  folder.Write("mine/redfish/notes", "mine");
  refused({"import", kArchive, "--out", folder.path() + "/mine"}, "no capture");
  REQUIRE(runtime::ReadFile(folder.path() + "/mine/redfish/notes").value() == "mine");
}

}  // namespace shoal::tests
