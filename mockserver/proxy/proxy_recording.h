// SPDX-License-Identifier: Apache-2.0
// Records the traffic of a proxy as a capture: every exchange in a journal, and the resources that
// were read in the folder format of lib/redfish/capture/capture.h.
//
// The folder holds .proxy/journal (redfish/discovery/journal.h) with one record per exchange:
// method, target, status, headers, milliseconds, and both bodies where they are JSON objects.
// Headers with credentials and, unless redaction is off, secrets in bodies are removed before
// anything is written. A recording that was killed at any point continues from its journal, and the
// journal stays beside the capture.
//
// A resource is the newest answer to its GET that was 200, or 404 or 410, which make it absent.
// Pages are joined to their collections. Everything else is only in the journal. Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "mockserver/messages/message.h"
#include "platform/http/message.h"
#include "platform/runtime/clock.h"
#include "platform/runtime/status.h"
#include "redfish/capture/redaction.h"
#include "redfish/discovery/assembly.h"
#include "redfish/discovery/journal.h"

namespace shoal::mockserver {

struct RecordingOptions {
  std::string folder = {};
  // The real host as "https://bmc.lab:443", and as "bmc.lab:443".
  std::string source = {};
  std::string address = {};
  // Nothing keeps bodies as they come.
  std::optional<redfish::RedactionOptions> redaction = redfish::RedactionOptions{};
  // The limit of the journal. Exchanges past it are not recorded.
  std::int64_t max_bytes = std::int64_t{1} << 30;
};

// A request as it was sent to the host.
struct RecordedRequest {
  Method method = Method::kGet;
  std::string target = {};
  std::string body = {};
};

class ProxyRecording {
 public:
  // Opens a new or existing recording. A journal with records is turned into a capture at once.
  // FAILED_PRECONDITION: the folder has a capture or a crawl that no proxy recorded, that is
  // another host's, or that has other redaction; or it is in use. Otherwise returns the errors of
  // Journal::Open.
  static absl::StatusOr<std::unique_ptr<ProxyRecording>> Open(RecordingOptions options,
                                                              const runtime::Clock& clock);

  // Returns RESOURCE_EXHAUSTED at max_bytes or when the disk is full, and INTERNAL naming the path.
  absl::Status Add(const RecordedRequest& request, const http::ClientResponse& response,
                   double milliseconds);

  // Writes the capture, replacing the present one. Returns NOT_FOUND, and writes nothing, as long
  // as nobody has read the service root.
  absl::StatusOr<discovery::Assembled> Write();

  std::size_t exchanges() const { return journal_->size(); }

 private:
  ProxyRecording(RecordingOptions options, const runtime::Clock& clock, std::string path,
                 std::unique_ptr<discovery::Journal> journal);

  const RecordingOptions options_;
  const runtime::Clock& clock_;
  const std::string path_;
  const std::unique_ptr<discovery::Journal> journal_;
};

}  // namespace shoal::mockserver
