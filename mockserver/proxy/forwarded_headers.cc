// SPDX-License-Identifier: Apache-2.0
#include "mockserver/proxy/forwarded_headers.h"

#include <absl/strings/ascii.h>
#include <absl/strings/str_split.h>

#include <algorithm>
#include <array>
#include <vector>

#include "redfish/capture/redaction.h"
#include "redfish/discovery/links.h"

namespace shoal::mockserver {
namespace {

constexpr std::array<std::string_view, 12> kRequestFields = {
    "Accept",        "Accept-Language",   "If-Match",
    "If-None-Match", "If-Modified-Since", "Origin",
    "OData-Version", "OData-MaxVersion",  "If-Unmodified-Since",
    "Prefer",        "User-Agent",        "Range"};
constexpr std::array<std::string_view, 2> kCredentialFields = {"Authorization", "X-Auth-Token"};
// The fields of RFC 9110, sections 7.6.1 and 11.7; those that this server writes itself; and
// Alt-Svc.
constexpr std::array<std::string_view, 14> kStopped = {"Connection",
                                                       "Keep-Alive",
                                                       "Proxy-Connection",
                                                       "Proxy-Authenticate",
                                                       "Proxy-Authorization",
                                                       "TE",
                                                       "Proxy-Authentication-Info",
                                                       "Trailer",
                                                       "Transfer-Encoding",
                                                       "Upgrade",
                                                       "Date",
                                                       "Alt-Svc",
                                                       "Content-Type",
                                                       "Content-Length"};
// RFC 9110, section 7.6.3.
constexpr const char* kVia = "1.1 shoal";

// Adds the names in a Connection field.
void AddNames(std::string_view list, std::vector<std::string>& names) {
  for (absl::string_view name : absl::StrSplit(absl::string_view(list.data(), list.size()), ',')) {
    name = absl::StripAsciiWhitespace(name);
    if (!name.empty()) names.emplace_back(name);
  }
}

template <typename Names>
bool Holds(const Names& names, std::string_view name) {
  return std::any_of(names.begin(), names.end(),
                     [name](std::string_view one) { return http::SameName(one, name); });
}

std::vector<std::string> NominatedBy(const http::Headers& headers) {
  std::vector<std::string> names;
  for (const auto& [name, value] : headers) {
    if (http::SameName(name, "Connection")) AddNames(value, names);
  }
  return names;
}

std::string LocationOf(std::string_view value, std::string_view address) {
  const std::string_view own = discovery::OwnPath(value, address);
  return std::string(own.empty() ? value : own);
}

}  // namespace

http::Headers RequestHeaders(const http::ServerRequest& request, Credentials credentials) {
  std::vector<std::string> nominated;
  AddNames(request.Header("Connection"), nominated);
  http::Headers headers;
  const auto pass = [&](std::string_view name) {
    const std::string_view value = request.Header(name);
    if (value.empty() || Holds(nominated, name)) return;
    headers.Add(std::string(name), std::string(value));
  };
  for (const std::string_view name : kRequestFields) pass(name);
  if (credentials == Credentials::kPass) {
    for (const std::string_view name : kCredentialFields) pass(name);
  }
  headers.Add("Via", kVia);
  return headers;
}

std::string AnswerLines(const http::Headers& headers, std::string_view address,
                        Credentials credentials) {
  const std::vector<std::string> nominated = NominatedBy(headers);
  std::string lines;
  for (const auto& [name, value] : headers) {
    const bool stopped = Holds(kStopped, name) || Holds(nominated, name) ||
                         (credentials == Credentials::kStop && redfish::IsCredentialHeader(name));
    if (stopped) continue;
    const bool leads = http::SameName(name, "Location");
    http::AppendHeader(lines, name, leads ? LocationOf(value, address) : value);
  }
  return lines;
}

std::string DescriptionLines(const http::Headers& headers) {
  std::string lines;
  for (const char* name : {"Content-Type", "Content-Length"}) {
    const std::string_view value = headers.Find(name);
    if (!value.empty()) http::AppendHeader(lines, name, value);
  }
  return lines;
}

}  // namespace shoal::mockserver
