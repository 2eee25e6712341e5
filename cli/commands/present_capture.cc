// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/present_capture.h"

#include <absl/strings/str_format.h>

#include <chrono>
#include <string>
#include <utility>

#include "platform/display/live_line.h"
#include "platform/runtime/scratch_folder.h"
#include "redfish/discovery/discover.h"

namespace shoal::cli {

absl::StatusOr<std::shared_ptr<const redfish::Capture>> CrawlPresent(
    discovery::CrawlOptions crawl, const std::function<bool()>& stop) {
  const runtime::ScratchFolder folder;
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
