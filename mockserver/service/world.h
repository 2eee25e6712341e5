// SPDX-License-Identifier: Apache-2.0
// One captured service, parsed and indexed once and shared by any number of instances.
//
// Each resource is serialised once; its body and ETag serve every instance that has not changed it.
// A world is immutable after Create and therefore thread-safe. Members that a collection lists but
// the capture lacks are absent (404).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mockserver/messages/message.h"
#include "platform/runtime/status.h"

namespace shoal::redfish {
class AttributeRegistry;
class Capture;
class PrivilegeRegistry;
class Schema;
}  // namespace shoal::redfish

namespace shoal::mockserver {

// The index of a resource in its world, stable for the world's life. An instance continues the
// numbering for the resources that it creates.
using ResourceId = std::uint32_t;

class StandardDocuments;
class WorldDocuments;

struct WorldOptions {
  // How to answer a successful PATCH, and an action or DELETE that has nothing to return. Vendors
  // differ, and some clients break on 204.
  enum class Style {
    kRepresentation,  // PATCH: 200 with the resource as it is now; others: 200 with Success
    kExtendedInfo,    // 200 with Success
    kNoContent,       // 204
  };
  Style style = Style::kRepresentation;
  // The documents that are hosted beside the captured resources. Null means none.
  std::shared_ptr<const StandardDocuments> documents = {};
  // The privileges that operations require where authentication is required. With null, users may
  // do nothing.
  std::shared_ptr<const redfish::PrivilegeRegistry> privileges = {};
  // Whether clients may write what the standard does not define: members of Oem objects, and
  // resources of types that the schema does not know. They are judged by the types of the captured
  // values (patch.h).
  bool writes_oem = false;
  // Whether ProtocolFeaturesSupported of the service root says what this service serves, and not
  // what the captured host served (protocol_features.h).
  bool tells_features = false;
};

class World {
 public:
  struct Resource {
    std::string uri;
    // Points into the capture, but for the service root where tells_features is on.
    std::shared_ptr<const Json> json;
    std::shared_ptr<const std::string> body;
    // The ETag as in the header, quoted.
    std::string etag;
    // The hash of the ETag, from which the ETags of changed versions are derived.
    std::uint64_t version = 0;
    // Such as "#ComputerSystem.v1_16_0.ComputerSystem", or empty when the resource names no type.
    std::string odata_type;
    Methods methods;
    // The value of the Link header to the resource's schema, or empty when none is hosted.
    std::string_view link;
  };
  // An action, reached by POST to its target.
  struct Action {
    ResourceId resource = 0;
    // The name without '#': "ComputerSystem.Reset".
    std::string name;
    // The JSON Pointer of the action's object in its resource, which has its target and allowable
    // values.
    std::string pointer;
  };

  // Returns FAILED_PRECONDITION when the schema knows no type of the capture.
  static absl::StatusOr<std::shared_ptr<const World>> Create(
      std::shared_ptr<const redfish::Capture> capture,
      std::shared_ptr<const redfish::Schema> schema, WorldOptions options = {});
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  std::span<const Resource> resources() const { return resources_; }
  const Resource& resource(ResourceId id) const { return resources_[id]; }
  // The Find functions take a canonical URI and return nothing, or null, when it is absent. A
  // resource whose @odata.id differs in capitals from the URI of its capture is found under both.
  std::optional<ResourceId> Find(std::string_view uri) const;
  const Action* FindAction(std::string_view uri) const;
  // Returns the actions that the body `json` describes, by target, as actions of the resource `id`.
  static std::vector<std::pair<std::string, Action>> ActionsIn(const Json& json, ResourceId id);
  // Returns the resources below the canonical `uri`, in order of URI.
  std::span<const Resource> Below(std::string_view uri) const;

  // Return the settings object of a resource, and the resource that a settings object belongs to. A
  // settings object takes PATCH where either type does. It takes no DELETE, because its resource
  // links it.
  std::optional<ResourceId> SettingsOf(ResourceId id) const;
  std::optional<ResourceId> ActiveOf(ResourceId settings) const;
  // Returns the methods that a resource of this type takes by its schema. A type that the schema
  // does not know takes PATCH where WorldOptions::writes_oem is on. Where accounts are slots,
  // some of them empty, the captured collection takes no POST and the slots take no DELETE.
  Methods MethodsOf(std::string_view odata_type) const;
  // Returns Resource::link for this type.
  std::string_view LinkOf(std::string_view odata_type) const;
  // Null when nothing is hosted.
  const WorldDocuments* documents() const { return documents_.get(); }
  // Returns null when the capture lacks the registry. Of a registry in several languages it returns
  // the first.
  const redfish::AttributeRegistry* FindAttributeRegistry(std::string_view id) const;

  const redfish::Capture& capture() const { return *capture_; }
  const redfish::Schema& schema() const { return *schema_; }
  const WorldOptions& options() const { return options_; }

 private:
  struct Index;

  World(std::shared_ptr<const redfish::Capture> capture,
        std::shared_ptr<const redfish::Schema> schema, WorldOptions options);
  void AddResource(const std::string& uri, const Json& json);
  void AddOtherName(ResourceId id);
  void AddSettings(ResourceId id);
  void AddDocuments();
  void AddAccountSlots(ResourceId collection);

  const std::shared_ptr<const redfish::Capture> capture_;
  const std::shared_ptr<const redfish::Schema> schema_;
  const WorldOptions options_;
  std::vector<Resource> resources_;
  const std::unique_ptr<Index> index_;
  std::unique_ptr<const WorldDocuments> documents_;
};

}  // namespace shoal::mockserver
