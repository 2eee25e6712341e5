// SPDX-License-Identifier: Apache-2.0
// Runs crawls in processes of their own that end by SIGKILL. A test program that uses this is
// started again as the child, so it must contain the hidden test case of killed_crawl.cc.
#pragma once

#include <cstdint>
#include <string>

#include "redfish/discovery/discover.h"

namespace shoal::discovery {

// A complete crawl of the service at `address`, which was made from the shipped capture, into
// `folder`.
struct CrawlToKill {
  std::string capture;
  std::string address;
  std::string folder;
};

Discovery DiscoveryOf(const CrawlToKill& crawl);

// Kills the crawl when it has made `requests` requests, or never if 0. Returns true if it ended
// before.
bool CrawlAndDie(const CrawlToKill& crawl, std::int64_t requests);

// Kills the crawl `micros` microseconds after nearly all requests were answered, while the capture
// is written. Only for captures with more than 250 resources.
bool CrawlAndDieWriting(const CrawlToKill& crawl, int micros);

// Crawls a shipped capture that is killed `kills` times at random moments, sometimes with the
// journal's end lost or torn, and REQUIREs that each resulting capture equals the service's.
void RequireSameAfterKills(const std::string& capture, int kills);

}  // namespace shoal::discovery
