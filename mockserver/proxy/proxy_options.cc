// SPDX-License-Identifier: Apache-2.0
#include "mockserver/proxy/proxy_options.h"

#include <chrono>
#include <utility>

#include "platform/http/tls_context.h"
#include "redfish/discovery/service_url.h"

namespace shoal::mockserver {

void ProxyOptions::Visit(runtime::Visitor& visitor) {
  visitor.Knob("host", host,
               {.help = "https://bmc.lab or http://...: requests are passed on to this host and "
                        "nothing is simulated; empty: no proxy"});
  visitor.Knob(
      "record", record,
      {.help = "folder, of its own, that becomes a capture of what was read; empty: none"});
  visitor.Knob(
      "redact", redact,
      {.help = "what is taken out of the recording", .choices = {"secrets", "serials", "none"}});
  visitor.Knob("allow", allow,
               {.help = "mutations that are passed on, one by one: \"POST "
                        "/redfish/v1/Systems/*/Actions/ComputerSystem.Reset\"; * stays within a "
                        "segment; all others are 403"});
  visitor.Knob("user", user,
               {.help = "who the proxy is at the host, whatever its clients say: whoever reaches "
                        "the proxy reads as this user; empty: clients log in themselves"});
  visitor.Knob("password_file", password_file, {.help = "file whose first line is the password"});
  visitor.Knob("authentication", authentication,
               {.help = "how the user is told: by a session, ended with the process, or with each "
                        "request",
                .choices = {"session", "basic"}});
  visitor.Knob("ca_file", ca_file, {.help = "PEM authorities to trust instead of the system's"});
  visitor.Knob("insecure", insecure, {.help = "trust any certificate"});
  visitor.Knob("connections", connections,
               {.help = "to the host at once; further requests wait", .min = 1, .max = 64});
  visitor.Knob("requests_per_second", requests_per_second,
               {.help = "to the host at most; 0: no limit", .min = 0, .max = 1e6});
  visitor.Knob("connect_ms", connect_ms,
               {.help = "for TCP's handshake, and as long for that of TLS",
                .unit = "ms",
                .min = 1,
                .max = 600'000});
  visitor.Knob(
      "answer_ms", answer_ms,
      {.help = "for the host's whole answer; then 504", .unit = "ms", .min = 1, .max = 3'600'000});
  visitor.Knob("max_answer_bytes", max_answer_bytes,
               {.help = "longest body of an answer; longer is 502",
                .unit = "bytes",
                .min = 1024,
                .max = 1 << 30});
  visitor.Knob("max_record_bytes", max_record_bytes,
               {.help = "of the recording's journal; past it requests are passed on unrecorded",
                .unit = "bytes",
                .min = 1024,
                .max = 1e12});
}

absl::StatusOr<ProxySettings> ProxyOptions::Settings(std::string password) const {
  ProxySettings settings;
  const absl::StatusOr<http::Url> url = discovery::ParseServiceUrl(host);
  if (!url.ok()) return runtime::Annotate(url.status(), "mockserver.proxy.host");
  auto rules = ProxyRules::Parse(allow);
  if (!rules.ok()) return runtime::Annotate(rules.status(), "mockserver.proxy.allow");
  settings.rules = *std::move(rules);

  http::ClientOptions& connection = settings.access.connection;
  connection.address = http::Format(url->address);
  connection.connect_deadline = std::chrono::milliseconds(connect_ms);
  connection.request_deadline = std::chrono::milliseconds(answer_ms);
  connection.max_body_bytes = max_answer_bytes;
  if (url->secure) {
    SHOAL_ASSIGN_OR_RETURN(connection.tls,
                           http::ClientTls({.authority_file = ca_file, .verify = !insecure}));
  }
  settings.access.concurrency = connections;
  settings.access.requests_per_second = requests_per_second;
  if (user.empty() != password.empty()) {
    return runtime::InvalidArgument(
        "mockserver.proxy.user and mockserver.proxy.password_file go together");
  }
  if (!user.empty()) {
    settings.access.user = user;
    settings.access.password = std::move(password);
    settings.access.authentication = authentication == "basic"
                                         ? discovery::Authentication::kBasic
                                         : discovery::Authentication::kSession;
  }
  if (!record.empty()) {
    RecordingOptions& recording =
        settings.recording.emplace(RecordingOptions{.folder = record,
                                                    .source = url->Origin(),
                                                    .address = http::Format(url->address),
                                                    .max_bytes = max_record_bytes});
    if (redact == "none") recording.redaction.reset();
    if (redact == "serials") recording.redaction->serial_numbers = true;
  }
  return settings;
}

}  // namespace shoal::mockserver
