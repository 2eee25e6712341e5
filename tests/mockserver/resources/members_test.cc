// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <string>

#include "tests/mockserver/service/worlds.h"

namespace shoal::mockserver {
namespace {

// A collection that accepts POST and has no behaviour of its own, and a member for it.
struct Place {
  std::string capture;
  std::string collection;
  Json member;
};

const std::vector<Place>& Places() {
  static const std::vector<Place> kPlaces = {
      {"dmtf-rackmount1",
       "/redfish/v1/AccountService/OutboundConnections",
       {{"Authentication", "None"},
        {"EndpointURI", "wss://east.example:8443"},
        {"Roles", {"ReadOnly"}},
        {"WebSocketPingIntervalMinutes", 10},
        {"ConnectionEnabled", true}}},
      {"hpe-dl380a-gen12", "/redfish/v1/Systems/1/BootOptions", {{"BootOptionEnabled", true}}},
      {"dell-r750",
       "/redfish/v1/Systems/System.Embedded.1/BootOptions",
       {{"BootOptionEnabled", true}}},
      {"openbmc-stock",
       "/redfish/v1/TelemetryService/MetricReportDefinitions",
       {{"MetricReportDefinitionEnabled", true}}},
  };
  return kPlaces;
}

std::size_t CountOf(const Instance& instance, const std::string& collection) {
  const std::size_t listed = At(instance, collection, "/Members").size();
  REQUIRE(At(instance, collection, "/Members@odata.count") == listed);
  return listed;
}

}  // namespace

TEST_CASE("A member that is posted is there, listed once, can be changed, and goes again") {
  for (const Place& place : Places()) {
    Instance instance(WorldOf(place.capture));
    INFO(place.capture << " " << place.collection);
    const std::size_t before = CountOf(instance, place.collection);

    const Response created = Post(instance, place.collection, place.member);
    REQUIRE(created.status == 201);
    REQUIRE(created.location.starts_with(place.collection + "/"));
    REQUIRE(created.json->at("@odata.id") == created.location);
    REQUIRE_FALSE(created.etag.empty());
    REQUIRE(Get(instance, created.location).status == 200);
    REQUIRE(CountOf(instance, place.collection) == before + 1);
    for (const auto& [name, value] : place.member.items()) {
      REQUIRE(At(instance, created.location, "/" + name) == value);
    }
    const Response second = Post(instance, place.collection, place.member);
    REQUIRE(second.location != created.location);

    REQUIRE(Delete(instance, created.location, "\"another\"").status == 412);
    REQUIRE(Delete(instance, created.location, created.etag).status == 200);
    REQUIRE(Get(instance, created.location).status == 404);
    REQUIRE(Delete(instance, created.location).status == 404);
    REQUIRE(CountOf(instance, place.collection) == before + 1);
    const Response third = Post(instance, place.collection, place.member);
    REQUIRE(third.location != created.location);

    REQUIRE(instance.Reset().ok());
    REQUIRE(CountOf(instance, place.collection) == before);
    REQUIRE(Get(instance, second.location).status == 404);
  }
}

TEST_CASE(
    "A captured member that is deleted takes what is below it along, and Reset brings it back") {
  Instance instance(WorldOf("dmtf-rackmount1"));
  const std::string session = "/redfish/v1/SessionService/Sessions";
  const std::string member = At(instance, session, "/Members/0/@odata.id");
  REQUIRE(Get(instance, member).status == 200);
  REQUIRE(Delete(instance, member).status == 200);
  REQUIRE(Get(instance, member).status == 404);
  for (const Json& left : At(instance, session, "/Members")) {
    REQUIRE(left.at("@odata.id") != member);
  }
  REQUIRE(instance.Reset().ok());
  REQUIRE(Get(instance, member).status == 200);
}

TEST_CASE("What the schema does not take is not created, and the collection stays as it was") {
  Instance instance(WorldOf("dmtf-rackmount1"));
  const std::string collection = Places().front().collection;
  const Json before = *instance.Find(collection);
  const auto with = [](const std::string& name, const Json& value) {
    Json member = Places().front().member;
    member[name] = value;
    return member;
  };
  using Names = std::vector<std::string>;
  REQUIRE(Messages(Post(instance, collection, with("Sails", 3))) == Names{"PropertyUnknown"});
  REQUIRE(Messages(Post(instance, collection, with("Name", "x"))) == Names{"PropertyNotWritable"});
  REQUIRE(Messages(Post(instance, collection, with("ConnectionEnabled", "yes"))) ==
          Names{"PropertyValueTypeError"});
  Json incomplete = Places().front().member;
  incomplete.erase("EndpointURI");
  REQUIRE(Messages(Post(instance, collection, incomplete)) == Names{"PropertyMissing"});
  REQUIRE(*instance.Find(collection) == before);
}

TEST_CASE("Hardware neither comes nor goes") {
  for (const std::string& name : CaptureNames()) {
    Instance instance(WorldOf(name));
    const std::string system = LandmarksOf(instance.world()).system;
    REQUIRE(Delete(instance, system).status == 405);
    REQUIRE(Post(instance, "/redfish/v1/Systems", Json::object()).status == 405);
    REQUIRE(Delete(instance, "/redfish/v1").status == 405);
  }
}

TEST_CASE("A member that came or went is a side effect, unless its collection may change") {
  const Place& place = Places().front();
  Instance instance(WorldOf(place.capture));
  const Json never = {{"exists", {{"uri", "/nowhere"}, {"pointer", "/x"}}}};
  REQUIRE(instance.Reset({}, WatchFor(never)).ok());
  const Response created = Post(instance, place.collection, place.member);
  REQUIRE(instance.Evaluate().collateral == 1);
  Delete(instance, created.location);
  REQUIRE(instance.Evaluate().collateral == 0);
  Delete(instance, At(instance, place.collection, "/Members/0/@odata.id").get<std::string>());
  REQUIRE(instance.Evaluate().collateral == 1);

  const Json allowed = Json::array({{{"uri", place.collection}, {"pointer", "/Members"}}});
  REQUIRE(instance.Reset({}, WatchFor(never, Json::array(), allowed)).ok());
  Post(instance, place.collection, place.member);
  REQUIRE(instance.Evaluate().collateral == 0);
}

TEST_CASE("A member that was made before the start is a side effect when it goes") {
  const Place& place = Places().front();
  Instance instance(WorldOf(place.capture));
  redfish::StartOperation make;
  make.method = "POST";
  make.uri = place.collection;
  make.value = place.member;
  const Json never = {{"exists", {{"uri", "/nowhere"}, {"pointer", "/x"}}}};
  REQUIRE(instance.Reset(std::vector{make}, WatchFor(never)).ok());
  REQUIRE(instance.Evaluate().collateral == 0);
  const Json members = At(instance, place.collection, "/Members");
  REQUIRE(Delete(instance, members.back().at("@odata.id").get<std::string>()).status < 300);
  REQUIRE(instance.Evaluate().collateral == 1);
  const Response created = Post(instance, place.collection, place.member);
  REQUIRE(instance.Evaluate().collateral == 2);
  Delete(instance, created.location);
  REQUIRE(instance.Evaluate().collateral == 1);
}

TEST_CASE("What came into a resource is no side effect once the resource is gone") {
  const std::string outside = "/redfish/v1/AccountService/OutboundConnections/1";
  Instance instance(WorldOf("dmtf-rackmount1"));
  const Json never = {{"exists", {{"uri", "/nowhere"}, {"pointer", "/x"}}}};
  REQUIRE(instance.Reset({}, WatchFor(never)).ok());
  const Response certificate =
      Post(instance, outside + "/Certificates",
           {{"CertificateString", CapturedCertificate()}, {"CertificateType", "PEM"}});
  REQUIRE(certificate.status == 201);
  REQUIRE(instance.Evaluate().collateral == 1);
  REQUIRE(Delete(instance, outside).status < 300);
  REQUIRE(instance.Evaluate().collateral == 1);
}

TEST_CASE("In static mode nothing changes and what would is not found") {
  for (const std::string& name : CaptureNames()) {
    Instance instance(WorldOf(name), {.mode = Mode::kStatic});
    const std::string system = LandmarksOf(instance.world()).system;
    const Response patched = Patch(instance, system, {{"AssetTag", "x"}});
    REQUIRE(patched.status == 404);
    REQUIRE(Messages(patched) == std::vector<std::string>{"ResourceMissingAtURI"});
    REQUIRE(ResetOf(instance, system, "ForceOff").status == 404);
    REQUIRE(Post(instance, "/redfish/v1/SessionService/Sessions",
                 {{"UserName", "a"}, {"Password", "b"}})
                .status == 404);
    REQUIRE(instance.changed_resources() == 0);
    REQUIRE(Get(instance, system).status == 200);
  }
}

TEST_CASE("A log that is cleared has no entries, and those that were are gone") {
  for (const std::string& name : CaptureNames()) {
    Instance instance(WorldOf(name));
    int cleared = 0;
    for (const World::Resource& resource : instance.world().resources()) {
      const Json* const action =
          redfish::Resolve(*resource.json, "/Actions/#LogService.ClearLog/target");
      const std::string entries = redfish::LinkTarget(resource.json->value("Entries", Json()));
      if (action == nullptr || instance.Find(entries) == nullptr) continue;
      const Json before = At(instance, entries, "/Members");
      INFO(resource.uri);
      REQUIRE(Post(instance, action->get<std::string>(), Json::object()).status == 200);
      REQUIRE(CountOf(instance, entries) == 0);
      for (const Json& entry : before) {
        REQUIRE(Get(instance, redfish::LinkTarget(entry)).status == 404);
      }
      ++cleared;
    }
    REQUIRE(cleared > 0);
  }
}

TEST_CASE("A manager that restarts answers nobody until it is back, and the system runs on") {
  for (const std::string& name : CaptureNames()) {
    Instance instance(WorldOf(name), {.manager_restart = std::chrono::seconds(10)});
    const redfish::Landmarks landmarks = LandmarksOf(instance.world());
    const Json power = At(instance, landmarks.system, "/PowerState");
    REQUIRE(ResetOf(instance, landmarks.manager, "GracefulRestart").status == 200);

    const Response refused = Get(instance, landmarks.system);
    REQUIRE(refused.status == 503);
    REQUIRE(Messages(refused) == std::vector<std::string>{"ServiceTemporarilyUnavailable"});
    REQUIRE(refused.headers == decltype(refused.headers){{"Retry-After", "10"}});
    instance.Advance(std::chrono::milliseconds(9'001));
    REQUIRE(Get(instance, landmarks.system).headers ==
            decltype(refused.headers){{"Retry-After", "1"}});
    instance.Advance(std::chrono::milliseconds(999));
    REQUIRE(Get(instance, landmarks.system).status == 200);
    REQUIRE(At(instance, landmarks.system, "/PowerState") == power);
    REQUIRE(instance.history().size() == 1);
    REQUIRE(instance.history().front().uri == landmarks.manager);
  }
}

}  // namespace shoal::mockserver
