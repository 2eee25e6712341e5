// SPDX-License-Identifier: Apache-2.0
// A service into a capture folder, taken up where an earlier run was cut off.
//
// While it goes on the folder holds .crawl/journal (journal.h); at the end the capture
// (redfish/capture_writer.h) and no journal, unless URIs failed: then the next run asks for those
// alone. Blocks; one crawl a folder at a time.
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
  // "https://bmc.lab:443", for the manifest.
  std::string source = {};
  std::string folder = {};
  // Forgets what the folder holds of an earlier crawl.
  bool fresh = false;
  CrawlOptions crawl = {};
};

struct DiscoveryResult {
  Assembled capture = {};
  std::int64_t skipped = 0;
  // Found too deep, or one too many.
  std::int64_t left_out = 0;
  CrawlProgress progress = {};
  std::map<std::string, std::string, std::less<>> failed = {};
  // As Crawler::warnings.
  std::vector<std::string> warnings = {};
};

// ALREADY_EXISTS: the folder holds a whole capture of this source. FAILED_PRECONDITION: it holds a
// crawl or, unless `fresh`, a capture of another one, a crawl with other redaction, or something
// called "redfish" that is no capture; or it is in use. Otherwise as Crawler::Run. `observer` may
// be empty.
absl::StatusOr<DiscoveryResult> Discover(const Discovery& discovery, runtime::Clock& clock,
                                         const Crawler::Observer& observer);

}  // namespace shoal::discovery
