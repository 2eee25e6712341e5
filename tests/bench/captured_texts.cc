// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/captured_texts.h"

#include <filesystem>
#include <set>
#include <system_error>

#include "platform/content/canonical_json.h"
#include "redfish/capture/capture.h"

namespace shoal::bench {

absl::Status VisitCapturedTexts(const std::string& folder,
                                const std::function<bool(std::string_view text)>& visit) {
  std::set<std::string> paths;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().string().ends_with(".tar.xz")) paths.insert(entry.path().string());
  }
  if (error || paths.empty()) return runtime::NotFound("no captures in " + folder);
  for (const std::string& path : paths) {
    SHOAL_ASSIGN_OR_RETURN(const auto capture, redfish::Capture::Load(path));
    for (const auto& [uri, body] : capture->resources()) {
      if (!visit(content::CanonicalJson(body, content::DefaultVolatileNames()))) {
        return absl::OkStatus();
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace shoal::bench
