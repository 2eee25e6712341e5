// SPDX-License-Identifier: Apache-2.0
// What went through a proxy, as a capture: every exchange in a journal, and of what was read the
// folder that lib/redfish/capture/capture.h loads.
//
// The folder holds .proxy/journal (discovery/journal.h), a record an exchange: method, target,
// status, headers, milliseconds, and the bodies both ways where they are JSON objects; secrets and
// headers that let their bearer in are taken out before anything is written. A recording that was
// killed anywhere goes on from its journal, and the journal stays beside the capture.
//
// A resource is what its newest GET was answered with, when that was 200 or, as absent, 404 or 410;
// pages are joined to their collections. Everything else is in the journal alone. Not thread-safe.
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
  // The real host: "https://bmc.lab:443", and "bmc.lab:443".
  std::string source = {};
  std::string address = {};
  // Nothing: bodies are kept as they come.
  std::optional<redfish::RedactionOptions> redaction = redfish::RedactionOptions{};
  // Of the journal; what comes past it is not recorded.
  std::int64_t max_bytes = std::int64_t{1} << 30;
};

// One request, as it was sent to the host.
struct RecordedRequest {
  Method method = Method::kGet;
  std::string target = {};
  std::string body = {};
};

class ProxyRecording {
 public:
  // Takes up what is there: a journal that holds something becomes a capture at once.
  // FAILED_PRECONDITION: the folder has a capture, or a crawl, that no proxy recorded; another
  // host's; one with other redaction; or it is in use. Otherwise as Journal::Open.
  static absl::StatusOr<std::unique_ptr<ProxyRecording>> Open(RecordingOptions options,
                                                              const runtime::Clock& clock);

  // RESOURCE_EXHAUSTED at max_bytes, or when the disk is full; INTERNAL naming the path.
  absl::Status Add(const RecordedRequest& request, const http::ClientResponse& response,
                   double milliseconds);

  // Writes the capture in place of the one that is there. NOT_FOUND, and nothing is written, as
  // long as nobody has asked for the service root.
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
