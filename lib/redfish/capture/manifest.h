// SPDX-License-Identifier: Apache-2.0
// What is known of a recorded service besides its bodies: manifest.json of a capture.
//
//   {"format": "shoal-capture/1", "source": "https://bmc.lab", "finished": "2026-01-31T12:00:00Z",
//    "redacted": 12, "skipped": 40,
//    "resources": {"/redfish/v1": {"status": 200, "methods": ["GET", "HEAD"], "ms": 4.2,
//                                  "headers": {"ETag": "\"1\""}, "sha256": "..."}},
//    "failed": {"/redfish/v1/X": "no answer"}}
//
// A capture is whole without one. A URI whose answer was no resource is in it without "sha256",
// which is of the file's bytes. Plain values, not thread-safe.
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
  // As the service's Allow says; empty when it said nothing.
  std::vector<std::string> methods = {};
  std::map<std::string, std::string> headers = {};
  // From request to answer.
  double milliseconds = 0;
  // 64 hexadecimal digits; empty when no body was kept.
  std::string sha256 = {};
  // Why no body was kept of an answer that has one; empty otherwise.
  std::string note = {};

  nlohmann::json ToJson() const;
  // Members that are missing or of another type are as above.
  static ManifestEntry From(const nlohmann::json& json);
};

struct Manifest {
  // scheme://host:port, or the name of what was imported.
  std::string source = {};
  // RFC 3339, UTC.
  std::string finished = {};
  // Texts that redaction replaced.
  std::int64_t redacted = 0;
  // URIs that were seen and, by choice, not asked for.
  std::int64_t skipped = 0;
  // By canonical URI.
  std::map<std::string, ManifestEntry, std::less<>> resources = {};
  // URIs that never answered, or only with errors that pass; why.
  std::map<std::string, std::string, std::less<>> failed = {};

  std::string ToJson() const;
  // DATA_LOSS saying where `text` is no manifest.
  static absl::StatusOr<Manifest> Parse(std::string_view text);
};

// The methods of an Allow header, in order of their names.
std::vector<std::string> MethodsIn(std::string_view allow);

struct FoundManifest {
  Manifest manifest;
  // Where it lies in the archive or folder, with '/' at its end; empty at the top.
  std::string folder;
};

// The uppermost manifest in `tree`; nothing when there is none. DATA_LOSS naming `source`, which
// `tree` was read from, and the file.
absl::StatusOr<std::optional<FoundManifest>> FindManifest(const Archive& tree,
                                                          const std::string& source);

}  // namespace shoal::redfish
