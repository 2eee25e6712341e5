// SPDX-License-Identifier: Apache-2.0
// A recorded Redfish service: the body of every resource by canonical URI.
//
// Captures are `<path>/index.json` trees in a .tar.xz archive or a folder, with or without
// "redfish/v1" in the path; both become "/redfish/v1/...". A resource recorded as {"error": ...} is
// absent. Pages of a collection ("Sensors?$skip=50/index.json") become part of it. A registry or
// schema in a file of its own ("Registries/Base.1.5.0.json") is at the URI by which a resource
// names it. Immutable after Load, shared by pointer, safe for any number of threads.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "platform/runtime/status.h"
#include "redfish/capture/archive.h"

namespace shoal::redfish {

// The name of a resource's file in its folder.
inline constexpr std::string_view kIndexFile = "index.json";

class Capture {
 public:
  using Resources = std::map<std::string, nlohmann::json, std::less<>>;

  // `path` is as FindCapture makes it. Every error names the file. NOT_FOUND: nothing is there.
  // DATA_LOSS: an archive is corrupt, a body is no JSON object, or there is no service root.
  static absl::StatusOr<std::shared_ptr<const Capture>> Load(const std::string& path);
  // Makes the capture from files that were read from `path` before; they include at least every
  // ".json" file.
  static absl::StatusOr<std::shared_ptr<const Capture>> FromArchive(const Archive& tree,
                                                                    const std::string& path);

  // Makes a capture from bodies in memory and canonicalises their URIs; tests and crawls use it.
  // Fails with DATA_LOSS when there is no service root.
  static absl::StatusOr<std::shared_ptr<const Capture>> FromResources(std::string name,
                                                                      Resources resources);

  const Resources& resources() const { return resources_; }
  // Returns nullptr when the service has no such resource. `uri` is canonical.
  const nlohmann::json* Find(std::string_view uri) const;
  const nlohmann::json& service_root() const { return *service_root_; }
  // Returns the @odata.type of the first resource of `type`, such as "#Chassis", in any version;
  // empty when there is none.
  std::string_view TypeOfFirst(std::string_view type) const;

  // The file name without folders and ".tar.xz"; with "~" and the seed for a variant.
  const std::string& name() const { return name_; }
  // 64 hexadecimal digits: the SHA-256 of the archive, or of the canonical resources of a folder.
  const std::string& digest() const { return digest_; }
  // The number of members that collections list and the capture lacks: a GET of one is a 404.
  std::int64_t dangling_count() const { return dangling_count_; }
  // The number of recorded {"error": ...} bodies that were left out.
  std::int64_t error_count() const { return error_count_; }

 private:
  Capture(std::string name, Resources resources);
  void DropErrors();
  void CountDangling();
  void ListTypes();

  const std::string name_;
  Resources resources_;
  const nlohmann::json* service_root_ = nullptr;
  std::string digest_;
  // Maps a type without its version to the @odata.type that the capture uses.
  std::map<std::string, std::string, std::less<>> types_;
  std::int64_t dangling_count_ = 0;
  std::int64_t error_count_ = 0;
};

}  // namespace shoal::redfish
