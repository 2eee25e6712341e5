// SPDX-License-Identifier: Apache-2.0
// Writes a capture folder as Capture reads it: `<path>/index.json` below "redfish/v1", and
// manifest.json.
//
//   SHOAL_ASSIGN_OR_RETURN(auto writer, CaptureWriter::Create(folder));
//   SHOAL_RETURN_IF_ERROR(writer->Add("/redfish/v1", body));
//   SHOAL_RETURN_IF_ERROR(writer->Commit(manifest));
//
// Bodies and manifest go into `.fresh` beside the existing capture. When everything is on the disk,
// Commit moves the old capture into `.old`, then the new tree and at last the new manifest into
// place, and removes `.old`. A process that dies in Commit leaves the new capture if the manifest
// was already moved. Otherwise the old capture is still complete, in its place or in `.old`, from
// where the next Create brings it back. Not thread-safe; at most one writer may use a folder.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "platform/runtime/status.h"
#include "redfish/capture/archive.h"
#include "redfish/capture/capture_import.h"
#include "redfish/capture/manifest.h"

namespace shoal::redfish {

// Returns "redfish/v1/Systems/index.json" for a canonical URI. Returns nothing when the URI is not
// below the service root or would be an unsafe path: "..", ".", control characters, a segment that
// is too long or is called index.json.
std::optional<std::string> CaptureFileOf(std::string_view uri);

// Returns the bytes that captures store for a body.
std::string CaptureText(const nlohmann::json& body);

class CaptureWriter {
 public:
  // FAILED_PRECONDITION when `folder` has a `redfish` that is not a capture, since Commit would
  // remove it.
  static absl::Status Check(const std::string& folder);

  // Makes `folder` when it is missing, removes what an earlier writer left unfinished, and restores
  // what that writer had put aside. Fails as Check does. Like every call here, it may fail with
  // INTERNAL or RESOURCE_EXHAUSTED, naming a path.
  static absl::StatusOr<std::unique_ptr<CaptureWriter>> Create(const std::string& folder);

  // Writes the body and records its checksum. INVALID_ARGUMENT for a URI without a file.
  absl::Status Add(const std::string& uri, const nlohmann::json& body);
  // Puts the tree and then the manifest in place, with the checksums that Add recorded. Returns
  // DATA_LOSS and changes nothing when no service root was added.
  absl::Status Commit(Manifest manifest);

 private:
  explicit CaptureWriter(std::string folder);

  // Undoes an unfinished Commit.
  absl::Status Restore() const;

  const std::string folder_;
  const std::string fresh_;
  const std::string old_;
  std::map<std::string, std::string> checksums_;
};

// Packs a capture into one archive, as this repository ships them.
//
// Returns the bytes of a .tar.xz of <name>/redfish/v1/..., <name>/manifest.json and <name>/LICENSE,
// which holds `licence`. The same capture, manifest and licence give the same bytes.
// INVALID_ARGUMENT for a `name` that cannot be a file's, an empty licence, or a URI that cannot be
// the path of a file; INTERNAL.
absl::StatusOr<std::string> PackCapture(const ImportedCapture& imported, const std::string& name,
                                        std::string_view licence, const PackObserver& observer);

}  // namespace shoal::redfish
