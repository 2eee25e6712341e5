// SPDX-License-Identifier: Apache-2.0
// Captures that others made, as ours: read in any layout, written as a folder with a manifest.
//
// Read are trees of `<path>/index.json` with or without "redfish/v1" (DSP2043 mockups, DMTF's
// mockup creator, whose headers.json say the methods; python-redfish's), and flat folders of one
// JSON file a resource; each as a folder or as a tar archive. A flat file's URI is its own
// "@odata.id", or what a map says.
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

// URI by file, relative to the folder.
using FileMap = std::map<std::string, std::string, std::less<>>;

// From {"file.json": "/redfish/v1/..."}, or the other way round. NOT_FOUND, DATA_LOSS naming
// `path`.
absl::StatusOr<FileMap> LoadFileMap(const std::string& path);

struct ImportedCapture {
  std::shared_ptr<const Capture> capture;
  // What was recorded besides bodies, headers that are credentials left out; checksums are left to
  // the writer.
  Manifest manifest = {};
};

// `files` is of flat folders. Errors as of Capture::Load, and DATA_LOSS naming a flat file that has
// no URI, or two that have one.
absl::StatusOr<ImportedCapture> ImportCapture(const std::string& path, const FileMap* files);

// Told of resources written, and of how many there are.
using CopyObserver = std::function<void(std::int64_t, std::int64_t)>;

// Writes `imported` into `folder`, redacted if asked. INVALID_ARGUMENT naming a URI that cannot be
// the path of a file; otherwise as of CaptureWriter.
absl::Status WriteCapture(const ImportedCapture& imported, const std::string& folder,
                          const std::optional<RedactionOptions>& redaction,
                          const CopyObserver& observer = {});

}  // namespace shoal::redfish
