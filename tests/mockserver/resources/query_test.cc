// SPDX-License-Identifier: Apache-2.0
#include "mockserver/resources/query.h"

#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

#include "platform/runtime/random.h"
#include "tests/mockserver/service/worlds.h"

namespace shoal::mockserver {
namespace {

// Returns the links to a collection's members as the service stores them.
std::vector<std::string> MembersOf(const Json& collection) {
  std::vector<std::string> members;
  for (const Json& link : collection.at("Members")) members.push_back(redfish::LinkTarget(link));
  return members;
}

std::vector<std::string> CollectionsOf(const World& world) {
  std::vector<std::string> collections;
  for (const auto& [uri, json] : world.capture().resources()) {
    if (json.contains("Members") && json.at("Members").is_array()) collections.push_back(uri);
  }
  return collections;
}

Json BodyOf(Instance& instance, const std::string& uri) {
  const Response response = Get(instance, uri);
  INFO(uri << " " << *response.body);
  REQUIRE(response.status == 200);
  REQUIRE(Json::parse(*response.body) == *response.json);
  return *response.json;
}

// Returns a literal of $filter.
std::string Literal(const Json& value) {
  if (!value.is_string()) return value.dump();
  std::string text = "'";
  for (const char c : value.get<std::string>()) text += c == '\'' ? "''" : std::string(1, c);
  return text + "'";
}

std::string Encode(const std::string& text) {
  constexpr const char* kDigits = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    encoded += '%';
    encoded += kDigits[byte >> 4];
    encoded += kDigits[byte & 15];
  }
  return encoded;
}

}  // namespace

TEST_CASE("Pages of every collection, followed by their links, are the collection") {
  for (const std::string& name : CaptureNames()) {
    Instance instance(WorldOf(name));
    for (const std::string& uri : CollectionsOf(instance.world())) {
      INFO(uri);
      const Json stored = *instance.Find(uri);
      std::vector<std::string> seen;
      std::string page = uri + "?%24top=2";
      std::size_t pages = 0;
      while (!page.empty()) {
        REQUIRE(++pages <= stored.at("Members").size() / 2 + 1);
        const Json body = BodyOf(instance, page);
        REQUIRE(body.at("Members").size() <= 2);
        for (const std::string& member : MembersOf(body)) seen.push_back(member);
        page = body.value("Members@odata.nextLink", "");
      }
      REQUIRE(seen == MembersOf(stored));
    }
  }
}

TEST_CASE("No query changes what is stored") {
  Instance instance(WorldOf("dmtf-rackmount1"));
  const std::string before = *Get(instance, "/redfish/v1/Chassis").body;
  for (const char* query : {"?$top=1", "?$skip=1", "?$expand=*($levels=6)", "?$select=Name",
                            "?$filter=Name eq 'x'", "?only"}) {
    INFO(query);
    REQUIRE(Get(instance, std::string("/redfish/v1/Chassis") + query).status == 200);
    REQUIRE(*Get(instance, "/redfish/v1/Chassis").body == before);
  }
  REQUIRE(instance.changed_resources() == 0);
}

TEST_CASE("Expanded members are what GET answers for them, as they are now") {
  for (const std::string& name : CaptureNames()) {
    Instance instance(WorldOf(name));
    INFO(name);
    const std::string system = LandmarksOf(instance.world()).system;
    REQUIRE(ResetOf(instance, system, "ForceOff").status < 300);
    const Json body = BodyOf(instance, "/redfish/v1/Systems?$expand=.");
    REQUIRE(body.at("Members").size() >= 1);
    for (const Json& member : body.at("Members")) {
      REQUIRE(member == *Get(instance, member.at("@odata.id").get<std::string>()).json);
    }
    REQUIRE(body.at("Members").at(0).at("PowerState") == "Off");
  }
}

TEST_CASE("Levels and signs say how far and which links are followed") {
  Instance instance(WorldOf("dmtf-rackmount1"));
  const std::string system = LandmarksOf(instance.world()).system;
  const Json one = BodyOf(instance, system + "?$expand=.");
  REQUIRE(one.at("Processors").contains("Members"));
  REQUIRE(one.at("Processors").at("Members").at(0).size() == 1);
  REQUIRE(one.at("Links") == instance.Find(system)->at("Links"));
  const Json two = BodyOf(instance, system + "?$expand=.($levels=2)");
  REQUIRE(two.at("Processors").at("Members").at(0).contains("ProcessorType"));
  const Json links = BodyOf(instance, system + "?$expand=~");
  REQUIRE(links.at("Processors").size() == 1);
  REQUIRE(links.at("Links").at("Chassis").at(0).contains("ChassisType"));
  const Json all = BodyOf(instance, system + "?$expand=*");
  REQUIRE(all.at("Processors").contains("Members"));
  REQUIRE(all.at("Links").at("Chassis").at(0).contains("ChassisType"));
}

TEST_CASE("A filter leaves the members that a search by hand finds") {
  for (const std::string& name : CaptureNames()) {
    Instance instance(WorldOf(name));
    std::size_t tried = 0;
    for (const std::string& uri : CollectionsOf(instance.world())) {
      const std::vector<std::string> members = MembersOf(*instance.Find(uri));
      const Json* const first = members.empty() ? nullptr : instance.Find(members.front());
      if (first == nullptr) continue;
      for (const char* property : {"Name", "Id", "Status/Health", "CapacityBytes"}) {
        const Json* const value = redfish::Resolve(*first, std::string("/") + property);
        if (value == nullptr || value->is_structured()) continue;
        const std::string literal = Literal(*value);
        std::vector<std::string> equal;
        std::vector<std::string> other;
        for (const std::string& member : members) {
          const Json* const resource = instance.Find(member);
          if (resource == nullptr) continue;
          const Json* const found = redfish::Resolve(*resource, std::string("/") + property);
          const bool same = found == nullptr ? value->is_null() : *found == *value;
          (same ? equal : other).push_back(member);
        }
        INFO(uri << " " << property << " " << literal);
        const std::string condition = std::string(property) + " eq " + literal;
        const Json kept = BodyOf(instance, uri + "?$filter=" + Encode(condition));
        REQUIRE(MembersOf(kept) == equal);
        REQUIRE(kept.at("Members@odata.count") == equal.size());
        REQUIRE(MembersOf(BodyOf(instance,
                                 uri + "?$filter=" + Encode("not (" + condition + ")"))) == other);
        ++tried;
      }
    }
    REQUIRE(tried >= 20);
  }
}

TEST_CASE("Conditions follow the precedence of their operators") {
  const Json resource = {{"A", 5}, {"B", "it's"}, {"C", {{"D", true}}}, {"E", nullptr}};
  const std::vector<std::pair<const char*, bool>> cases = {{"A eq 5", true},
                                                           {"A ge 5 and A le 5", true},
                                                           {"A gt 5 or A lt 5", false},
                                                           {"A eq 1 and A eq 2 or A eq 5", true},
                                                           {"A eq 5 or A eq 1 and A eq 2", true},
                                                           {"(A eq 5 or A eq 1) and A eq 2", false},
                                                           {"not A eq 5", false},
                                                           {"not (A eq 5 and C/D eq false)", true},
                                                           {"B eq 'it''s'", true},
                                                           {"B gt 'is'", true},
                                                           {"B gt 5", false},
                                                           {"E eq null and Missing eq null", true},
                                                           {"Missing ne null", false},
                                                           {"A lt 5.5", true}};
  for (const auto& [text, expected] : cases) {
    INFO(text);
    const auto filter = Filter::Parse(text);
    REQUIRE(filter);
    REQUIRE(filter->Matches(resource) == expected);
  }
  for (const char* text : {"", "A", "A eq", "A is 5", "eq 5", "A eq 5 and", "(A eq 5", "A eq 5)",
                           "A eq 'x", "A eq x", "A eq [1]", "A eq 5 A eq 5", "not"}) {
    INFO(text);
    REQUIRE_FALSE(Filter::Parse(text));
  }
  std::string wide = "A eq 1";
  for (int i = 1; i < Filter::kMaximumComparisons; ++i) wide += " or A eq 1";
  REQUIRE(Filter::Parse(wide));
  REQUIRE_FALSE(Filter::Parse(wide + " or A eq 1"));
  const std::string deep(Filter::kMaximumDepth + 1, '(');
  REQUIRE_FALSE(Filter::Parse(deep + "A eq 5" + std::string(deep.size(), ')')));
}

TEST_CASE("A page of nothing leads nowhere, and no expansion grows without bound") {
  Instance instance(WorldOf("dell-r750"));
  const Json none = BodyOf(instance, "/redfish/v1/Chassis?$top=0");
  REQUIRE(none.at("Members").empty());
  REQUIRE_FALSE(none.contains("Members@odata.nextLink"));
  const Response all = Get(instance, "/redfish/v1?$expand=*($levels=6)");
  REQUIRE(all.status == 200);
  REQUIRE(all.body->size() < 16'000'000);
  std::string many = "/redfish/v1?$select=Name";
  for (std::size_t i = 0; i < kMaximumSelected; ++i) many += ",Name";
  REQUIRE(Get(instance, many).status == 400);
}

TEST_CASE("Selected properties come alone, with what names the resource") {
  Instance instance(WorldOf("dmtf-rackmount1"));
  const std::string system = LandmarksOf(instance.world()).system;
  const Json body = BodyOf(instance, system + "?$select=PowerState,Status/Health,Nothing");
  const Json& whole = *instance.Find(system);
  REQUIRE(body.at("PowerState") == whole.at("PowerState"));
  REQUIRE(body.at("Status") == Json{{"Health", whole.at("Status").at("Health")}});
  REQUIRE(body.at("@odata.id") == whole.at("@odata.id"));
  REQUIRE_FALSE(body.contains("Nothing"));
  REQUIRE_FALSE(body.contains("Name"));
  const Json members = BodyOf(instance, "/redfish/v1/Systems?$expand=.&$select=PowerState");
  REQUIRE(members.contains("Name"));
  REQUIRE(members.at("Members").at(0).contains("PowerState"));
  REQUIRE_FALSE(members.at("Members").at(0).contains("Name"));
}

TEST_CASE("only answers the single member of a collection") {
  Instance instance(WorldOf("dmtf-rackmount1"));
  const std::string system = LandmarksOf(instance.world()).system;
  REQUIRE(BodyOf(instance, "/redfish/v1/Systems?only") == *instance.Find(system));
  const std::string several = system + "/Processors";
  REQUIRE(instance.Find(several)->at("Members").size() > 1);
  REQUIRE(BodyOf(instance, several + "?only") == *instance.Find(several));
}

TEST_CASE("A query that makes no sense is refused by name") {
  Instance instance(WorldOf("dmtf-rackmount1"));
  const std::string systems = "/redfish/v1/Systems";
  const std::vector<std::pair<std::string, std::string>> refused = {
      {"?$top=-1", "QueryParameterValueFormatError"},
      {"?$top=x", "QueryParameterValueFormatError"},
      {"?$skip=", "QueryParameterValueFormatError"},
      {"?$expand=", "QueryParameterValueFormatError"},
      {"?$expand=x", "QueryParameterValueFormatError"},
      {"?$expand=.($levels=", "QueryParameterValueFormatError"},
      {"?$expand=.($levels=7)", "QueryParameterOutOfRange"},
      {"?$expand=.($levels=0)", "QueryParameterOutOfRange"},
      {"?$select=", "QueryParameterValueFormatError"},
      {"?$filter=Name", "QueryParameterValueFormatError"},
      {"?only&$top=1", "QueryCombinationInvalid"}};
  for (const auto& [query, message] : refused) {
    INFO(query);
    const Response response = Get(instance, systems + query);
    REQUIRE(response.status == 400);
    REQUIRE(Messages(response) == std::vector<std::string>{message});
  }
  REQUIRE(Get(instance, systems + "?$count=true").status == 501);
  const std::string system = LandmarksOf(instance.world()).system;
  REQUIRE(Messages(Get(instance, system + "?$top=1")) ==
          std::vector<std::string>{"QueryNotSupportedOnResource"});
  const Response patched = Patch(instance, system + "?$select=Name", {{"AssetTag", "x"}});
  REQUIRE(patched.status == 400);
  REQUIRE(Messages(patched) == std::vector<std::string>{"QueryNotSupportedOnOperation"});
}

TEST_CASE("Whatever a query says, the answer is 200, 400 or 501 and nothing changes") {
  Instance instance(WorldOf("openbmc-stock"));
  runtime::Random random(7);
  const std::vector<std::string> parts = {
      "$top=", "$skip=", "$expand=", "$filter=", "$select=", "only",
      "&",     "&&",     "=",        "%",        "%2",       "%24top",
      "(",     ")",      "$levels=", "*",        "~",        ".",
      "'",     "''",     "and",      " or ",     "not ",     "Name",
      "/",     "eq",     " 1 ",      ",",        "\xff",     "99999999999999999999",
      "%00",   "#",      "?",        "+",        "excerpt",  "$",
      "-1",    "@",      "true",     "null"};
  for (int i = 0; i < 5000; ++i) {
    std::string uri = "/redfish/v1/Systems?";
    for (std::uint64_t n = random.Below(9); n > 0; --n) uri += parts[random.Below(parts.size())];
    INFO(uri);
    const Response response = Get(instance, uri);
    REQUIRE((response.status == 200 || response.status == 400 || response.status == 501));
    REQUIRE(Json::accept(*response.body));
  }
  REQUIRE(instance.changed_resources() == 0);
}

TEST_CASE("The service root says which queries are served where it is asked to, and they are") {
  for (const std::string& name : ShippedNames()) {
    INFO(name);
    Instance instance(MadeWorld(name, {.tells_features = true}));
    const Json& captured = *WorldOf(name)->capture().Find("/redfish/v1");
    const Json root = *Get(instance, "/redfish/v1").json;
    REQUIRE(root.contains("ProtocolFeaturesSupported"));
    const Json& features = root.at("ProtocolFeaturesSupported");
    for (const char* query : {"FilterQuery", "OnlyMemberQuery", "SelectQuery"}) {
      REQUIRE(features.at(query) == true);
    }
    for (const char* expansion : {"ExpandAll", "Levels", "Links", "NoLinks"}) {
      REQUIRE(features.at("ExpandQuery").at(expansion) == true);
    }
    REQUIRE(features.at("ExpandQuery").at("MaxLevels") == kMaximumLevels);
    REQUIRE(Get(instance, "/redfish/v1?$expand=*($levels=6)").status == 200);
    REQUIRE(Get(instance, "/redfish/v1?$expand=*($levels=7)").status == 400);
    Json others = root;
    others["ProtocolFeaturesSupported"] = captured.at("ProtocolFeaturesSupported");
    REQUIRE(others == captured);
  }
}

}  // namespace shoal::mockserver
