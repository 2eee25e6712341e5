// SPDX-License-Identifier: Apache-2.0
#include "operate/host_access.h"

#include <chrono>
#include <utility>

#include "platform/http/tls_context.h"
#include "platform/runtime/atomic_file.h"
#include "redfish/discovery/service_url.h"

namespace shoal::operate {
namespace {

std::chrono::milliseconds FromSeconds(double seconds) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::duration<double>(seconds));
}

}  // namespace

void HostAccess::Visit(runtime::Visitor& visitor) {
  visitor.Knob("user", user, {.help = "who asks; none: nobody logs in"});
  visitor.Knob("password_file", password_file,
               {.help = "file whose first line is the user's password"});
  visitor.Knob("authentication", authentication,
               {.help = "session: log in, and out at the end; basic: say it with each request",
                .choices = {"session", "basic"}});
  visitor.Knob("ca_file", ca_file, {.help = "PEM authorities to trust instead of the system's"});
  visitor.Knob("insecure", insecure, {.help = "trust any certificate"});
  visitor.Knob("timeout_seconds", timeout_seconds,
               {.help = "how long to wait for one answer", .unit = "s", .min = 0.1, .max = 3600});
  visitor.Knob(
      "pace_seconds", pace_seconds,
      {.help = "from one request to the next, at least", .unit = "s", .min = 0, .max = 3600});
  visitor.Knob("attempts", attempts,
               {.help = "attempts of each read, with growing pauses", .min = 1, .max = 1000});
}

absl::StatusOr<std::string> PasswordFiles::Read(const std::string& path) {
  const auto known = read_.find(path);
  if (known != read_.end()) return known->second;
  SHOAL_ASSIGN_OR_RETURN(std::string password, runtime::ReadSecret(path));
  return read_[path] = std::move(password);
}

absl::Status FillConnection(const HostAccess& access, const http::Url& url,
                            PasswordFiles& passwords, discovery::CrawlOptions& crawl) {
  crawl.connection.address = http::Format(url.address);
  crawl.connection.connect_deadline = FromSeconds(access.timeout_seconds);
  crawl.connection.request_deadline = FromSeconds(access.timeout_seconds);
  if (url.secure) {
    SHOAL_ASSIGN_OR_RETURN(crawl.connection.tls, http::ClientTls({.authority_file = access.ca_file,
                                                                  .verify = !access.insecure}));
  }
  if (access.user.empty()) {
    if (access.password_file.empty()) return absl::OkStatus();
    return runtime::InvalidArgument("password file " + access.password_file + " needs a user");
  }
  if (access.password_file.empty()) {
    return runtime::InvalidArgument("user " + access.user + " needs a password file");
  }
  crawl.user = access.user;
  SHOAL_ASSIGN_OR_RETURN(crawl.password, passwords.Read(access.password_file));
  crawl.authentication = access.authentication == "basic" ? discovery::Authentication::kBasic
                                                          : discovery::Authentication::kSession;
  return absl::OkStatus();
}

absl::StatusOr<HostOptions> HostOptionsOf(const HostAccess& access, const std::string& url,
                                          PasswordFiles& passwords) {
  SHOAL_ASSIGN_OR_RETURN(const http::Url parsed, discovery::ParseServiceUrl(url));
  HostOptions options = {.name = parsed.Origin(), .pace = FromSeconds(access.pace_seconds)};
  SHOAL_RETURN_IF_ERROR(FillConnection(access, parsed, passwords, options.access));
  options.access.attempts = access.attempts;
  if (access.pace_seconds > 0) {
    options.access.requests_per_second = 1.0 / access.pace_seconds;
    options.access.concurrency = 1;
  }
  return options;
}

}  // namespace shoal::operate
