// SPDX-License-Identifier: Apache-2.0
// A capture of a host as it is now, for commands that need one and keep none.
#pragma once

#include <functional>
#include <memory>

#include "platform/runtime/status.h"
#include "redfish/capture/capture.h"
#include "redfish/discovery/crawl_options.h"

namespace shoal::cli {

// Crawls the host into a temporary folder, sessions included, and shows the progress. `stop` is
// asked while the crawl goes on, and true ends it with CANCELLED. Resources that cannot be read
// are named and count as absent. Errors are those of discovery::Discover.
absl::StatusOr<std::shared_ptr<const redfish::Capture>> CrawlPresent(
    discovery::CrawlOptions crawl, const std::function<bool()>& stop);

}  // namespace shoal::cli
