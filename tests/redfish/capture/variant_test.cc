// SPDX-License-Identifier: Apache-2.0
// Variants of all shipped captures, of several seeds.
#include "redfish/capture/variant.h"

#include <catch2/catch.hpp>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "redfish/capture/capture_check.h"
#include "redfish/capture/capture_import.h"
#include "redfish/capture/capture_path.h"
#include "redfish/capture/capture_roles.h"
#include "redfish/capture/landmarks.h"
#include "redfish/capture/uri.h"
#include "tests/doubles/temporary_folder.h"
#include "tests/redfish/capture/shipped.h"

namespace shoal::redfish {
namespace {

using Json = nlohmann::json;

constexpr std::uint64_t kSeeds = 4;

std::vector<std::string> AllShipped() {
  std::vector<std::string> names(std::begin(kShipped), std::end(kShipped));
  names.insert(names.end(), std::begin(kMockups), std::end(kMockups));
  return names;
}

std::shared_ptr<const Capture> Variant(const Capture& capture, std::uint64_t seed) {
  auto variant = MakeVariant(capture, seed);
  REQUIRE(variant.ok());
  return *variant;
}

// A variant of a shipped capture, made once for all cases.
const Capture& ShippedVariant(const std::string& name, std::uint64_t seed) {
  static std::map<std::pair<std::string, std::uint64_t>, std::shared_ptr<const Capture>> made;
  auto& variant = made[{name, seed}];
  if (variant == nullptr) variant = Variant(Shipped(name), seed);
  return *variant;
}

void VisitLinks(const Json& value, const std::function<void(const std::string&)>& visit) {
  if (value.is_object() && value.size() == 1 && !LinkTarget(value).empty()) {
    visit(LinkTarget(value));
  } else if (value.is_structured()) {
    for (const Json& inner : value) VisitLinks(inner, visit);
  }
}

// Returns the targets of links that lead nowhere.
std::set<std::string> DanglingLinks(const Capture& capture) {
  std::set<std::string> dangling;
  for (const auto& [uri, body] : capture.resources()) {
    VisitLinks(body, [&](const std::string& target) {
      if (capture.Find(target) == nullptr) dangling.insert(target);
    });
  }
  return dangling;
}

// Returns the number of resources whose "@odata.id" names another place than theirs.
std::size_t Elsewhere(const Capture& capture) {
  std::size_t elsewhere = 0;
  for (const auto& [uri, body] : capture.resources()) {
    const std::string own = LinkTarget(body);
    elsewhere += !own.empty() && own != uri ? 1 : 0;
  }
  return elsewhere;
}

std::string Bytes(const Capture& capture) {
  std::string bytes;
  for (const auto& [uri, body] : capture.resources()) bytes += uri + body.dump();
  return bytes;
}

std::map<std::string, std::string> VersionsOf(const Capture& capture) {
  std::map<std::string, std::string> versions;
  for (const auto& [uri, body] : capture.resources()) {
    const std::string type = TextAt(body, "@odata.type");
    versions[type] = type.substr(0, type.find('.'));
  }
  return versions;
}

std::vector<const Json*> AccountsOf(const Capture& capture) {
  std::vector<const Json*> accounts;
  const Json* const list = capture.Find("/redfish/v1/AccountService/Accounts");
  if (list == nullptr) return accounts;
  for (const std::string& uri : MemberUris(*list)) accounts.push_back(capture.Find(uri));
  return accounts;
}

std::size_t EmptySlots(const Capture& capture) {
  std::size_t empty = 0;
  for (const Json* const account : AccountsOf(capture)) {
    REQUIRE(account != nullptr);
    empty += account->value("UserName", Json()) == Json("") ? 1 : 0;
  }
  return empty;
}

}  // namespace

TEST_CASE("A variant's name is a capture's name, a tilde and a number") {
  REQUIRE(ParseVariantName("dell-r750~7")->capture == "dell-r750");
  REQUIRE(ParseVariantName("dell-r750~7")->seed == 7);
  REQUIRE(ParseVariantName("a/rack.tar.xz~120")->capture == "a/rack.tar.xz");
  REQUIRE(ToText(*ParseVariantName("a~b~0")) == "a~b~0");
  for (const char* name : {"dell-r750", "lab~", "~7", "lab~x7", "lab~7x", "lab~07", "lab~-1",
                           "lab~1234567890123456789"}) {
    REQUIRE_FALSE(ParseVariantName(name).has_value());
  }
  REQUIRE(ArchiveName("a/rack.tar.xz~7") == "rack~7");
  REQUIRE(ArchiveName("lab/rack~7") == "rack~7");
}

TEST_CASE("A seed gives the same bytes each time, and another seed another tree") {
  for (const std::string& name : AllShipped()) {
    const Capture& capture = Shipped(name);
    std::set<std::string> trees = {Bytes(capture)};
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
      INFO(name << "~" << seed);
      const Capture& variant = ShippedVariant(name, seed);
      REQUIRE(variant.name() == name + "~" + std::to_string(seed));
      const std::string bytes = Bytes(variant);
      REQUIRE(bytes == Bytes(*Variant(capture, seed)));
      REQUIRE(trees.insert(bytes).second);
    }
  }
}

TEST_CASE("No link of a variant dangles but those of its capture") {
  for (const std::string& name : AllShipped()) {
    const Capture& capture = Shipped(name);
    const std::size_t before = DanglingLinks(capture).size();
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
      INFO(name << "~" << seed);
      const Capture& variant = ShippedVariant(name, seed);
      REQUIRE(DanglingLinks(variant).size() <= before);
      REQUIRE(variant.dangling_count() <= capture.dangling_count());
    }
  }
}

TEST_CASE("Every resource of a variant is at its own @odata.id where those of its capture are") {
  for (const std::string& name : AllShipped()) {
    const std::size_t before = Elsewhere(Shipped(name));
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
      INFO(name << "~" << seed);
      // A copied subtree may have such resources, too.
      REQUIRE(Elsewhere(ShippedVariant(name, seed)) <= 2 * before);
    }
  }
}

TEST_CASE("A variant has its capture's landmarks and versions of types") {
  for (const std::string& name : AllShipped()) {
    const Capture& capture = Shipped(name);
    const Landmarks before = FindLandmarks(capture);
    const auto versions = VersionsOf(capture);
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
      INFO(name << "~" << seed);
      const Capture& variant = ShippedVariant(name, seed);
      const Landmarks after = FindLandmarks(variant);
      REQUIRE(after.system.empty() == before.system.empty());
      REQUIRE(after.chassis.empty() == before.chassis.empty());
      REQUIRE(after.manager.empty() == before.manager.empty());
      REQUIRE(after.network_protocol.empty() == before.network_protocol.empty());
      for (const auto& [type, plain] : VersionsOf(variant)) {
        const bool made = plain == "#BootOption" || plain == "#BootOptionCollection";
        REQUIRE((made || versions.contains(type)));
      }
    }
  }
}

TEST_CASE("Accounts of some variants are slots where the capture's grow, and the other way round") {
  std::set<bool> growing;
  std::set<bool> slots;
  for (std::uint64_t seed = 0; seed < 20 && (growing.size() < 2 || slots.size() < 2); ++seed) {
    const Capture& mockup = ShippedVariant("dmtf-mpf", seed);
    growing.insert(EmptySlots(mockup) > 0);
    std::set<std::string> users;
    for (const Json* const account : AccountsOf(mockup)) users.insert(TextAt(*account, "UserName"));
    REQUIRE(users.contains("Administrator"));
    slots.insert(EmptySlots(ShippedVariant("dell-r750", seed)) > 0);
  }
  REQUIRE(growing.size() == 2);
  REQUIRE(slots.size() == 2);
}

TEST_CASE("A slot takes nothing from a resource that lay in its place and was no member") {
  const std::string accounts = "/redfish/v1/AccountService/Accounts";
  REQUIRE(Shipped("dmtf-rackmount1").Find(accounts + "/2") != nullptr);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Capture& variant = ShippedVariant("dmtf-rackmount1", seed);
    if (EmptySlots(variant) == 0) continue;
    for (const Json* const account : AccountsOf(variant)) {
      INFO(seed << " " << account->dump());
      REQUIRE(account->contains("PasswordChangeRequired"));
    }
  }
}

TEST_CASE("Some variants expand collections and others do not, whatever their capture does") {
  const auto expands = [](const Capture& capture) {
    const Json* const offered =
        Resolve(*capture.Find(kServiceRoot), "/ProtocolFeaturesSupported/ExpandQuery/NoLinks");
    return offered != nullptr && *offered == true;
  };
  REQUIRE(expands(Shipped("dmtf-mpf")));
  REQUIRE_FALSE(expands(Shipped("openbmc-stock")));
  for (const char* const name : {"dmtf-mpf", "openbmc-stock"}) {
    std::set<bool> seen;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      seen.insert(expands(ShippedVariant(name, seed)));
    }
    REQUIRE(seen.size() == 2);
  }
}

TEST_CASE("A service root that says nothing sensible of $expand makes a variant all the same") {
  Capture::Resources resources = Shipped("dmtf-mpf").resources();
  resources.at(std::string(kServiceRoot))["ProtocolFeaturesSupported"]["ExpandQuery"] = {
      {"Levels", nullptr}, {"Links", "true"}, {"NoLinks", 1}};
  const auto capture = Capture::FromResources("odd", std::move(resources)).value();
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const auto variant = Variant(*capture, seed);
    const Json& root = *variant->Find(kServiceRoot);
    REQUIRE(Resolve(root, "/ProtocolFeaturesSupported/ExpandQuery/Levels")->is_boolean());
  }
}

TEST_CASE("Some variants have an empty collection of accounts that is the vendor's own") {
  const std::string standard = "/redfish/v1/AccountService/Accounts";
  const Capture& capture = Shipped("dmtf-mpf");
  const std::string type = TextAt(*capture.Find(standard), "@odata.type");
  std::set<std::size_t> counts;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Capture& variant = ShippedVariant("dmtf-mpf", seed);
    REQUIRE(variant.Find(standard) != nullptr);
    const Json& service = *variant.Find("/redfish/v1/AccountService");
    std::size_t own = 0;
    for (const auto& [uri, body] : variant.resources()) {
      if (uri == standard || TextAt(body, "@odata.type") != type) continue;
      INFO(uri);
      REQUIRE(IsAtOrBelow(uri, "/redfish/v1/AccountService/Oem"));
      REQUIRE(MemberUris(body).empty());
      REQUIRE(service.at("Oem").dump().find("\"" + uri + "\"") != std::string::npos);
      ++own;
    }
    counts.insert(own);
  }
  REQUIRE(counts == std::set<std::size_t>{0, 1});
}

TEST_CASE("Some variants have a second chassis, a second system, or a boot order") {
  std::set<std::size_t> chassis;
  std::set<std::size_t> systems;
  std::set<bool> ordered;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Capture& variant = ShippedVariant("dmtf-mpf", seed);
    chassis.insert(MemberUris(*variant.Find("/redfish/v1/Chassis")).size());
    systems.insert(MemberUris(*variant.Find("/redfish/v1/Systems")).size());
    const Json& system = *variant.Find(FindLandmarks(variant).system);
    ordered.insert(Resolve(system, "/Boot/BootOrder") != nullptr);
  }
  REQUIRE(chassis == std::set<std::size_t>{1, 2});
  REQUIRE(systems == std::set<std::size_t>{1, 2});
  REQUIRE(ordered.size() == 2);
}

TEST_CASE("A variant can be found, loaded, verified and imported like a capture") {
  const std::string path = FindCapture("dmtf-mpf~7", "data").value();
  REQUIRE(path == "data/captures/dmtf-mpf.tar.xz~7");
  REQUIRE(FindCapture(path, "data").value() == path);
  const auto loaded = Capture::Load(path).value();
  REQUIRE(Bytes(*loaded) == Bytes(ShippedVariant("dmtf-mpf", 7)));
  const CaptureCheck check = CheckCapture(path).value();
  REQUIRE(check.faults.empty());
  REQUIRE(check.resources == static_cast<std::int64_t>(loaded->resources().size()));
  const doubles::TemporaryFolder folder;
  const std::string copy = folder.path() + "/copy";
  REQUIRE(WriteCapture(ImportCapture(path, nullptr).value(), copy, std::nullopt).ok());
  REQUIRE(Capture::Load(copy).value()->resources() == loaded->resources());
  REQUIRE(absl::IsNotFound(FindCapture("none~7", "data").status()));
  REQUIRE(absl::IsNotFound(Capture::Load(folder.path() + "/none~7").status()));
}

TEST_CASE("A held-out capture is held out with its variants, and variants are not judged") {
  const std::vector<std::string> captures = {"a", "a~1", "lab/b.tar.xz", "lab/b.tar.xz~2", "c~3"};
  REQUIRE(TrainingCaptures(captures, "") == captures);
  REQUIRE(TrainingCaptures(captures, "a") ==
          std::vector<std::string>{"lab/b.tar.xz", "lab/b.tar.xz~2", "c~3"});
  REQUIRE(TrainingCaptures(captures, "b~9") == std::vector<std::string>{"a", "a~1", "c~3"});
  REQUIRE(JudgedCaptures(captures, "") == std::vector<std::string>{"a", "lab/b.tar.xz", "c~3"});
  REQUIRE(JudgedCaptures(captures, "a~1") ==
          std::vector<std::string>{"a", "a~1", "lab/b.tar.xz", "c~3"});
}

}  // namespace shoal::redfish
