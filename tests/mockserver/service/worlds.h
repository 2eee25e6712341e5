// SPDX-License-Identifier: Apache-2.0
// The shipped captures as worlds, each loaded once for a test program.
#pragma once

#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mockserver/instance/instance.h"
#include "mockserver/service/world.h"
#include "redfish/capture/capture.h"
#include "redfish/capture/capture_path.h"
#include "redfish/capture/landmarks.h"
#include "redfish/capture/uri.h"
#include "redfish/goals/watch.h"
#include "redfish/schema/privilege_registry.h"
#include "redfish/schema/schema.h"

namespace shoal::mockserver {

inline const std::string kOpenBmcSystem = "/redfish/v1/Systems/system";
// The captures whose systems have a Bios resource.
inline const std::vector<std::string> kWithBios = {"dmtf-rackmount1", "hpe-dl380a-gen12",
                                                   "dell-r750"};

inline const std::vector<std::string>& CaptureNames() {
  static const std::vector<std::string> kNames = {"openbmc-stock", "dmtf-rackmount1",
                                                  "hpe-dl380a-gen12", "dell-r750"};
  return kNames;
}

// All shipped captures: the ones above, and DMTF's further mockups, which are parts of services.
inline const std::vector<std::string>& ShippedNames() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names = CaptureNames();
    for (const char* part :
         {"acd", "catfish", "liquid-cooled-server", "mpf", "smartnic", "telemetry"}) {
      names.push_back(std::string("dmtf-") + part);
    }
    return names;
  }();
  return kNames;
}

inline std::shared_ptr<const redfish::Schema> TestSchema() {
  static const auto kSchema = redfish::Schema::Load("data/schema/redfish.schema.zst").value();
  return kSchema;
}

inline std::shared_ptr<const World> MadeWorld(const std::string& name, WorldOptions options = {}) {
  const auto capture = redfish::Capture::Load(redfish::FindCapture(name, "data").value());
  REQUIRE(capture.ok());
  static const auto kPrivileges =
      redfish::PrivilegeRegistry::Load("data/registries/registries.tar.xz").value();
  options.privileges = kPrivileges;
  return World::Create(*capture, TestSchema(), std::move(options)).value();
}

inline std::shared_ptr<const World> WorldOf(const std::string& name) {
  static std::map<std::string, std::shared_ptr<const World>> worlds;
  auto& world = worlds[name];
  if (world == nullptr) world = MadeWorld(name);
  return world;
}

// Returns the shipped capture with `others` added, or in place of its own resources.
inline std::shared_ptr<const World> WorldWith(const std::string& name,
                                              const redfish::Capture::Resources& others) {
  redfish::Capture::Resources resources = WorldOf(name)->capture().resources();
  for (const auto& [uri, json] : others) resources.insert_or_assign(uri, json);
  const auto capture = redfish::Capture::FromResources(name, std::move(resources));
  REQUIRE(capture.ok());
  return World::Create(*capture, TestSchema()).value();
}

inline redfish::Landmarks LandmarksOf(const World& world) {
  return redfish::FindLandmarks(world.capture());
}

inline Response Get(Instance& instance, std::string_view uri) {
  return instance.Handle({.method = Method::kGet, .uri = uri});
}

inline Response Post(Instance& instance, std::string_view uri, const Json& body) {
  const std::string text = body.dump();
  return instance.Handle({.method = Method::kPost, .uri = uri, .body = text});
}

inline Response Delete(Instance& instance, std::string_view uri, std::string_view if_match = {}) {
  return instance.Handle({.method = Method::kDelete, .uri = uri, .if_match = if_match});
}

inline Response Patch(Instance& instance, std::string_view uri, const Json& body,
                      std::string_view if_match = {}) {
  const std::string text = body.dump();
  return instance.Handle(
      {.method = Method::kPatch, .uri = uri, .body = text, .if_match = if_match});
}

// POSTs {"ResetType": type} to the reset action of a system or chassis.
inline Response ResetOf(Instance& instance, const std::string& uri, const std::string& type) {
  const Json& resource = *instance.Find(uri);
  for (const auto& [name, action] : resource.at("Actions").items()) {
    if (!name.ends_with(".Reset")) continue;
    const std::string target = action.at("target");
    const std::string body = Json{{"ResetType", type}}.dump();
    return instance.Handle({.method = Method::kPost, .uri = target, .body = body});
  }
  FAIL("no reset action in " << uri);
  return {};
}

inline Json At(const Instance& instance, const std::string& uri, const std::string& pointer) {
  const Json* const resource = instance.Find(uri);
  REQUIRE(resource != nullptr);
  const Json* const value = redfish::Resolve(*resource, pointer);
  return value == nullptr ? Json() : *value;
}

// Boots the system, whether it is on or off.
inline void Boot(Instance& instance, const std::string& system) {
  const bool is_off = At(instance, system, "/PowerState") == "Off";
  REQUIRE(ResetOf(instance, system, is_off ? "On" : "ForceRestart").status < 300);
}

// Returns the names of all messages in an error or an annotated body.
inline std::vector<std::string> Messages(const Response& response) {
  std::vector<std::string> names;
  REQUIRE(response.json != nullptr);
  const Json& list = response.json->contains("error")
                         ? response.json->at("error").at("@Message.ExtendedInfo")
                         : response.json->value("@Message.ExtendedInfo", Json::array());
  for (const Json& info : list) {
    const std::string id = info.at("MessageId");
    names.push_back(id.substr(id.rfind('.') + 1));
  }
  return names;
}

inline redfish::Watch WatchFor(const Json& predicate, const Json& milestones = Json::array(),
                               const Json& allowed = Json::array()) {
  return redfish::Watch::Parse(
             {{"predicate", predicate}, {"milestones", milestones}, {"allowed", allowed}})
      .value();
}

// A certificate that was captured, as a text in PEM.
inline std::string CapturedCertificate() {
  const std::string uri = "/redfish/v1/Systems/1/SecureBoot/SecureBootDatabases/PK/Certificates/2";
  return WorldOf("hpe-dl380a-gen12")->capture().Find(uri)->at("CertificateString");
}

}  // namespace shoal::mockserver
