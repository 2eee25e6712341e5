// SPDX-License-Identifier: Apache-2.0
// DMTF's published documents as a service hosts them: CSDL, JSON Schema and registries.
//
// They are loaded once per process and shared by all worlds. Each document is held compressed, 2 MB
// instead of 17 MB in all, and unpacked on request. Immutable after Load, and safe for any number
// of threads.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "platform/runtime/status.h"
#include "platform/runtime/text_map.h"

namespace shoal::mockserver {

inline constexpr std::string_view kXmlType = "application/xml";
inline constexpr std::string_view kJsonType = "application/json";

struct Document {
  // Null when there is no such document.
  std::shared_ptr<const std::string> bytes = {};
  // Either kXmlType or kJsonType.
  std::string_view content_type = {};
};

struct StandardDocumentsOptions {
  std::string csdl = "data/schema/csdl.tar.xz";
  std::string json_schema = "data/schema/json-schema.tar.xz";
  std::string registries = "data/registries/registries.tar.xz";
};

class StandardDocuments {
 public:
  // A hosted JSON Schema or registry.
  struct Entry {
    // "ComputerSystem" for a schema, "Base" for a registry.
    std::string name;
    // The name with its version, where it has one: "ComputerSystem.v1_24_0", "Base.1.22.1".
    std::string versioned;
    std::string uri;
  };

  // Returns the errors of ReadArchive.
  static absl::StatusOr<std::shared_ptr<const StandardDocuments>> Load(
      const StandardDocumentsOptions& options);

  // Returns the document that is hosted at the canonical `uri`:
  //   /redfish/v1/Schemas/ComputerSystem_v1.xml
  //   /redfish/v1/Schemas/ComputerSystem.v1_24_0.json
  //   /redfish/v1/Registries/Base.1.22.1/Base.1.22.1.json
  Document Find(std::string_view uri) const;
  bool Has(std::string_view uri) const { return documents_.contains(uri); }

  // Returns the URI of the JSON Schema for a type such as "#ComputerSystem.v1_16_0.ComputerSystem".
  // When that version is not hosted, it is the newest with the same major version, which has all
  // properties of the older ones. Returns an empty text for a type that is not DMTF's.
  std::string_view SchemaUri(std::string_view odata_type) const;
  // Does the same for a registry such as "Base.1.18.0".
  std::string_view RegistryUri(std::string_view registry) const;

  // Sorted by name. Each schema or registry appears once.
  const std::vector<Entry>& schemas() const { return schemas_; }
  const std::vector<Entry>& registries() const { return registries_; }

  std::size_t size() const { return documents_.size(); }
  // The memory that the documents take, in bytes.
  std::size_t packed_bytes() const { return packed_bytes_; }

 private:
  struct Packed {
    std::string bytes;
    std::size_t size = 0;
    std::string_view content_type;
  };

  absl::Status AddCsdl(const std::string& path);
  absl::Status AddJsonSchemas(const std::string& path);
  absl::Status AddRegistries(const std::string& path);
  void Add(std::string uri, const std::string& bytes, std::string_view content_type);

  runtime::TextMap<Packed> documents_;
  std::vector<Entry> schemas_;
  std::vector<Entry> registries_;
  std::size_t packed_bytes_ = 0;
};

}  // namespace shoal::mockserver
