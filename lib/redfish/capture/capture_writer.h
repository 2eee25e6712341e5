// SPDX-License-Identifier: Apache-2.0
// Writes a capture folder as Capture reads it: `<path>/index.json` below "redfish/v1", and
// manifest.json.
//
//   SHOAL_ASSIGN_OR_RETURN(auto writer, CaptureWriter::Create(folder));
//   SHOAL_RETURN_IF_ERROR(writer->Add("/redfish/v1", body));
//   SHOAL_RETURN_IF_ERROR(writer->Commit(manifest));
//
// Bodies and manifest go into `.fresh` beside the capture that is there. When all is on the disk,
// Commit moves the old capture into `.old`, the new tree and at last the new manifest into its
// place, and removes `.old`. Whoever dies in Commit leaves the new capture when the manifest was
// moved; before that the old one is whole, in its place or in `.old`, from where the next Create
// brings it back. Not thread-safe; one writer a folder.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "platform/runtime/status.h"
#include "redfish/capture/manifest.h"

namespace shoal::redfish {

// "redfish/v1/Systems/index.json" of a canonical URI; nothing when it is not below the service root
// or would be no such path: "..", ".", control characters, a segment that is too long or is called
// index.json.
std::optional<std::string> CaptureFileOf(std::string_view uri);

// Returns a body's bytes as captures have them.
std::string CaptureText(const nlohmann::json& body);

class CaptureWriter {
 public:
  // FAILED_PRECONDITION when `folder` has a `redfish` that is no capture, which Commit would
  // remove.
  static absl::Status Check(const std::string& folder);

  // Makes `folder` when it is missing, removes what an earlier writer left unfinished, and restores
  // what that writer had put aside. Fails as Check does; like every call here it may fail with
  // INTERNAL or RESOURCE_EXHAUSTED, naming a path.
  static absl::StatusOr<std::unique_ptr<CaptureWriter>> Create(const std::string& folder);

  // Writes the body and notes its checksum. INVALID_ARGUMENT for a URI without a file.
  absl::Status Add(const std::string& uri, const nlohmann::json& body);
  // Puts the tree and then the manifest in place, with the checksums that Add noted. DATA_LOSS, and
  // nothing is changed, when no service root was added.
  absl::Status Commit(Manifest manifest);

 private:
  explicit CaptureWriter(std::string folder);

  // Undoes a Commit that was cut off.
  absl::Status Restore() const;

  const std::string folder_;
  const std::string fresh_;
  const std::string old_;
  std::map<std::string, std::string> checksums_;
};

}  // namespace shoal::redfish
