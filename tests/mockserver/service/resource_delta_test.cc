// SPDX-License-Identifier: Apache-2.0
#include "mockserver/service/resource_delta.h"

#include <catch2/catch.hpp>
#include <set>

#include "mockserver/service/tree_pool.h"
#include "platform/runtime/random.h"
#include "redfish/capture/uri.h"
#include "redfish/goals/watch.h"
#include "tests/mockserver/service/worlds.h"

namespace shoal::mockserver {
namespace {

const redfish::Watch& WatchOfIndicator() {
  static const redfish::Watch kWatch =
      redfish::Watch::Parse(
          {{"predicate", {{"exists", {{"uri", "/s"}, {"pointer", "/Id"}}}}},
           {"allowed", {{{"uri", "/s"}, {"pointer", "/LocationIndicatorActive"}}}}})
          .value();
  return kWatch;
}

// A captured resource and a plain copy of its body; both get the same writes.
struct Twins {
  explicit Twins(const std::string& capture)
      : resource(WorldOf(capture)->resource(
            *WorldOf(capture)->Find(LandmarksOf(*WorldOf(capture)).system))),
        delta(resource.json, resource.version),
        plain(*resource.json),
        start(plain) {}

  // Writes to some leaf or to a new member.
  void WriteAnywhere(runtime::Random& random) {
    const Json leaves = plain.flatten();
    auto leaf = leaves.begin();
    std::advance(leaf, static_cast<std::ptrdiff_t>(random.Below(leaves.size())));
    const bool is_new = random.Below(8) == 0;
    const std::string pointer =
        is_new ? "/Oem/Shoal" + std::to_string(random.Below(3)) + "/Number" : leaf.key();
    const Json value = random.Below(100);
    const bool is_written = redfish::Assign(plain, pointer, value);
    REQUIRE(delta.Assign(pointer, value) == is_written);
  }

  std::int64_t CountByComparingWhole() const {
    const auto effects =
        redfish::SideEffects(*TestSchema(), WatchOfIndicator(), "/s", start, plain);
    return static_cast<std::int64_t>(effects.size());
  }

  static Json WithoutEtag(Json json) {
    json.erase("@odata.etag");
    return json;
  }

  const World::Resource& resource;
  ResourceDelta delta;
  Json plain;
  Json start;
};

TEST_CASE("Side effects counted by what was written are those that whole bodies show") {
  for (const std::string& capture : CaptureNames()) {
    Twins twins(capture);
    runtime::Random random(3);
    for (int episode = 0; episode < 4; ++episode) {
      for (int write = 0; write < 20; ++write) {
        twins.WriteAnywhere(random);
        REQUIRE(twins.delta.CountSideEffects(*TestSchema(), WatchOfIndicator(), "/s") ==
                twins.CountByComparingWhole());
        REQUIRE(Twins::WithoutEtag(twins.delta.json()) == Twins::WithoutEtag(twins.plain));
      }
      twins.delta.BeginEpisode();
      twins.start = twins.plain;
      REQUIRE(twins.delta.CountSideEffects(*TestSchema(), WatchOfIndicator(), "/s") == 0);
    }
  }
}

TEST_CASE("The text is that of the whole body, whenever it is asked for") {
  for (const std::string& capture : CaptureNames()) {
    Twins twins(capture);
    runtime::Random random(13);
    for (int write = 0; write < 100; ++write) {
      twins.WriteAnywhere(random);
      if (random.Below(3) == 0) continue;
      REQUIRE(*twins.delta.Text(0) == twins.delta.json().dump());
      REQUIRE(twins.delta.Text(0) == twins.delta.Text(0));
    }
    REQUIRE(twins.delta.Assign("", Json({{"Id", "1"}})));
    REQUIRE(*twins.delta.Text(0) == "{\"Id\":\"1\"}");
    REQUIRE(twins.delta.Assign("/Name", Json::object()));
    REQUIRE(*twins.delta.Text(0) == "{\"Id\":\"1\",\"Name\":{}}");
    REQUIRE(twins.delta.Assign("", Json::object()));
    REQUIRE(*twins.delta.Text(0) == "{}");
  }
}

TEST_CASE("A tree that is taken equals the base, whatever was written") {
  for (const std::string& capture : CaptureNames()) {
    runtime::Random random(5);
    for (int round = 0; round < 20; ++round) {
      Twins twins(capture);
      for (int write = 0; write < 10; ++write) twins.WriteAnywhere(random);
      if (round % 2 == 0) twins.delta.BeginEpisode();
      const std::shared_ptr<Json> tree = twins.delta.TakeTree();
      REQUIRE(tree != nullptr);
      REQUIRE(*tree == *twins.resource.json);
    }
  }
}

TEST_CASE("Elements come and go as they do in a plain list") {
  const auto world = WorldOf("hpe-dl380a-gen12");
  const World::Resource& sensors = world->resource(*world->Find("/redfish/v1/Chassis/1/Sensors"));
  for (const bool erases : {false, true}) {
    ResourceDelta delta(sensors.json, sensors.version);
    Json plain = sensors.json->at("Members");
    std::set<std::uint64_t> versions = {delta.version()};
    runtime::Random random(11);
    for (int i = 0; i < 50; ++i) {
      const auto index = static_cast<std::size_t>(random.Below(plain.size() + 1));
      if (erases && random.Below(2) == 0) {
        const bool is_there = index < plain.size();
        if (is_there) plain.erase(index);
        REQUIRE(delta.Erase("/Members", index) == is_there);
        if (!is_there) continue;
      } else {
        const Json link = {{"@odata.id", "/redfish/v1/" + std::to_string(i)}};
        plain.push_back(link);
        REQUIRE(delta.Append("/Members", link));
      }
      REQUIRE(delta.json().at("Members") == plain);
      REQUIRE(versions.insert(delta.version()).second);
    }
    REQUIRE_FALSE(delta.Append("/Name", 1));
    REQUIRE_FALSE(delta.Erase("/Nothing", 0));
    const std::shared_ptr<Json> tree = delta.TakeTree();
    REQUIRE(tree != nullptr);
    REQUIRE(*tree == *sensors.json);
  }
}

TEST_CASE("What somebody holds is neither written to nor taken") {
  Twins twins("dmtf-rackmount1");
  REQUIRE(twins.delta.Assign("/AssetTag", "one"));
  const std::shared_ptr<const Json> held = twins.delta.Snapshot();
  REQUIRE(twins.delta.TakeTree() == nullptr);
  REQUIRE(twins.delta.Assign("/AssetTag", "two"));
  REQUIRE(held->at("AssetTag") == "one");
  REQUIRE(twins.delta.json().at("AssetTag") == "two");
}

TEST_CASE("A body that was replaced as a whole is compared as a whole and not taken") {
  for (const char* whole : {"", "/"}) {
    Twins twins("dmtf-rackmount1");
    REQUIRE(twins.delta.Assign("/AssetTag", "one"));
    twins.delta.BeginEpisode();
    Json body = twins.delta.json();
    body["AssetTag"] = "two";
    REQUIRE(twins.delta.Assign(whole, body));
    REQUIRE(twins.delta.CountSideEffects(*TestSchema(), WatchOfIndicator(), "/s") == 1);
    body["AssetTag"] = "one";
    REQUIRE(twins.delta.Assign(whole, body));
    REQUIRE(twins.delta.CountSideEffects(*TestSchema(), WatchOfIndicator(), "/s") == 0);
    REQUIRE(twins.delta.TakeTree() == nullptr);
    REQUIRE(twins.delta.Assign(whole, Json("no object")));
    REQUIRE(twins.delta.Assign("/AssetTag", "lost") == false);
    REQUIRE(twins.delta.CountSideEffects(*TestSchema(), WatchOfIndicator(), "/s") == 0);
  }
}

TEST_CASE(
    "An instance that was reset answers as a new one, body by body, whatever was done to it") {
  for (const std::string& capture : CaptureNames()) {
    const auto world = WorldOf(capture);
    const auto trees = std::make_shared<TreePool>();
    Instance used(world, {.trees = trees});
    Instance fresh(world);
    runtime::Random random(7);
    const std::string system = LandmarksOf(*world).system;
    const auto change_much = [&] {
      Patch(used, system, {{"AssetTag", "changed"}});
      for (int i = 0; i < 200; ++i) {
        const auto& resource =
            world->resource(static_cast<ResourceId>(random.Below(world->resources().size())));
        for (const char* property :
             {"AssetTag", "LocationIndicatorActive", "Enabled", "HostName"}) {
          if (!resource.json->contains(property)) continue;
          const Json& now = resource.json->at(property);
          const Json value = now.is_boolean() ? Json(!now.get<bool>()) : Json("changed");
          Patch(used, resource.uri, {{property, value}});
        }
      }
    };
    for (int episode = 0; episode < 3; ++episode) {
      change_much();
      REQUIRE(used.Reset().ok());
      for (const World::Resource& resource : world->resources()) {
        REQUIRE(*used.Find(resource.uri) == *resource.json);
      }
    }
    // A change uses one of the trees that the resets have put back.
    const std::size_t waiting = trees->size();
    REQUIRE(waiting > 0);
    const Response one = Patch(used, system, {{"AssetTag", "after"}});
    const Response other = Patch(fresh, system, {{"AssetTag", "after"}});
    REQUIRE(one.status == other.status);
    if (one.status < 300) REQUIRE(trees->size() < waiting);
    REQUIRE(one.etag == other.etag);
    REQUIRE(*used.Find(system) == *fresh.Find(system));
  }
}

}  // namespace
}  // namespace shoal::mockserver
