// SPDX-License-Identifier: Apache-2.0
// Makes a capture of what a crawl's journal holds: pages joined to their collections, one spelling
// for each URI, a manifest.
//
// A resource takes the spelling of the others (spelling.h) only where its own "@odata.id" differs
// from that in capitals alone and no other resource has the name; of two that are one, one stays.
// When several records name one URI, the last one counts. A record with a member "aside" describes
// no resource: a proxy records requests that change something beside what it reads.
#pragma once

#include <cstdint>
#include <string>

#include "platform/runtime/clock.h"
#include "platform/runtime/status.h"
#include "redfish/capture/manifest.h"
#include "redfish/discovery/journal.h"

namespace shoal::discovery {

inline constexpr const char* kAside = "aside";

struct Assembled {
  std::int64_t resources = 0;
  // URIs that answered with something else than a resource.
  std::int64_t absent = 0;
  std::int64_t redacted = 0;
};

// Now, as Manifest::finished has it.
std::string DateOf(const runtime::Clock& clock);

// Writes the capture into `folder` (capture_writer.h). `manifest` brings what the journal does not
// know; `address` ("host:port") is where the service was. Borrows the journal.
absl::StatusOr<Assembled> Assemble(const Journal& journal, const std::string& folder,
                                   const std::string& address, redfish::Manifest manifest);

}  // namespace shoal::discovery
