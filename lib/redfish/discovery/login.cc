// SPDX-License-Identifier: Apache-2.0
#include "redfish/discovery/login.h"

#include <absl/strings/escaping.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "platform/content/parse_json.h"
#include "platform/http/fetch.h"
#include "redfish/capture/uri.h"

namespace shoal::discovery {
namespace {

using Json = nlohmann::json;

constexpr const char* kSessions = "/redfish/v1/SessionService/Sessions";

// Returns the sessions collection that the service root names; anyone may read the root.
absl::StatusOr<std::string> FindSessions(const CrawlOptions& options) {
  SHOAL_ASSIGN_OR_RETURN(const http::ClientResponse response,
                         http::Fetch(options.connection, {.target = "/redfish/v1/"}));
  const Json root = content::ParseJson(response.body);
  const Json* const link = root.is_object() ? redfish::Resolve(root, "/Links/Sessions") : nullptr;
  const std::string uri = link == nullptr ? std::string() : redfish::LinkTarget(*link);
  return uri.empty() ? std::string(kSessions) : uri;
}

// Returns the URI of the new session: Location, whatever host it names, or the body's own
// "@odata.id".
std::string SessionOf(const http::ClientResponse& response, const std::string& sessions) {
  const auto is_session = [&](const std::string& uri) { return uri.starts_with(sessions + "/"); };
  std::string uri = redfish::CanonicalUri(response.headers.Find("Location"));
  if (is_session(uri)) return uri;
  const Json body = content::ParseJson(response.body);
  uri = body.is_object() ? redfish::LinkTarget(body) : std::string();
  return is_session(uri) ? uri : std::string();
}

// Returns the URI of the new session: the member of the collection whose Id is in `response`.
std::string SessionById(const CrawlOptions& options, const http::Headers& headers,
                        const http::ClientResponse& response, const std::string& sessions) {
  const std::string id = redfish::TextAt(content::ParseJson(response.body), "Id");
  const auto listed = http::Fetch(options.connection, {.target = sessions, .headers = headers});
  if (id.empty() || id.find('/') != std::string::npos || !listed.ok()) return {};
  const auto members = redfish::MemberUris(content::ParseJson(listed->body));
  const std::string session = sessions + "/" + id;
  const bool is_listed = std::find(members.begin(), members.end(), session) != members.end();
  return is_listed ? session : std::string();
}

}  // namespace

Login::~Login() { Leave().IgnoreError(); }

absl::Status Login::Enter() {
  switch (options_.authentication) {
    case Authentication::kNone:
      return absl::OkStatus();
    case Authentication::kBasic:
      headers_ = {};
      headers_.Add("Authorization",
                   "Basic " + absl::Base64Escape(options_.user + ":" + options_.password));
      return absl::OkStatus();
    case Authentication::kSession:
      return MakeSession();
  }
  return absl::OkStatus();
}

absl::Status Login::MakeSession() {
  headers_ = {};
  session_.clear();
  SHOAL_ASSIGN_OR_RETURN(const std::string sessions, FindSessions(options_));
  const Json body = {{"UserName", options_.user}, {"Password", options_.password}};
  SHOAL_ASSIGN_OR_RETURN(
      const http::ClientResponse response,
      http::Fetch(options_.connection,
                  {.method = "POST",
                   .target = sessions,
                   .body = body.dump(-1, ' ', false, Json::error_handler_t::replace)}));
  const std::string token(response.headers.Find("X-Auth-Token"));
  if (response.status < 200 || response.status > 299 || token.empty()) {
    const std::string text = options_.connection.address + " makes no session for " +
                             options_.user + ": POST " + sessions + " is " +
                             std::to_string(response.status);
    const bool passes = response.status == 429 || response.status >= 500;
    return passes ? runtime::Unavailable(text) : runtime::FailedPrecondition(text);
  }
  headers_.Add("X-Auth-Token", token);
  session_ = SessionOf(response, sessions);
  if (session_.empty()) session_ = SessionById(options_, headers_, response, sessions);
  is_lost_ = session_.empty();
  return absl::OkStatus();
}

absl::Status Login::Leave() {
  if (std::exchange(is_lost_, false)) {
    return runtime::Unavailable("the service does not tell where the session is: it stays");
  }
  const std::string session = std::exchange(session_, {});
  if (session.empty()) return absl::OkStatus();
  // A session that stays would be a change that nobody asked for, so a service that fails is asked
  // again.
  constexpr int kAttempts = 4;
  absl::Status left;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const auto response = http::Fetch(options_.connection,
                                      {.method = "DELETE", .target = session, .headers = headers_});
    left = response.status();
    if (!response.ok()) continue;
    const int status = response->status;
    const bool is_gone = status == 401 || status == 404 || status == 410;
    if (is_gone || (status >= 200 && status <= 299)) return absl::OkStatus();
    left = runtime::Unavailable("DELETE " + session + " is " + std::to_string(status));
    if (status < 500) break;
  }
  return left;
}

}  // namespace shoal::discovery
