// SPDX-License-Identifier: Apache-2.0
// One captured service, parsed and indexed once, that any number of instances share.
//
// A resource is serialised once; its body and ETag serve every instance that has not changed it.
// Immutable after Create, so thread-safe. Members that a collection lists and the capture lacks are
// absent (404); dangling_count() says how many.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mockserver/message.h"
#include "runtime/status.h"

namespace shoal::redfish {
class Capture;
class Schema;
}  // namespace shoal::redfish

namespace shoal::mockserver {

// Index of a resource in its world, stable for the world's life.
using ResourceId = std::uint32_t;

struct WorldOptions {
  // How a successful PATCH or action without a result answers: some clients break on 204.
  enum class Style { kExtendedInfo, kNoContent };
  Style style = Style::kExtendedInfo;
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
    // Unversioned type, "ComputerSystem"; empty when the resource names none.
    std::string type;
    // "#ComputerSystem.v1_16_0.ComputerSystem".
    std::string odata_type;
    // "GET, HEAD, PATCH".
    std::string allow;
    // PATCH reaches properties of it.
    bool patchable = false;
  };
  // A target that POST reaches.
  struct Action {
    ResourceId resource = 0;
    // "ComputerSystem.Reset", without '#'.
    std::string name;
    // The action's object in its resource: target, allowable values. Points into the capture.
    const Json* object = nullptr;
  };

  // INVALID_ARGUMENT when the capture has no service root.
  static absl::StatusOr<std::shared_ptr<const World>> Create(
      std::shared_ptr<const redfish::Capture> capture,
      std::shared_ptr<const redfish::Schema> schema, WorldOptions options = {});
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  std::span<const Resource> resources() const { return resources_; }
  const Resource& resource(ResourceId id) const { return resources_[id]; }
  // Null when absent. `uri` is canonical: see CanonicalUri.
  const ResourceId* Find(std::string_view uri) const;
  const Action* FindAction(std::string_view uri) const;
  std::span<const ResourceId> systems() const { return systems_; }

  const redfish::Capture& capture() const { return *capture_; }
  const redfish::Schema& schema() const { return *schema_; }
  const WorldOptions& options() const { return options_; }
  std::size_t dangling_count() const { return dangling_count_; }

 private:
  struct Index;

  World();

  std::shared_ptr<const redfish::Capture> capture_;
  std::shared_ptr<const redfish::Schema> schema_;
  WorldOptions options_;
  std::vector<Resource> resources_;
  std::vector<ResourceId> systems_;
  std::unique_ptr<Index> index_;
  std::size_t dangling_count_ = 0;
};

// Without query, fragment, trailing slash and doubled slashes; `storage` holds the text when it had
// to be rewritten, otherwise the result borrows from `uri`.
std::string_view CanonicalUri(std::string_view uri, std::string& storage);

}  // namespace shoal::mockserver
