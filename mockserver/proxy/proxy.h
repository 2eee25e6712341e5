// SPDX-License-Identifier: Apache-2.0
// Stands in for a real host: passes on what it is asked, gives back what the host says, and records
// both.
//
// Status, header fields (forwarded_headers.h) and body of an answer are the host's; an answer is
// read whole before it is given on, so that it is bounded and recorded whole or not at all.
// Redirects are the client's to follow. What is not passed on gets a Redfish error:
//   400, 404, 501  see ProxyRules::TargetOf; 501 also where a stream of events is asked for, which
//                  has no end that could be waited for
//   403            a mutation that nobody named; the error says how to name it. Not 405: the
//                  resource may well take the method, and its Allow says so
//   503            too many requests wait
//   504, 502       the host is too slow; is down, not trusted, not HTTP, or says too much
// Nothing of a request but its method and path is ever logged. Thread-safe.
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
  // As of Origin. With a user the proxy's own login stands for whatever a client says of itself;
  // without, the client's does, and logging in is a mutation like others.
  discovery::CrawlOptions access = {};
  ProxyRules rules = {};
  // Nothing: exchanges are not recorded.
  std::optional<RecordingOptions> recording = std::nullopt;
};

class Proxy {
 public:
  // Borrows metrics and clock. Connects to nobody yet: a host that is down is no error. Errors are
  // those of ProxyRecording::Open.
  static absl::StatusOr<std::unique_ptr<Proxy>> Create(
      ProxySettings settings, runtime::Metrics& metrics,
      runtime::Clock& clock = runtime::SystemClock());
  ~Proxy();
  Proxy(const Proxy&) = delete;
  Proxy& operator=(const Proxy&) = delete;

  // Never blocks: answers of the host are deferred.
  http::ServerResponse Handle(const http::ServerRequest& request);

  // After the server was drained: gives up what is under way, logs out, writes the capture. What
  // went wrong with the recording, now or before; that there is no capture yet, or that a logout
  // failed, is only logged. Called once.
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

  // Of origin_'s thread alone, and of Close once that has ended. Null where nothing is recorded.
  const std::unique_ptr<ProxyRecording> recording_;
  // What ended the recording.
  absl::Status recording_error_;

  // Last: its thread uses what is above.
  Origin origin_;
};

}  // namespace shoal::mockserver
