// SPDX-License-Identifier: Apache-2.0
#include "mockserver/instance/instance.h"

#include <catch2/catch.hpp>

#include "tests/mockserver/service/worlds.h"

namespace shoal::mockserver {

TEST_CASE("A crawl of an instance equals the tree it was loaded from") {
  for (const std::string& name : CaptureNames()) {
    INFO(name);
    const auto world = WorldOf(name);
    Instance instance(world);
    for (const auto& [uri, json] : world->capture().resources()) {
      const Response response = Get(instance, uri);
      REQUIRE(response.status == 200);
      REQUIRE(!response.etag.empty());
      REQUIRE(*response.json == json);
    }
    REQUIRE(instance.changed_resources() == 0);
  }
}

TEST_CASE("A body parses to what the capture holds") {
  for (const std::string& name : CaptureNames()) {
    Instance instance(WorldOf(name));
    const std::string system = LandmarksOf(instance.world()).system;
    const Response response = Get(instance, system);
    REQUIRE(Json::parse(*response.body) == *instance.world().capture().Find(system));
  }
}

TEST_CASE("An unchanged body is one text object for all instances") {
  const auto world = WorldOf("openbmc-stock");
  Instance first(world);
  Instance second(world);
  REQUIRE(Get(first, "/redfish/v1").body == Get(second, "/redfish/v1").body);
  REQUIRE(Get(first, "/redfish/v1").body == Get(first, "/redfish/v1").body);
}

TEST_CASE("Trailing and doubled slashes and fragments are forgiven") {
  Instance instance(WorldOf("openbmc-stock"));
  for (const char* uri : {"/redfish/v1/", "//redfish/v1", "/redfish//v1//", "/redfish/v1#Name"}) {
    INFO(uri);
    REQUIRE(Get(instance, uri).status == 200);
  }
}

TEST_CASE("A resource that names itself in other capitals is found by both names") {
  Instance instance(WorldOf("hpe-dl380a-gen12"));
  const std::string system = LandmarksOf(instance.world()).system;
  const std::string link = redfish::LinkTarget(At(instance, system, "/Bios"));
  REQUIRE(link == "/redfish/v1/systems/1/bios");
  REQUIRE(Get(instance, link).status == 200);
  REQUIRE(Get(instance, link).body == Get(instance, "/redfish/v1/Systems/1/bios").body);
}

TEST_CASE("What is not there is 404 ResourceMissingAtURI") {
  Instance instance(WorldOf("openbmc-stock"));
  for (const char* uri : {"/redfish/v1/Nothing", "/", "", "/redfish/v2", "nonsense",
                          "/redfish/v1/../../etc/passwd"}) {
    INFO(uri);
    const Response response = Get(instance, uri);
    REQUIRE(response.status == 404);
    REQUIRE(Messages(response) == std::vector<std::string>{"ResourceMissingAtURI"});
  }
}

TEST_CASE("A member that a collection lists and the capture lacks is 404") {
  const auto world = WorldOf("hpe-dl380a-gen12");
  REQUIRE(world->capture().dangling_count() > 0);
  Instance instance(world);
  std::int64_t dangling = 0;
  for (const auto& [uri, json] : world->capture().resources()) {
    if (!json.contains("Members") || !json["Members"].is_array()) continue;
    for (const Json& member : json["Members"]) {
      const std::string target = redfish::LinkTarget(member);
      if (target.empty() || world->capture().Find(target) != nullptr) continue;
      REQUIRE(Get(instance, target).status == 404);
      ++dangling;
    }
  }
  REQUIRE(dangling >= world->capture().dangling_count());
}

TEST_CASE("/redfish names the versions") {
  Instance instance(WorldOf("openbmc-stock"));
  REQUIRE(*Get(instance, "/redfish").json == Json{{"v1", "/redfish/v1/"}});
}

TEST_CASE("If-None-Match with the current ETag is 304 without a body") {
  Instance instance(WorldOf("hpe-dl380a-gen12"));
  const Response first = Get(instance, "/redfish/v1/Systems/1");
  REQUIRE(first.etag == first.json->at("@odata.etag"));
  const Response again = instance.Handle(
      {.method = Method::kGet, .uri = "/redfish/v1/Systems/1", .if_none_match = first.etag});
  REQUIRE(again.status == 304);
  REQUIRE(again.body == nullptr);
  REQUIRE(instance
              .Handle({.method = Method::kGet,
                       .uri = "/redfish/v1/Systems/1",
                       .if_none_match = "\"other\""})
              .status == 200);
}

TEST_CASE("A method that a resource does not take is 405 with Allow") {
  Instance instance(WorldOf("openbmc-stock"));
  for (const Method method : {Method::kPost, Method::kPut, Method::kDelete, Method::kOther}) {
    const Response response =
        instance.Handle({.method = method, .uri = "/redfish/v1/Systems/system", .body = "{}"});
    REQUIRE(response.status == 405);
    REQUIRE(response.allow == "GET, HEAD, PATCH");
  }
  const Response collection = Patch(instance, "/redfish/v1/Systems", {{"Name", "x"}});
  REQUIRE(collection.status == 405);
  REQUIRE(collection.allow == "GET, HEAD");
  const Response action = Get(instance, "/redfish/v1/Systems/system/Actions/ComputerSystem.Reset");
  REQUIRE(action.status == 405);
  REQUIRE(action.allow == "POST");
}

TEST_CASE("Headers that name another protocol are refused by name, ordinary clients' pass") {
  Instance instance(WorldOf("openbmc-stock"));
  const std::string_view uri = "/redfish/v1/Systems";
  REQUIRE(instance.Handle({.uri = uri, .odata_version = "4.0"}).status == 200);
  REQUIRE(instance.Handle({.uri = uri, .odata_version = "4.1"}).status == 412);
  for (const char* accept : {"*/*", "application/json", "text/html, application/json;q=0.9",
                             "APPLICATION/JSON; charset=utf-8", "application/*"}) {
    INFO(accept);
    REQUIRE(instance.Handle({.uri = uri, .accept = accept}).status == 200);
  }
  REQUIRE(instance.Handle({.uri = uri, .accept = "text/html"}).status == 406);
  Request patch{.method = Method::kPatch,
                .uri = "/redfish/v1/Systems/system",
                .body = R"({"AssetTag":"x"})",
                .content_type = "text/plain"};
  REQUIRE(instance.Handle(patch).status == 415);
  REQUIRE(instance.changed_resources() == 0);
  patch.content_type = "application/json; charset=utf-8";
  REQUIRE(instance.Handle(patch).status != 415);
}

TEST_CASE("OPTIONS says which methods a URI takes") {
  Instance instance(WorldOf("openbmc-stock"));
  const auto options = [&](std::string_view uri) {
    return instance.Handle({.method = Method::kOptions, .uri = uri});
  };
  REQUIRE(options("/redfish/v1/Systems/system").allow == "GET, HEAD, PATCH");
  REQUIRE(options("/redfish/v1/Systems").allow == "GET, HEAD");
  REQUIRE(options("/redfish/v1/Systems/system/Actions/ComputerSystem.Reset").allow == "POST");
  REQUIRE(options("/redfish/v1/Systems").status == 204);
  REQUIRE(options("/redfish").allow == "GET, HEAD");
  REQUIRE(instance.Handle({.method = Method::kPost, .uri = "/redfish", .body = "{}"}).status ==
          405);
  REQUIRE(options("/redfish/v1/Nothing").status == 404);
}

TEST_CASE("A query of the protocol that the service lacks is 501, another is ignored") {
  Instance instance(WorldOf("openbmc-stock"));
  REQUIRE(Get(instance, "/redfish/v1/Systems?$count=true").status == 501);
  REQUIRE(Get(instance, "/redfish/v1/Systems?x=1&$search=y").status == 501);
  REQUIRE(Get(instance, "/redfish/v1/Systems?x=1").status == 200);
  REQUIRE(Get(instance, "/redfish/v1/Systems").json->at("Members").size() == 1);
}

TEST_CASE("A change in one instance is not seen by another") {
  const auto world = WorldOf("openbmc-stock");
  Instance changed(world);
  Instance other(world);
  const std::string system = LandmarksOf(*world).system;
  const Response before = Get(changed, system);
  REQUIRE(Patch(changed, system, {{"LocationIndicatorActive", true}}).status == 200);
  const Response after = Get(changed, system);
  REQUIRE(after.json->at("LocationIndicatorActive") == true);
  REQUIRE(after.etag != before.etag);
  REQUIRE(before.json->at("LocationIndicatorActive") == false);
  REQUIRE(Get(other, system).body == before.body);
  REQUIRE(Get(other, system).etag == before.etag);
}

TEST_CASE("A request with its body as a value is answered as with the text of it") {
  const auto world = WorldOf("dmtf-rackmount1");
  const std::string system = LandmarksOf(*world).system;
  const std::vector<Json> bodies = {{{"AssetTag", "7"}},    {{"AssetTag", 7}},
                                    {{"IndicatorLED", 1}},  {{"Boot", {{"Nothing", "x"}}}},
                                    Json::object(),         Json::array({1}),
                                    {{"PowerState", "On"}}, "text"};
  for (const Json& body : bodies) {
    for (const auto& [method, uri] : {std::pair(Method::kPatch, system),
                                      {Method::kPost, system + "/Actions/ComputerSystem.Reset"}}) {
      INFO(uri << " " << body);
      Instance by_text(world);
      Instance by_value(world);
      const std::string text = body.dump();
      const Response expected = by_text.Handle({.method = method, .uri = uri, .body = text});
      const Response response = by_value.Handle({.method = method, .uri = uri, .json = &body});
      REQUIRE(response.status == expected.status);
      REQUIRE(*response.json == *expected.json);
      REQUIRE(Get(by_value, system).etag == Get(by_text, system).etag);
    }
  }
}

TEST_CASE("A response stays what it was after later changes") {
  Instance instance(WorldOf("openbmc-stock"));
  const std::string system = LandmarksOf(instance.world()).system;
  REQUIRE(Patch(instance, system, {{"LocationIndicatorActive", true}}).status == 200);
  const Response held = Get(instance, system);
  REQUIRE(Patch(instance, system, {{"LocationIndicatorActive", false}}).status == 200);
  REQUIRE(held.json->at("LocationIndicatorActive") == true);
  REQUIRE(Json::parse(*held.body) == *held.json);
}

TEST_CASE("Reset drops every change and applies the start") {
  const auto world = WorldOf("dell-r750");
  Instance instance(world);
  const std::string system = LandmarksOf(*world).system;
  const Response untouched = Get(instance, system);
  REQUIRE(Patch(instance, system, {{"AssetTag", "leftover"}}).status == 200);
  REQUIRE(ResetOf(instance, system, "ForceOff").status == 200);
  instance.Advance(std::chrono::seconds(3));

  const std::vector<redfish::StartOperation> start = {{system, "/PowerState", "Off"}};
  REQUIRE(instance.Reset(start).ok());
  REQUIRE(At(instance, system, "/PowerState") == "Off");
  REQUIRE(At(instance, system, "/AssetTag") == "");
  REQUIRE(instance.history().empty());
  REQUIRE(instance.now().count() == 0);

  REQUIRE(instance.Reset().ok());
  REQUIRE(Get(instance, system).body == untouched.body);
}

TEST_CASE("A start that leads nowhere is an error and leaves the world's state") {
  Instance instance(WorldOf("openbmc-stock"));
  const std::string system = LandmarksOf(instance.world()).system;
  const std::vector<redfish::StartOperation> absent = {{system, "/PowerState", "On"},
                                                       {"/redfish/v1/None", "/Name", 1}};
  REQUIRE(instance.Reset(absent).code() == absl::StatusCode::kNotFound);
  REQUIRE(instance.changed_resources() == 0);
  for (const char* pointer : {"", "PowerState", "/PowerState/Deep/er"}) {
    const std::vector<redfish::StartOperation> wrong = {{system, pointer, 1}};
    REQUIRE(instance.Reset(wrong).code() == absl::StatusCode::kInvalidArgument);
  }
}

TEST_CASE("The watch tells success, latched milestones and collateral") {
  for (const std::string& name : CaptureNames()) {
    INFO(name);
    Instance instance(WorldOf(name));
    const std::string system = LandmarksOf(instance.world()).system;
    const auto equals = [&](const char* pointer, const Json& value) {
      return Json{{"equals", {{"uri", system}, {"pointer", pointer}, {"value", value}}}};
    };
    const Json allowed = Json::array({{{"uri", system}, {"pointer", "/Boot"}}});
    const std::vector<redfish::StartOperation> start = {
        {system, "/Boot/BootSourceOverrideEnabled", "Disabled"},
        {system, "/Boot/BootSourceOverrideTarget", "None"}};
    REQUIRE(instance
                .Reset(start, WatchFor(equals("/Boot/BootSourceOverrideTarget", "Cd"),
                                       {equals("/Boot/BootSourceOverrideTarget", "None"),
                                        equals("/Boot/BootSourceOverrideEnabled", "Once")},
                                       allowed))
                .ok());
    REQUIRE(instance.Evaluate().milestones == 1);
    REQUIRE(!instance.Evaluate().satisfied);

    const Json once = {
        {"Boot", {{"BootSourceOverrideEnabled", "Once"}, {"BootSourceOverrideTarget", "Cd"}}}};
    REQUIRE(Patch(instance, system, once).status == 200);
    redfish::Progress evaluation = instance.Evaluate();
    REQUIRE(evaluation.satisfied);
    REQUIRE(evaluation.milestones == 3);
    REQUIRE(evaluation.collateral == 0);

    const std::string property = At(instance, system, "/IndicatorLED").is_null()
                                     ? "LocationIndicatorActive"
                                     : "IndicatorLED";
    const Json was = At(instance, system, "/" + property);
    const Json other =
        property == "IndicatorLED" ? Json(was == "Lit" ? "Off" : "Lit") : Json(!was.get<bool>());
    REQUIRE(Patch(instance, system, {{property, other}}).status == 200);
    REQUIRE(instance.Evaluate().collateral == 1);
    REQUIRE(Patch(instance, system, {{property, was}}).status == 200);
    REQUIRE(instance.Evaluate().collateral == 0);

    REQUIRE(
        Patch(instance, system, {{"Boot", {{"BootSourceOverrideEnabled", "Disabled"}}}}).status ==
        200);
    REQUIRE(instance.Evaluate().milestones == 3);
  }
}

TEST_CASE("A watch that begins later judges what happens from then on, while history goes on") {
  Instance instance(WorldOf("dmtf-rackmount1"));
  const std::string system = LandmarksOf(instance.world()).system;
  const auto tagged = [&](const char* tag) {
    return Json{{"equals", {{"uri", system}, {"pointer", "/AssetTag"}, {"value", tag}}}};
  };
  REQUIRE(
      instance.Reset({}, WatchFor(tagged("a"), Json::array({tagged("a")}), Json::array())).ok());
  REQUIRE(Patch(instance, system, {{"AssetTag", "a"}}).status == 200);
  REQUIRE(instance.Evaluate().satisfied);
  REQUIRE(instance.Evaluate().collateral == 1);
  const std::size_t records = instance.history().size();

  instance.BeginWatch(
      WatchFor(tagged("b"), Json::array({tagged("a"), tagged("b")}), Json::array()));
  REQUIRE_FALSE(instance.Evaluate().satisfied);
  REQUIRE(instance.Evaluate().milestones == 1);
  REQUIRE(instance.Evaluate().collateral == 0);
  REQUIRE(At(instance, system, "/AssetTag") == "a");
  REQUIRE(instance.history().size() == records);
  REQUIRE(Patch(instance, system, {{"AssetTag", "b"}}).status == 200);
  REQUIRE(instance.Evaluate().satisfied);
  REQUIRE(instance.Evaluate().milestones == 3);
  REQUIRE(instance.Evaluate().collateral == 1);
  REQUIRE(Patch(instance, system, {{"AssetTag", "a"}}).status == 200);
  REQUIRE(instance.Evaluate().collateral == 0);
}

TEST_CASE("Without a watch an evaluation is all zero") {
  Instance instance(WorldOf("openbmc-stock"));
  REQUIRE(!instance.has_watch());
  const redfish::Progress evaluation = instance.Evaluate();
  REQUIRE(!evaluation.satisfied);
  REQUIRE(evaluation.milestones == 0);
  REQUIRE(evaluation.collateral == 0);
}

TEST_CASE("Equal calls give equal answers, ETags included") {
  const auto world = WorldOf("hpe-dl380a-gen12");
  const auto play = [&] {
    Instance instance(world);
    std::string record;
    const std::string system = LandmarksOf(*world).system;
    for (const Response& response :
         {Patch(instance, system, {{"AssetTag", "a"}}), ResetOf(instance, system, "ForceRestart"),
          Patch(instance, system, {{"AssetTag", "b"}}), Get(instance, system)}) {
      record += std::to_string(response.status) + response.etag + *response.body;
    }
    return record;
  };
  REQUIRE(play() == play());
}

TEST_CASE("A path may be percent-encoded, in requests of every kind") {
  const std::string uri = "/redfish/v1/Chassis/Disk.Bay.7:Enclosure";
  const Json captured = {{"@odata.id", uri},
                         {"@odata.type", "#Chassis.v1_21_0.Chassis"},
                         {"Id", "7"},
                         {"Name", "Bay"},
                         {"AssetTag", ""}};
  Instance instance(WorldWith("dmtf-rackmount1", {{uri, captured}}));
  const std::string encoded = "/redfish/v1/Chassis/Disk.Bay.7%3AEnclosure";
  REQUIRE(Get(instance, encoded).status == 200);
  REQUIRE(Get(instance, "/redfish/v1/Chassis/%44isk.Bay.7%3aEnclosure/").status == 200);
  REQUIRE(Patch(instance, encoded, {{"AssetTag", "x"}}).status == 200);
  REQUIRE(At(instance, uri, "/AssetTag") == "x");
  // These escapes would change the meaning of the path, or are invalid.
  for (const char* other : {"/redfish/v1%2FChassis", "/redfish/v1/Chassis%00", "/redfish/v1/%",
                            "/redfish/v1/%zz", "/redfish/v1/Chassis%3Fa"}) {
    INFO(other);
    REQUIRE(Get(instance, other).status == 404);
  }
}

}  // namespace shoal::mockserver
