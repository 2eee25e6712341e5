// SPDX-License-Identifier: Apache-2.0
#include "redfish/capture/capture_pack.h"

#include <optional>
#include <utility>
#include <vector>

#include "platform/content/content_key.h"
#include "redfish/capture/capture_writer.h"

namespace shoal::redfish {

absl::StatusOr<std::string> PackCapture(const ImportedCapture& imported, const std::string& name,
                                        std::string_view licence, const PackObserver& observer) {
  if (name.empty() || name.starts_with('.') || name.find('/') != std::string::npos) {
    return runtime::InvalidArgument("\"" + name + "\" is no name of a capture");
  }
  if (licence.empty()) return runtime::InvalidArgument("the licence is empty");
  Manifest manifest = imported.manifest;
  std::vector<ArchiveFile> files;
  for (const auto& [uri, body] : imported.capture->resources()) {
    const std::optional<std::string> file = CaptureFileOf(uri);
    if (!file) return runtime::InvalidArgument(uri + " cannot be the path of a file");
    std::string text = CaptureText(body);
    manifest.resources[uri].sha256 = content::Sha256Hex(text);
    files.push_back({name + "/" + *file, std::move(text)});
  }
  files.push_back({name + "/" + std::string(kManifestFile), manifest.ToJson()});
  files.push_back({name + "/LICENSE", std::string(licence)});
  return PackArchive(std::move(files), observer);
}

}  // namespace shoal::redfish
