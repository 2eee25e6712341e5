// SPDX-License-Identifier: Apache-2.0
#include "redfish/catalog/catalog.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>
#include <string>

#include "platform/content/canonical_json.h"
#include "redfish/capture/uri.h"
#include "tests/redfish/capture/shipped.h"

namespace shoal::redfish {
namespace {

using Json = nlohmann::json;

const Catalog& CatalogOf(const std::string& name) {
  static std::map<std::string, std::shared_ptr<const Catalog>> built;
  auto& catalog = built[name];
  if (catalog == nullptr) catalog = Catalog::Build(Shipped(name), ShippedSchema()).value();
  return *catalog;
}

const Candidate* FindRequest(const Catalog& catalog, const std::string& method,
                             const std::string& uri, const Json& body) {
  for (const Candidate& candidate : catalog.candidates()) {
    if (candidate.method == method && candidate.uri == uri && candidate.body == body) {
      return &candidate;
    }
  }
  return nullptr;
}

TEST_CASE("A collection is offered with its members where the service says that it expands") {
  const std::string accounts = "/redfish/v1/AccountService/Accounts";
  const std::string entries = "/redfish/v1/LogService/Entries";
  const std::string sensors = "/redfish/v1/Chassis/1/Sensors";
  const auto offered = [&](const Json& root, std::size_t count) {
    Capture::Resources resources = {{"/redfish/v1", root}};
    const auto add = [&](const std::string& uri, const std::string& type) {
      Json members = Json::array();
      for (std::size_t i = 0; i < count; ++i) {
        const std::string member = uri + "/" + std::to_string(i);
        members.push_back({{"@odata.id", member}});
        resources[member] = {{"@odata.id", member},
                             {"@odata.type", "#" + type + ".v1_4_0." + type}};
      }
      const std::string name = type + "Collection";
      resources[uri] = {{"@odata.id", uri},
                        {"@odata.type", "#" + name + "." + name},
                        {"Members", std::move(members)}};
    };
    add(accounts, "ManagerAccount");
    add(entries, "LogEntry");
    add(sensors, "Sensor");
    const auto catalog =
        *Catalog::Build(**Capture::FromResources("small", std::move(resources)), ShippedSchema());
    std::set<std::string> found;
    for (const Candidate& candidate : catalog->candidates()) {
      if (candidate.expands()) found.insert(CanonicalUri(candidate.uri));
    }
    return found;
  };
  const auto root = [](const Json& query) {
    return Json{{"ProtocolFeaturesSupported", {{"ExpandQuery", query}}}};
  };
  REQUIRE(offered(root({{"NoLinks", true}}), 2) == std::set{accounts, sensors});
  // Accounts are made, so one may come.
  REQUIRE(offered(root({{"NoLinks", true}}), 1) == std::set{accounts});
  REQUIRE(offered(root({{"NoLinks", true}}), Catalog::kMaximumExpanded + 1).empty());
  for (const Json& other :
       {root({{"NoLinks", false}}), root({{"Links", true}}), root(nullptr), Json::object()}) {
    REQUIRE(offered(other, 2).empty());
  }
}

TEST_CASE("The catalogs have the sizes that the whole services have") {
  const std::map<std::string, std::int64_t> kSizes = {{"dell-r750", 10110},
                                                      {"dmtf-rackmount1", 4021},
                                                      {"hpe-dl380a-gen12", 7649},
                                                      {"openbmc-stock", 323}};
  for (const auto& [name, size] : kSizes) {
    const Catalog& catalog = CatalogOf(name);
    WARN(catalog.Summary());
    REQUIRE(static_cast<std::int64_t>(catalog.size()) == size);
    REQUIRE(catalog.counts().at("WAIT") == 1);
    REQUIRE(catalog.counts().at("DELETE") > 0);
  }
  REQUIRE(
      CatalogOf("dell-r750").left_out().at("new members of which the standard requires nothing") >
      0);
}

TEST_CASE("Building twice gives the same keys in the same order") {
  const Catalog& catalog = CatalogOf("openbmc-stock");
  const auto again = Catalog::Build(Shipped("openbmc-stock"), ShippedSchema()).value();
  REQUIRE(again->key() == catalog.key());
  REQUIRE(again->key() != CatalogOf("dmtf-rackmount1").key());
}

TEST_CASE("No request is listed twice, and each is found by its key") {
  for (const char* name : kShipped) {
    const Catalog& catalog = CatalogOf(name);
    std::set<std::string> texts;
    for (std::size_t i = 0; i < catalog.size(); ++i) {
      const Candidate& candidate = catalog.candidates()[i];
      REQUIRE(texts.insert(candidate.text).second);
      REQUIRE(catalog.IndexOf(candidate.key) == static_cast<std::int64_t>(i));
      const std::string query(candidate.expands() ? kExpandQuery : "");
      REQUIRE(candidate.uri == CanonicalUri(candidate.uri) + query);
    }
    REQUIRE(catalog.IndexOf(content::KeyOf("no candidate")) == -1);
  }
}

TEST_CASE("A candidate's text is the canonical sentence that its key is of") {
  const Candidate* reset =
      FindRequest(CatalogOf("openbmc-stock"), "POST",
                  "/redfish/v1/Systems/system/Actions/ComputerSystem.Reset", {{"ResetType", "On"}});
  REQUIRE(reset != nullptr);
  REQUIRE(reset->text ==
          R"({"action":"ComputerSystem.Reset","body":{"ResetType":"On"},"method":"POST",)"
          R"("name":"system","type":"#ComputerSystem.v1_16_0.ComputerSystem",)"
          R"("uri":"/redfish/v1/Systems/system/Actions/ComputerSystem.Reset"})");
  REQUIRE(reset->key == content::KeyOf(reset->text));
  REQUIRE(reset->IsMutation());
}

TEST_CASE("Allowable values narrow enumerations, and booleans have both values") {
  const Catalog& catalog = CatalogOf("openbmc-stock");
  const std::string system = "/redfish/v1/Systems/system";
  const auto target = [](const char* value) {
    return Json{{"Boot", {{"BootSourceOverrideTarget", value}}}};
  };
  REQUIRE(FindRequest(catalog, "PATCH", system, target("Pxe")) != nullptr);
  REQUIRE(FindRequest(catalog, "PATCH", system, target("UefiTarget")) == nullptr);
  for (const bool value : {true, false}) {
    REQUIRE(FindRequest(catalog, "PATCH", system, {{"LocationIndicatorActive", value}}) != nullptr);
  }
}

TEST_CASE("Leaves that belong together come as one request too") {
  const Catalog& catalog = CatalogOf("dell-r750");
  REQUIRE(FindRequest(catalog, "PATCH", "/redfish/v1/Systems/System.Embedded.1",
                      {{"Boot",
                        {{"BootSourceOverrideTarget", "Pxe"},
                         {"BootSourceOverrideEnabled", "Once"}}}}) != nullptr);
  const Candidate* ntp =
      FindRequest(catalog, "PATCH", "/redfish/v1/Managers/iDRAC.Embedded.1/NetworkProtocol",
                  {{"NTP", {{"ProtocolEnabled", true}, {"NTPServers", {"<goal.NTPServers>"}}}}});
  REQUIRE(ntp != nullptr);
  REQUIRE(ntp->slots.size() == 1);
  REQUIRE(ntp->slots[0].pointer == "/NTP/NTPServers/0");
}

const std::string kAccountService = "/redfish/v1/AccountService";

const Json kOperator = {
    {"UserName", "<goal.UserName>"}, {"Password", "<goal.Password>"}, {"RoleId", "Operator"}};

TEST_CASE(
    "Collections take what the standard requires of a new member, a candidate for each role") {
  const Catalog& catalog = CatalogOf("openbmc-stock");
  const std::string accounts = kAccountService + "/Accounts";
  const Candidate* account = FindRequest(catalog, "POST", accounts, kOperator);
  REQUIRE(account != nullptr);
  REQUIRE(account->slots.size() == 2);
  Json nobody = kOperator;
  nobody["RoleId"] = "Nobody";
  REQUIRE(FindRequest(catalog, "POST", accounts, nobody) == nullptr);
  const Json login = {{"UserName", "<goal.UserName>"}, {"Password", "<goal.Password>"}};
  REQUIRE(FindRequest(catalog, "POST", "/redfish/v1/SessionService/Sessions", login) != nullptr);
  const Json subscription = {{"Destination", "<goal.Destination>"}, {"Protocol", "Redfish"}};
  REQUIRE(FindRequest(catalog, "POST", "/redfish/v1/EventService/Subscriptions", subscription) !=
          nullptr);
}

TEST_CASE("Members that the standard lets go may be deleted, hardware and account slots not") {
  const Catalog& openbmc = CatalogOf("openbmc-stock");
  REQUIRE(FindRequest(openbmc, "DELETE", kAccountService + "/Accounts/root", nullptr) != nullptr);
  for (const char* name : kShipped) {
    for (const Candidate& candidate : CatalogOf(name).candidates()) {
      if (candidate.method != "DELETE") continue;
      REQUIRE_FALSE(candidate.type.starts_with("#ComputerSystem."));
      REQUIRE_FALSE(candidate.type.starts_with("#Chassis."));
      const bool slot =
          name == std::string("dell-r750") && candidate.type.starts_with("#ManagerAccount.");
      REQUIRE_FALSE(slot);
    }
  }
}

TEST_CASE("An account slot is filled by one request, a collection of slots takes no new members") {
  const Catalog& catalog = CatalogOf("dell-r750");
  const std::string accounts = "/redfish/v1/AccountService/Accounts";
  Json filled = kOperator;
  filled["Enabled"] = true;
  REQUIRE(FindRequest(catalog, "PATCH", accounts + "/1", filled) != nullptr);
  REQUIRE(FindRequest(catalog, "POST", accounts, kOperator) == nullptr);
}

TEST_CASE("Schema files, registries and log entries are not in the catalog") {
  for (const char* name : kShipped) {
    for (const Candidate& candidate : CatalogOf(name).candidates()) {
      REQUIRE(candidate.type.find("LogEntry.") == std::string::npos);
      REQUIRE(candidate.type.find("JsonSchemaFile.") == std::string::npos);
      REQUIRE(candidate.type.find("AttributeRegistry.") == std::string::npos);
    }
  }
}

TEST_CASE("An action with more than 64 combinations of arguments is composed from its parts") {
  Json values = Json::array();
  for (int i = 0; i < 9; ++i) values.push_back("v" + std::to_string(i));
  const auto with_action = [&](const Json& second) {
    const Json lamp = {{"@odata.id", "/redfish/v1/Lamp"},
                       {"@odata.type", "#Contoso.v1_0_0.Lamp"},
                       {"Actions",
                        {{"#Contoso.Blink",
                          {{"target", "/redfish/v1/Lamp/Blink/"},
                           {"A@Redfish.AllowableValues", values},
                           {"B@Redfish.AllowableValues", second}}}}}};
    const auto capture = Capture::FromResources(
        "lamp", {{"/redfish/v1", Json::object()}, {"/redfish/v1/Lamp", lamp}});
    return Catalog::Build(**capture, ShippedSchema()).value();
  };
  const auto too_many = with_action(values);
  REQUIRE(too_many->counts().at("POST") == 1);
  const Candidate* const composed =
      FindRequest(*too_many, "POST", "/redfish/v1/Lamp/Blink", nullptr);
  REQUIRE(composed->composes());
  REQUIRE(composed->parts->size() == 18);
  REQUIRE(composed->parts->back().body == Json{{"B", "v8"}});
  REQUIRE(too_many->left_out().at("actions with more than 64 combinations of arguments") == 1);
  const auto few = with_action(Json::array({"x", "y"}));
  REQUIRE(few->counts().at("POST") == 18);
  REQUIRE(FindRequest(*few, "POST", "/redfish/v1/Lamp/Blink", {{"A", "v8"}, {"B", "y"}}) !=
          nullptr);
}

TEST_CASE("A target listed with and without a trailing slash is one candidate") {
  const Json action = {{"target", "/redfish/v1/Lamp/Blink"}};
  Json slashed = action;
  slashed["target"] = "/redfish/v1/Lamp/Blink/";
  const Json lamp = {
      {"@odata.id", "/redfish/v1/Lamp"},
      {"@odata.type", "#Contoso.v1_0_0.Lamp"},
      {"Actions", {{"#Contoso.Blink", action}, {"Oem", {{"#Contoso.Blink", slashed}}}}}};
  const auto capture =
      Capture::FromResources("lamp", {{"/redfish/v1", Json::object()}, {"/redfish/v1/Lamp", lamp}});
  const auto catalog = Catalog::Build(**capture, ShippedSchema()).value();
  REQUIRE(catalog->counts().at("POST") == 1);
  REQUIRE(catalog->left_out().at("listed twice") == 1);
}

TEST_CASE("Slots take the goal's value, and a random one of their type without it") {
  Candidate candidate;
  candidate.method = "PATCH";
  candidate.body = {{"AssetTag", SlotText("AssetTag")}, {"Ports", {SlotText("Port")}}};
  Slot tag;
  tag.name = "AssetTag";
  tag.pointer = "/AssetTag";
  Slot port;
  port.name = "Port";
  port.pointer = "/Ports/0";
  port.kind = PropertyKind::kInteger;
  port.minimum = 10;
  port.maximum = 12;
  candidate.slots = {tag, port};
  runtime::Random random(1);
  const Json bound = BindSlots(candidate, {{"AssetTag", "X-1"}, {"Port", "no number"}}, random);
  REQUIRE(bound.at("AssetTag") == "X-1");
  REQUIRE(bound.at("Ports").at(0).is_number_integer());
  std::set<std::int64_t> seen;
  for (int i = 0; i < 200; ++i) {
    seen.insert(BindSlots(candidate, {}, random).at("Ports").at(0).get<std::int64_t>());
  }
  REQUIRE(seen == std::set<std::int64_t>{10, 11, 12});
  const Json unbound = BindSlots(candidate, {}, random);
  REQUIRE(unbound.at("AssetTag").is_string());
  REQUIRE(unbound.at("AssetTag") != SlotText("AssetTag"));
}

TEST_CASE(
    "A slot in a list takes the goal's whole list, unless a value of it is none of its type") {
  Candidate candidate;
  candidate.method = "PATCH";
  candidate.body = {{"Boot", {{"BootOrder", {SlotText("BootOrder")}}}}};
  Slot order;
  order.name = "BootOrder";
  order.pointer = "/Boot/BootOrder/0";
  candidate.slots = {order};
  runtime::Random random(1);
  const auto bound = [&](const Json& value) {
    return BindSlots(candidate, {{"BootOrder", value}}, random).at("Boot").at("BootOrder");
  };
  const Json three = {"Boot0002", "Boot0001", "Boot0003"};
  REQUIRE(bound(three) == three);
  REQUIRE(bound("Boot0001") == Json::array({"Boot0001"}));
  REQUIRE(bound(Json::array({"Boot0001", 7})).size() == 1);
  REQUIRE(bound(Json::array()).size() == 1);
}

TEST_CASE("Bound bodies of every candidate fit the schema where no pattern is asked for") {
  runtime::Random random(2);
  for (const char* name : kShipped) {
    for (const Candidate& candidate : CatalogOf(name).candidates()) {
      if (candidate.method != "PATCH" || candidate.slots.empty()) continue;
      const Json body = BindSlots(candidate, {}, random);
      for (const Slot& slot : candidate.slots) {
        const Property* property = ShippedSchema().Find(candidate.type, slot.pointer);
        REQUIRE(property != nullptr);
        if (!property->pattern.empty()) continue;
        REQUIRE(Misfit(*property, *Resolve(body, slot.pointer)).empty());
      }
    }
  }
}

}  // namespace
}  // namespace shoal::redfish
