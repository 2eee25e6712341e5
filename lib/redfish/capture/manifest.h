// SPDX-License-Identifier: Apache-2.0
// A capture's manifest.json: the facts about a recorded service besides its bodies.
//
//   {"format": "shoal-capture/1", "source": "https://bmc.lab", "finished": "2026-01-31T12:00:00Z",
//    "redacted": 12, "skipped": 40,
//    "resources": {"/redfish/v1": {"status": 200, "methods": ["GET", "HEAD"], "ms": 4.2,
//                                  "headers": {"ETag": "\"1\""}, "sha256": "..."}},
//    "failed": {"/redfish/v1/X": "no answer"}}
//
// A capture is complete without a manifest. "sha256" is the checksum of the resource's file. A URI
// whose answer was no resource is listed without it. Plain values, not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "platform/runtime/status.h"
#include "redfish/capture/archive.h"

namespace shoal::redfish {

inline constexpr std::string_view kManifestFile = "manifest.json";

struct ManifestEntry {
  int status = 0;
  // The methods that the service's Allow header names; empty when there was no such header.
  std::vector<std::string> methods = {};
  std::map<std::string, std::string> headers = {};
  // The time from request to answer.
  double milliseconds = 0;
  // 64 hexadecimal digits; empty when no body was kept.
  std::string sha256 = {};
  // The reason why the body of an answer was not kept; empty otherwise.
  std::string note = {};

  nlohmann::json ToJson() const;
  // A member that is missing or of another type keeps its default.
  static ManifestEntry From(const nlohmann::json& json);
};

struct Manifest {
  // scheme://host:port, or the name of what was imported.
  std::string source = {};
  // RFC 3339, UTC.
  std::string finished = {};
  // The number of texts that redaction replaced.
  std::int64_t redacted = 0;
  // The number of URIs that were found and, by choice, not requested.
  std::int64_t skipped = 0;
  // The entries by canonical URI.
  std::map<std::string, ManifestEntry, std::less<>> resources = {};
  // URIs that never answered, or answered only with transient errors, each with the reason.
  std::map<std::string, std::string, std::less<>> failed = {};

  std::string ToJson() const;
  // Returns DATA_LOSS, saying where `text` is no manifest.
  static absl::StatusOr<Manifest> Parse(std::string_view text);
};

// Returns the methods of an Allow header, sorted by name.
std::vector<std::string> MethodsIn(std::string_view allow);

struct FoundManifest {
  Manifest manifest;
  // The folder of the manifest in the archive or folder, with '/' at its end; empty at the top.
  std::string folder;
};

// Returns the uppermost manifest in `tree`, or nothing when there is none. DATA_LOSS naming the
// file and `source`, from which `tree` was read.
absl::StatusOr<std::optional<FoundManifest>> FindManifest(const Archive& tree,
                                                          const std::string& source);

}  // namespace shoal::redfish
