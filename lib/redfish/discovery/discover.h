// SPDX-License-Identifier: Apache-2.0
// Crawls a service into a capture folder and continues a crawl that was interrupted.
//
// During a crawl the folder holds .crawl/journal (journal.h). At the end it holds the capture
// (redfish/capture/capture_writer.h) and no journal, unless URIs failed: then the next run requests
// only those. Blocks; at most one crawl may use a folder at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "platform/runtime/clock.h"
#include "platform/runtime/status.h"
#include "redfish/discovery/assembly.h"
#include "redfish/discovery/crawl_options.h"
#include "redfish/discovery/crawler.h"

namespace shoal::discovery {

struct Discovery {
  // The service for the manifest, such as "https://bmc.lab:443".
  std::string source = {};
  std::string folder = {};
  // Discards an earlier crawl in the folder.
  bool fresh = false;
  CrawlOptions crawl = {};
};

struct DiscoveryResult {
  Assembled capture = {};
  std::int64_t skipped = 0;
  // The number of links left out because of max_depth or max_resources.
  std::int64_t left_out = 0;
  CrawlProgress progress = {};
  std::map<std::string, std::string, std::less<>> failed = {};
  // The warnings of Crawler::warnings.
  std::vector<std::string> warnings = {};
};

// Unless `fresh`, returns ALREADY_EXISTS when the folder holds a complete capture of this source
// and no journal, and FAILED_PRECONDITION when it holds a crawl or a capture of another source or a
// crawl with other redaction. FAILED_PRECONDITION also when something in it is called "redfish" and
// is no capture, or when another process uses it. Other errors are those of Crawler::Run.
// `observer` may be empty.
absl::StatusOr<DiscoveryResult> Discover(const Discovery& discovery, runtime::Clock& clock,
                                         const Crawler::Observer& observer);

}  // namespace shoal::discovery
