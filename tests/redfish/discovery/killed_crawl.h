// SPDX-License-Identifier: Apache-2.0
// Crawls in processes of their own that end by SIGKILL. A program that uses it is started again as
// the child, so it holds killed_crawl.cc's hidden case.
#pragma once

#include <cstdint>
#include <string>

#include "redfish/discovery/discover.h"

namespace shoal::discovery {

// Of the shipped capture that the service at `address` was made from, whole, into `folder`.
struct CrawlToKill {
  std::string capture;
  std::string address;
  std::string folder;
};

Discovery DiscoveryOf(const CrawlToKill& crawl);

// Kills it when it has made `requests` requests. True when it came to its end before; 0 lets it.
bool CrawlAndDie(const CrawlToKill& crawl, std::int64_t requests);

// The same `micros` microseconds after nearly all was answered, while the capture is written; of
// captures with more than 250 resources.
bool CrawlAndDieWriting(const CrawlToKill& crawl, int micros);

// Crawls a shipped capture, killed `kills` times at random moments, some with the journal's end
// lost or torn, and REQUIREs each capture that comes of it to be the service's.
void RequireSameAfterKills(const std::string& capture, int kills);

}  // namespace shoal::discovery
