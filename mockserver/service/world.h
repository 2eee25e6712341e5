// SPDX-License-Identifier: Apache-2.0
// One captured service, parsed and indexed once, that any number of instances share.
//
// A resource is serialised once; its body and ETag serve every instance that has not changed it.
// Immutable after Create, so thread-safe. Members that a collection lists and the capture lacks are
// absent (404).
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

// Index of a resource in its world, stable for the world's life; an instance numbers what it has
// beyond that from there on.
using ResourceId = std::uint32_t;

class StandardDocuments;
class WorldDocuments;

struct WorldOptions {
  // How a successful PATCH answers, and an action or DELETE that has nothing to say: vendors
  // differ, and some clients break on 204.
  enum class Style {
    kRepresentation,  // 200 with the resource as it is now; the others 200 with Success
    kExtendedInfo,    // 200 with Success
    kNoContent,       // 204
  };
  Style style = Style::kRepresentation;
  // Hosted beside the captured resources; null: nothing is.
  std::shared_ptr<const StandardDocuments> documents = {};
  // What users may do where authentication is required; null: nothing.
  std::shared_ptr<const redfish::PrivilegeRegistry> privileges = {};
};

class World {
 public:
  struct Resource {
    std::string uri;
    // Points into the capture.
    std::shared_ptr<const Json> json;
    std::shared_ptr<const std::string> body;
    // As in the header, quoted.
    std::string etag;
    // Hash of the ETag: what the ETags of changed versions are derived from.
    std::uint64_t version = 0;
    // "#ComputerSystem.v1_16_0.ComputerSystem"; empty when the resource names none.
    std::string odata_type;
    Methods methods;
    // Value of the Link header to the resource's schema; empty when none is hosted.
    std::string_view link;
  };
  // A target that POST reaches.
  struct Action {
    ResourceId resource = 0;
    // "ComputerSystem.Reset", without '#'.
    std::string name;
    // The action's object in its resource, with its target and allowable values: a JSON Pointer.
    std::string pointer;
  };

  // FAILED_PRECONDITION when the schema knows no type of the capture.
  static absl::StatusOr<std::shared_ptr<const World>> Create(
      std::shared_ptr<const redfish::Capture> capture,
      std::shared_ptr<const redfish::Schema> schema, WorldOptions options = {});
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  std::span<const Resource> resources() const { return resources_; }
  const Resource& resource(ResourceId id) const { return resources_[id]; }
  // `uri` is canonical; a resource that names itself in other capitals than where it was captured
  // has both names. Nothing, or null, when absent.
  std::optional<ResourceId> Find(std::string_view uri) const;
  const Action* FindAction(std::string_view uri) const;
  // The actions that a body describes, by target, as those of `id`.
  static std::vector<std::pair<std::string, Action>> ActionsIn(const Json& json, ResourceId id);
  // The resources below `uri`, which is canonical, in order of URI.
  std::span<const Resource> Below(std::string_view uri) const;

  // The settings object of a resource, and the resource that a settings object is for. A settings
  // object takes PATCH where either type does, and no DELETE: its resource links it.
  std::optional<ResourceId> SettingsOf(ResourceId id) const;
  std::optional<ResourceId> ActiveOf(ResourceId settings) const;
  // What a resource of this type takes, by its schema. Where accounts are slots, empty ones among
  // them, the captured collection takes no POST and they no DELETE.
  Methods MethodsOf(std::string_view odata_type) const;
  // Resource::link of this type.
  std::string_view LinkOf(std::string_view odata_type) const;
  // Null when nothing is hosted.
  const WorldDocuments* documents() const { return documents_.get(); }
  // Null when the capture lacks it. In several languages, the first.
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
