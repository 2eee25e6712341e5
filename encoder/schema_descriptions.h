// SPDX-License-Identifier: Apache-2.0
// What DMTF's JSON Schema says about requests: the descriptions of properties, of their values, and
// of actions.
//
// A request is described by each of the values that it sets, "The boot settings ... Boot from the
// Pre-boot eXecution Environment (PXE).", and by its action. OEM types and properties have no
// description. Immutable after Load; thread-safe.
#pragma once

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>

#include "platform/runtime/status.h"
#include "redfish/catalog/candidate.h"

namespace shoal::encoder {

class SchemaDescriptions {
 public:
  // `path` is an archive or a folder of JSON Schema documents, such as
  // data/schema/json-schema.tar.xz. Returns the errors of redfish::ReadArchive, or DATA_LOSS naming
  // the document that is no JSON object.
  static absl::StatusOr<std::unique_ptr<const SchemaDescriptions>> Load(const std::string& path);

  // Returns what is said about `candidate`; nothing for one that reads, waits or composes. Texts
  // are sentences, without marks of code.
  std::set<std::string> Of(const redfish::Candidate& candidate) const;

 private:
  SchemaDescriptions() = default;

  // What a reference leads to, and the document that it is in.
  struct Place {
    const nlohmann::json* schema = nullptr;
    const nlohmann::json* document = nullptr;
  };

  // Returns null where there is none.
  const nlohmann::json* DocumentOf(std::string_view type) const;
  // Follows "$ref", also where it is one of "anyOf". Returns `place` when it is no reference.
  Place Followed(Place place) const;
  void AddLeaves(Place place, const nlohmann::json& value, std::set<std::string>& texts) const;

  // By the name of the file without ".json".
  std::map<std::string, nlohmann::json, std::less<>> documents_;
};

}  // namespace shoal::encoder
