// SPDX-License-Identifier: Apache-2.0
#include "mockserver/behaviours/virtual_media.h"

#include <catch2/catch.hpp>
#include <string>

#include "tests/mockserver/service/worlds.h"

namespace shoal::mockserver {
namespace {

struct Slot {
  const char* capture;
  const char* uri;
};

constexpr Slot kSlots[] = {
    {"dell-r750", "/redfish/v1/Systems/System.Embedded.1/VirtualMedia/1"},
    {"dell-r750", "/redfish/v1/Managers/iDRAC.Embedded.1/VirtualMedia/CD"},
    {"hpe-dl380a-gen12", "/redfish/v1/Managers/1/VirtualMedia/2"},
};

Response Act(Instance& instance, const std::string& slot, const std::string& action,
             const Json& parameters) {
  const std::string target =
      At(instance, slot, "/Actions/#VirtualMedia." + action + "/target").get<std::string>();
  const std::string body = parameters.dump();
  return instance.Handle({.method = Method::kPost, .uri = target, .body = body});
}

}  // namespace

TEST_CASE("An image is in the slot from insert to eject, and an ejected slot is as it was") {
  for (const Slot& slot : kSlots) {
    INFO(slot.capture << " " << slot.uri);
    Instance instance(WorldOf(slot.capture));
    const Json empty = *instance.Find(slot.uri);
    const Json image = {{"Image", "http://10.0.0.1/images/debian-12.iso"}};
    REQUIRE(Act(instance, slot.uri, "InsertMedia", image).status == 200);
    REQUIRE(At(instance, slot.uri, "/Inserted") == true);
    REQUIRE(At(instance, slot.uri, "/Image") == image.at("Image"));
    REQUIRE(At(instance, slot.uri, "/ConnectedVia") == "URI");
    const Response second =
        Act(instance, slot.uri, "InsertMedia", {{"Image", "http://10.0.0.1/other.iso"}});
    REQUIRE(second.status == 409);
    REQUIRE(Messages(second) == std::vector<std::string>{"ResourceInUse"});
    REQUIRE(At(instance, slot.uri, "/Image") == image.at("Image"));
    REQUIRE(Act(instance, slot.uri, "EjectMedia", Json::object()).status == 200);
    Json ejected = *instance.Find(slot.uri);
    if (empty.contains("@odata.etag")) ejected["@odata.etag"] = empty.at("@odata.etag");
    REQUIRE(ejected == empty);
    REQUIRE(Act(instance, slot.uri, "EjectMedia", Json::object()).status == 200);
  }
}

TEST_CASE("A medium that is in the slot and not inserted occupies it until it is ejected") {
  for (const Slot& slot : kSlots) {
    Instance instance(WorldOf(slot.capture));
    const Json image = {{"Image", "http://10.0.0.1/a.iso"}, {"Inserted", false}};
    REQUIRE(Act(instance, slot.uri, "InsertMedia", image).status == 200);
    REQUIRE(At(instance, slot.uri, "/Inserted") == false);
    REQUIRE(Act(instance, slot.uri, "InsertMedia", image).status == 409);
    REQUIRE(Act(instance, slot.uri, "EjectMedia", Json::object()).status == 200);
    REQUIRE(At(instance, slot.uri, "/Image") != image.at("Image"));
    REQUIRE(Act(instance, slot.uri, "InsertMedia", image).status == 200);
  }
}

TEST_CASE("An insertion without an image, or of what is no URI, is refused and changes nothing") {
  for (const Slot& slot : kSlots) {
    Instance instance(WorldOf(slot.capture));
    REQUIRE(Messages(Act(instance, slot.uri, "InsertMedia", Json::object())) ==
            std::vector<std::string>{"ActionParameterMissing"});
    for (const char* wrong : {"", "://", "http://", "/", "debian"}) {
      INFO(wrong);
      REQUIRE(Messages(Act(instance, slot.uri, "InsertMedia", {{"Image", wrong}})) ==
              std::vector<std::string>{"ActionParameterValueFormatError"});
    }
    REQUIRE(instance.changed_resources() == 0);
  }
}

TEST_CASE(
    "A slot whose image is a word for nothing, or is not listed, takes an image and shows it") {
  const std::string slot = kSlots[2].uri;
  for (const bool lists_image : {true, false}) {
    Json captured = *WorldOf("hpe-dl380a-gen12")->capture().Find(slot);
    captured["Inserted"] = false;
    captured["Image"] = "None";
    if (!lists_image) captured.erase("Image");
    Instance instance(WorldWith("hpe-dl380a-gen12", {{slot, captured}}));
    const Json image = {{"Image", "http://10.0.0.1/a.iso"}};
    REQUIRE(Act(instance, slot, "InsertMedia", image).status == 200);
    REQUIRE(At(instance, slot, "/Image") == image.at("Image"));
    REQUIRE(Act(instance, slot, "InsertMedia", image).status == 409);
    REQUIRE(Act(instance, slot, "EjectMedia", Json::object()).status == 200);
    REQUIRE(At(instance, slot, "/Image") == (lists_image ? Json("None") : Json()));
    REQUIRE(Act(instance, slot, "InsertMedia", image).status == 200);
  }
}

}  // namespace shoal::mockserver
