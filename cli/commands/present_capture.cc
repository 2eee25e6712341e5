// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/present_capture.h"

#include <absl/strings/str_format.h>
#include <stdlib.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "platform/display/live_line.h"
#include "redfish/discovery/discover.h"

namespace shoal::cli {
namespace {

// A folder that is removed again.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::error_code error;
    std::string pattern =
        (std::filesystem::temp_directory_path(error) / "shoal-do-XXXXXX").string();
    if (!error && ::mkdtemp(pattern.data()) != nullptr) path_ = pattern;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  // Empty when it could not be made.
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace

absl::StatusOr<std::shared_ptr<const redfish::Capture>> CrawlPresent(
    discovery::CrawlOptions crawl, const std::function<bool()>& stop) {
  const ScratchFolder folder;
  if (folder.path().empty()) return runtime::Internal("cannot make a temporary folder");
  crawl.sessions = true;
  const discovery::Discovery discovery = {.source = crawl.connection.address,
                                          .folder = folder.path() + "/capture",
                                          .crawl = std::move(crawl)};
  display::LiveLine line(std::chrono::seconds(2), runtime::SystemClock());
  SHOAL_ASSIGN_OR_RETURN(const discovery::DiscoveryResult result,
                         discovery::Discover(discovery, runtime::SystemClock(),
                                             [&](const discovery::CrawlProgress& progress) {
                                               line.Show([&](auto) {
                                                 return absl::StrFormat(
                                                     "reading the host: %d done, %d to do",
                                                     progress.done, progress.queued);
                                               });
                                               return stop();
                                             }));
  for (const auto& [uri, reason] : result.failed) {
    line.Note("cannot read " + uri + ", which counts as absent: " + reason);
  }
  return redfish::Capture::Load(discovery.folder);
}

}  // namespace shoal::cli
