// SPDX-License-Identifier: Apache-2.0
#include "mockserver/resources/patch.h"

#include <catch2/catch.hpp>

#include "tests/mockserver/service/worlds.h"

namespace shoal::mockserver {
namespace {

using Names = std::vector<std::string>;

std::string Property(const Instance& instance, const std::string& uri) {
  return At(instance, uri, "/LocationIndicatorActive").is_boolean() ? "LocationIndicatorActive"
                                                                    : "IndicatorLED";
}

}  // namespace

TEST_CASE("A writable property takes a value of its type, on every capture") {
  for (const std::string& name : CaptureNames()) {
    INFO(name);
    Instance instance(WorldOf(name));
    const std::string system = LandmarksOf(instance.world()).system;
    const std::string property = Property(instance, system);
    const Json value = property == "IndicatorLED" ? Json("Blinking") : Json(true);
    const Response response = Patch(instance, system, {{property, value}});
    REQUIRE(response.status == 200);
    REQUIRE(*response.json == *instance.Find(system));
    REQUIRE(At(instance, system, "/" + property) == value);
    REQUIRE(response.etag == Get(instance, system).etag);
  }
}

TEST_CASE("What is wrong with a property is said in the registry's words") {
  struct Case {
    Json body;
    std::string message;
  };
  Instance instance(WorldOf("dell-r750"));
  const std::string system = LandmarksOf(instance.world()).system;
  const std::vector<Case> cases = {
      {{{"NoSuchThing", 1}}, "PropertyUnknown"},
      {{{"Boot", {{"NoSuchThing", 1}}}}, "PropertyUnknown"},
      {{{"PowerState", "Off"}}, "PropertyNotWritable"},
      {{{"Id", "other"}}, "PropertyNotWritable"},
      {{{"Links", {{"Chassis", Json::array()}}}}, "PropertyNotWritable"},
      {{{"AssetTag", 7}}, "PropertyValueTypeError"},
      {{{"AssetTag", Json::object()}}, "PropertyValueTypeError"},
      {{{"Boot", "Pxe"}}, "PropertyValueTypeError"},
      {{{"Boot", nullptr}}, "PropertyValueTypeError"},
      {{{"IndicatorLED", "Purple"}}, "PropertyValueNotInList"},
      {{{"Boot", {{"BootSourceOverrideTarget", "Teapot"}}}}, "PropertyValueNotInList"},
      // The standard's list has this value, but the resource's AllowableValues do not.
      {{{"Boot", {{"BootSourceOverrideTarget", "Usb"}}}}, "PropertyValueNotInList"},
  };
  const Response before = Get(instance, system);
  for (const Case& wrong : cases) {
    INFO(wrong.body.dump());
    const Response response = Patch(instance, system, wrong.body);
    REQUIRE(response.status == 400);
    REQUIRE(Messages(response) == Names{wrong.message});
  }
  REQUIRE(Get(instance, system).body == before.body);
}

TEST_CASE("Of good and bad properties the good are written and the bad annotated") {
  Instance instance(WorldOf("dell-r750"));
  const std::string system = LandmarksOf(instance.world()).system;
  const Response response = Patch(
      instance, system,
      {{"AssetTag", "rack 7"}, {"PowerState", "Off"}, {"Boot", {{"BootSourceOverrideMode", 5}}}});
  REQUIRE(response.status == 200);
  REQUIRE(At(instance, system, "/AssetTag") == "rack 7");
  REQUIRE(At(instance, system, "/PowerState") == "On");
  REQUIRE(response.json->at("AssetTag") == "rack 7");
  REQUIRE(response.json->at("PowerState@Message.ExtendedInfo")[0].at("MessageId") ==
          "Base.1.22.PropertyNotWritable");
  REQUIRE(response.json->at("Boot").contains("BootSourceOverrideMode@Message.ExtendedInfo"));
  REQUIRE(Messages(response) == Names{"PropertyValueTypeError", "PropertyNotWritable"});
  REQUIRE(!Get(instance, system).json->contains("PowerState@Message.ExtendedInfo"));
}

TEST_CASE("Bodies that are no object of properties are refused") {
  Instance instance(WorldOf("openbmc-stock"));
  const std::string system = LandmarksOf(instance.world()).system;
  const auto send = [&](std::string_view body) {
    return instance.Handle({.method = Method::kPatch, .uri = system, .body = body});
  };
  for (const char* text : {"", "{", "{\"a\":}", "nonsense", "\xff\xfe", "{\"a\":1e999}"}) {
    INFO(text);
    REQUIRE(send(text).status == 400);
    REQUIRE(Messages(send(text)) == Names{"MalformedJSON"});
  }
  for (const char* text : {"[]", "1", "null", "\"x\""}) {
    REQUIRE(Messages(send(text)) == Names{"UnrecognizedRequestBody"});
  }
  for (const char* text : {"{}", "{\"@odata.id\": \"/x\"}"}) {
    REQUIRE(Messages(send(text)) == Names{"NoOperation"});
  }
}

TEST_CASE("Very deep JSON is refused before anything walks it") {
  Instance instance(WorldOf("openbmc-stock"));
  const std::string system = LandmarksOf(instance.world()).system;
  const std::string deep =
      "{\"HostName\":" + std::string(300'000, '[') + std::string(300'000, ']') + "}";
  const Response response =
      instance.Handle({.method = Method::kPatch, .uri = system, .body = deep});
  REQUIRE(Messages(response) == Names{"MalformedJSON"});
  // Brackets inside a text are not nesting.
  const std::string text = "{\"NoSuchThing\":\"" + std::string(300, '[') + "\\\"[[\"}";
  REQUIRE(Messages(instance.Handle({.method = Method::kPatch, .uri = system, .body = text})) ==
          Names{"PropertyUnknown"});
}

TEST_CASE("Where preconditions are required a PATCH without If-Match changes nothing") {
  for (const std::string& name : CaptureNames()) {
    INFO(name);
    Instance instance(WorldOf(name), {.preconditions = Preconditions::kRequired});
    const std::string system = LandmarksOf(instance.world()).system;
    const Json before = *instance.Find(system);
    const std::string property = Property(instance, system);
    const Json change = {{property, property == "IndicatorLED" ? Json("Blinking") : Json(true)}};
    const Response refused = Patch(instance, system, change);
    REQUIRE(refused.status == 428);
    REQUIRE(Messages(refused) == Names{"PreconditionRequired"});
    REQUIRE(*instance.Find(system) == before);
    REQUIRE(Patch(instance, system, change, Get(instance, system).etag).status == 200);
  }
}

TEST_CASE("If-Match decides by the ETag of now, weakly compared") {
  for (const std::string& name : CaptureNames()) {
    INFO(name);
    Instance instance(WorldOf(name));
    const std::string system = LandmarksOf(instance.world()).system;
    const std::string property = Property(instance, system);
    const auto value = [&](bool on) {
      return property == "IndicatorLED" ? Json(on ? "Blinking" : "Off") : Json(on);
    };
    const std::string first = Get(instance, system).etag;
    REQUIRE(Patch(instance, system, {{property, value(true)}}, first).status == 200);
    const Response stale = Patch(instance, system, {{property, value(false)}}, first);
    REQUIRE(stale.status == 412);
    REQUIRE(Messages(stale) == Names{"PreconditionFailed"});
    REQUIRE(At(instance, system, "/" + property) == value(true));

    std::string strong = Get(instance, system).etag;
    if (strong.starts_with("W/")) strong = strong.substr(2);
    REQUIRE(Patch(instance, system, {{property, value(false)}}, strong).status == 200);
    REQUIRE(Patch(instance, system, {{property, value(true)}}, "*").status == 200);
    REQUIRE(Patch(instance, system, {{property, value(true)}}, "\"a\", \"b\"").status == 412);
  }
}

TEST_CASE("The ETag in a body is the ETag in the header, before and after a change") {
  Instance instance(WorldOf("hpe-dl380a-gen12"));
  const std::string system = LandmarksOf(instance.world()).system;
  REQUIRE(Patch(instance, system, {{"AssetTag", "x"}}).status == 200);
  const Response after = Get(instance, system);
  REQUIRE(after.json->at("@odata.etag") == after.etag);
}

TEST_CASE("Writing the value that is there changes neither body nor ETag") {
  Instance instance(WorldOf("dell-r750"));
  const std::string system = LandmarksOf(instance.world()).system;
  const Response before = Get(instance, system);
  REQUIRE(Patch(instance, system, {{"AssetTag", ""}}).status == 200);
  REQUIRE(Get(instance, system).body == before.body);
  REQUIRE(Get(instance, system).etag == before.etag);
}

TEST_CASE("An array takes new elements, null removes, {} keeps, a shorter one truncates") {
  Instance instance(WorldOf("openbmc-stock"));
  const std::string protocol = LandmarksOf(instance.world()).network_protocol;
  const auto servers = [&](const Json& value) {
    return Patch(instance, protocol, {{"NTP", {{"NTPServers", value}}}});
  };
  const auto now = [&] { return At(instance, protocol, "/NTP/NTPServers"); };
  REQUIRE(servers({"a", "b", "c"}).status == 200);
  REQUIRE(now() == Json({"a", "b", "c"}));
  REQUIRE(servers({Json::object(), nullptr, "d"}).status == 200);
  REQUIRE(now() == Json({"a", "d"}));
  REQUIRE(servers({"a"}).status == 200);
  REQUIRE(now() == Json({"a"}));
  REQUIRE(servers(Json::array()).status == 200);
  REQUIRE(now() == Json::array());
  REQUIRE(Messages(servers({"a", 5})) == Names{"PropertyValueTypeError"});
  REQUIRE(Messages(servers("a")) == Names{"PropertyValueTypeError"});
  REQUIRE(now() == Json::array());
}

TEST_CASE("The count beside an array follows it") {
  Instance instance(WorldOf("dell-r750"));
  const std::string protocol = LandmarksOf(instance.world()).network_protocol;
  REQUIRE(Patch(instance, protocol, {{"NTP", {{"NTPServers", {"a", "b"}}}}}).status == 200);
  REQUIRE(At(instance, protocol, "/NTP/NTPServers@odata.count") == 2);
}

TEST_CASE("The style without content answers 204 with the new ETag") {
  const auto loaded = redfish::Capture::Load("data/captures/openbmc-stock.tar.xz").value();
  Instance instance(
      World::Create(loaded, TestSchema(), {.style = WorldOptions::Style::kNoContent}).value());
  const std::string system = LandmarksOf(instance.world()).system;
  const Response response = Patch(instance, system, {{"LocationIndicatorActive", true}});
  REQUIRE(response.status == 204);
  REQUIRE(response.body == nullptr);
  REQUIRE(response.etag == Get(instance, system).etag);
  REQUIRE(ResetOf(instance, system, "On").status == 204);
}

TEST_CASE("The style of messages answers a PATCH with Success alone") {
  const auto loaded = redfish::Capture::Load("data/captures/openbmc-stock.tar.xz").value();
  Instance instance(
      World::Create(loaded, TestSchema(), {.style = WorldOptions::Style::kExtendedInfo}).value());
  const std::string system = LandmarksOf(instance.world()).system;
  const Response response = Patch(instance, system, {{"LocationIndicatorActive", true}});
  REQUIRE(response.status == 200);
  REQUIRE(Messages(response) == Names{"Success"});
  REQUIRE(response.etag == Get(instance, system).etag);
}

TEST_CASE("An array of objects grows, is merged, shrinks and is cleared") {
  const std::string capture = "dmtf-rackmount1";
  const std::string uri = "/redfish/v1/Managers/BMC/EthernetInterfaces/shoal";
  const Json interface = {{"@odata.id", uri},
                          {"@odata.type", "#EthernetInterface.v1_9_0.EthernetInterface"},
                          {"Id", "shoal"},
                          {"Name", "shoal"},
                          {"IPv4StaticAddresses", Json::array()}};
  Instance instance(WorldWith(capture, {{uri, interface}}));
  const auto addresses = [](const Json& list) { return Json{{"IPv4StaticAddresses", list}}; };
  const Json first = {
      {"Address", "10.9.8.7"}, {"SubnetMask", "255.255.255.0"}, {"Gateway", "10.9.8.1"}};
  Json second = first;
  second["Address"] = "10.9.8.6";
  const std::string pointer = "/IPv4StaticAddresses";
  REQUIRE(Patch(instance, uri, addresses(Json::array({first}))).status == 200);
  REQUIRE(At(instance, uri, pointer) == Json::array({first}));
  REQUIRE(Patch(instance, uri, addresses(Json::array({Json::object(), second}))).status == 200);
  REQUIRE(At(instance, uri, pointer) == Json::array({first, second}));
  REQUIRE(Patch(instance, uri, addresses(Json::array({nullptr, Json::object()}))).status == 200);
  REQUIRE(At(instance, uri, pointer) == Json::array({second}));
  REQUIRE(Patch(instance, uri, addresses(Json::array({second, {{"NoSuchThing", 1}}}))).status ==
          400);
  REQUIRE(Patch(instance, uri, addresses(Json::array())).status == 200);
  REQUIRE(At(instance, uri, pointer) == Json::array());
}

TEST_CASE(
    "What the standard does not define is written by its captured type where this is allowed") {
  const std::string system = "/redfish/v1/Systems/1";
  const std::string attributes =
      "/redfish/v1/Managers/iDRAC.Embedded.1/Oem/Dell/DellAttributes/iDRAC.Embedded.1";
  const Json oem = {{"Oem", {{"Hpe", {{"PowerAutoOn", "AlwaysOn"}}}}}};
  Instance closed(WorldOf("hpe-dl380a-gen12"));
  REQUIRE(At(closed, system, "/Oem/Hpe/PowerAutoOn").is_string());
  REQUIRE(Messages(Patch(closed, system, oem)) == Names{"PropertyNotWritable"});
  Instance closed_type(WorldOf("dell-r750"));
  REQUIRE(Patch(closed_type, attributes, {{"Attributes", {{"NIC.1.DNSRacName", "a"}}}}).status ==
          405);

  Instance hpe(MadeWorld("hpe-dl380a-gen12", {.writes_oem = true}));
  REQUIRE(Patch(hpe, system, oem).status == 200);
  REQUIRE(At(hpe, system, "/Oem/Hpe/PowerAutoOn") == "AlwaysOn");
  for (const Json& wrong : {Json{{"PowerAutoOn", 5}}, Json{{"PowerAutoOn", Json::object()}},
                            Json{{"PowerAutoOn", nullptr}}, Json{{"Links", Json::object()}},
                            Json{{"NoSuchThing", 1}}}) {
    INFO(wrong.dump());
    REQUIRE(Patch(hpe, system, {{"Oem", {{"Hpe", wrong}}}}).status == 400);
  }
  REQUIRE(Messages(Patch(hpe, system, {{"PowerState", "Off"}})) == Names{"PropertyNotWritable"});

  Instance dell(MadeWorld("dell-r750", {.writes_oem = true}));
  const Response written = Patch(dell, attributes, {{"Attributes", {{"NIC.1.DNSRacName", "a"}}}});
  REQUIRE(written.status == 200);
  REQUIRE(At(dell, attributes, "/Attributes/NIC.1.DNSRacName") == "a");
  REQUIRE(Messages(Patch(dell, attributes, {{"Id", "other"}})) == Names{"PropertyNotWritable"});
}

}  // namespace shoal::mockserver
