// SPDX-License-Identifier: Apache-2.0
// Makes a capture from a crawl's journal: pages are joined to their collections, each URI gets one
// spelling, and a manifest is written.
//
// A resource gets the majority spelling (Spelling, below) only where its own "@odata.id" differs
// from its URI in case alone and no other resource has the new name; of two equal resources one
// stays. When several records have one URI, the last one counts. A record with a member "aside"
// describes no resource: a proxy uses such records for requests that change something beside what
// it reads.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "platform/runtime/clock.h"
#include "platform/runtime/status.h"
#include "redfish/capture/manifest.h"
#include "redfish/discovery/journal.h"

namespace shoal::discovery {

inline constexpr const char* kAside = "aside";

struct Assembled {
  std::int64_t resources = 0;
  // The number of URIs that answered with something else than a resource.
  std::int64_t absent = 0;
  std::int64_t redacted = 0;
};

// Returns the current time in the format of Manifest::finished.
std::string DateOf(const runtime::Clock& clock);

// Writes the capture into `folder` (capture_writer.h). `manifest` supplies what the journal does
// not know; `address` ("host:port") is that of the service. Borrows the journal.
absl::StatusOr<Assembled> Assemble(const Journal& journal, const std::string& folder,
                                   const std::string& address, redfish::Manifest manifest);

// Chooses one spelling for URIs that a service writes with varying case.
//
// Some services (iLO) link to ".../systems/1/bios" and ".../Systems/1": a tree of both is two half
// trees. Each prefix gets the spelling that most URIs have; among equally many, the first in byte
// order.
class Spelling {
 public:
  // `uris` are canonical.
  explicit Spelling(const std::vector<std::string>& uris);

  // Returns `uri`, which is one of the constructor's, with each prefix in its most frequent
  // spelling.
  std::string Of(std::string_view uri) const;

 private:
  // Maps a prefix in lower case to the spelling of its last segment that most URIs use.
  std::map<std::string, std::string, std::less<>> segments_;
};

}  // namespace shoal::discovery
