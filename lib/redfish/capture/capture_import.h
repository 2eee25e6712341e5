// SPDX-License-Identifier: Apache-2.0
// Imports captures that others made: it reads them in any layout and writes them as a folder with a
// manifest.
//
// Two layouts are read, each as a folder or as a tar archive. The first is a tree of
// `<path>/index.json` with or without "redfish/v1": DSP2043 mockups, python-redfish's, and those of
// DMTF's mockup creator, whose headers.json list the methods. The second is a flat folder of one
// JSON file for each resource. A map gives the URI of each flat file; without one it is the file's
// own "@odata.id".
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "platform/runtime/status.h"
#include "redfish/capture/capture.h"
#include "redfish/capture/manifest.h"
#include "redfish/capture/redaction.h"

namespace shoal::redfish {

// Maps a file, relative to the folder, to its URI.
using FileMap = std::map<std::string, std::string, std::less<>>;

// Reads {"file.json": "/redfish/v1/..."}, or the reverse. Fails with NOT_FOUND or DATA_LOSS, naming
// `path`.
absl::StatusOr<FileMap> LoadFileMap(const std::string& path);

struct ImportedCapture {
  std::shared_ptr<const Capture> capture;
  // The records besides bodies, without headers that are credentials. The writer adds the
  // checksums.
  Manifest manifest = {};
};

// `files` is the map of a flat folder. Fails as Capture::Load does, and with DATA_LOSS naming a
// flat file that has no URI, or two files that share one.
absl::StatusOr<ImportedCapture> ImportCapture(const std::string& path, const FileMap* files);

// An observer receives the number of resources written so far and the number of all resources.
using CopyObserver = std::function<void(std::int64_t, std::int64_t)>;

// Writes `imported` into `folder`, redacted if asked. Fails with INVALID_ARGUMENT, naming a URI
// that cannot be the path of a file, and otherwise as CaptureWriter does.
absl::Status WriteCapture(const ImportedCapture& imported, const std::string& folder,
                          const std::optional<RedactionOptions>& redaction,
                          const CopyObserver& observer = {});

}  // namespace shoal::redfish
