// SPDX-License-Identifier: Apache-2.0
// A proxy that stands in for a real host: forwards requests to it, returns its answers, and records
// both.
//
// An answer has the host's status, header fields (forwarded_headers.h) and body. Each answer is
// read whole before it is returned, so that its size is bounded and it is recorded whole or not at
// all. Redirects are left to the client. A request that is not forwarded gets a Redfish error:
//   400, 404, 501  see ProxyRules::TargetOf; 501 also for a request for an event stream, whose end
//                  the proxy would wait for in vain
//   403            a mutation that is not allowed; the error says how to allow it. It is not 405,
//                  since the resource may well take the method and list it in Allow
//   503            too many requests wait
//   504, 502       the host is too slow; is down, not trusted, not HTTP, or sends too much
// Of a request only the method and path are ever logged. Thread-safe.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "mockserver/proxy/origin.h"
#include "mockserver/proxy/proxy_recording.h"
#include "mockserver/proxy/proxy_rules.h"
#include "platform/http/message.h"
#include "platform/runtime/clock.h"
#include "platform/runtime/metrics.h"
#include "platform/runtime/status.h"
#include "redfish/discovery/crawl_options.h"

namespace shoal::mockserver {

struct ProxySettings {
  // The options of Origin. With a user, the proxy's own login replaces the credentials of clients.
  // Without one, clients' credentials are forwarded, and logging in is a mutation like any other.
  discovery::CrawlOptions access = {};
  ProxyRules rules = {};
  // Nothing disables recording.
  std::optional<RecordingOptions> recording = std::nullopt;
};

class Proxy {
 public:
  // Borrows `metrics` and `clock`. Does not connect yet, so a host that is down is no error.
  // Returns the errors of ProxyRecording::Open.
  static absl::StatusOr<std::unique_ptr<Proxy>> Create(
      ProxySettings settings, runtime::Metrics& metrics,
      runtime::Clock& clock = runtime::SystemClock());
  ~Proxy();
  Proxy(const Proxy&) = delete;
  Proxy& operator=(const Proxy&) = delete;

  // Never blocks: answers of the host are deferred.
  http::ServerResponse Handle(const http::ServerRequest& request);

  // Gives up requests in progress, logs out and writes the capture. Call it once, after the server
  // was drained. Returns the recording's error, from now or before. A capture that cannot be
  // written yet and a logout that fails are only logged.
  absl::Status Close(std::chrono::milliseconds patience);

 private:
  struct Counters;
  struct Exchange;

  Proxy(ProxySettings settings, std::unique_ptr<ProxyRecording> recording,
        runtime::Metrics& metrics, runtime::Clock& clock);

  http::ServerResponse Forward(std::shared_ptr<const Exchange> exchange);
  http::ServerResponse Conclude(const Exchange& exchange,
                                absl::StatusOr<http::ClientResponse> response, double milliseconds);
  void Record(const Exchange& exchange, const http::ClientResponse& response, double milliseconds);

  const ProxyRules rules_;
  // "host:port".
  const std::string address_;
  const bool logs_in_;
  const std::unique_ptr<Counters> counters_;

  // Used only by origin_'s thread, and by Close once that thread has ended. Null when recording is
  // off.
  const std::unique_ptr<ProxyRecording> recording_;
  // The error that ended the recording.
  absl::Status recording_error_;

  // The last member, because its thread uses those above.
  Origin origin_;
};

}  // namespace shoal::mockserver
