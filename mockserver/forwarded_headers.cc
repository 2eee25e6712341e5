// SPDX-License-Identifier: Apache-2.0
#include "mockserver/forwarded_headers.h"

#include <absl/strings/ascii.h>

#include <algorithm>
#include <array>
#include <vector>

#include "discovery/links.h"
#include "redfish/redaction.h"

namespace shoal::mockserver {
namespace {

constexpr std::array<std::string_view, 12> kRequestFields = {
    "Accept",        "Accept-Language",   "If-Match",
    "If-None-Match", "If-Modified-Since", "Origin",
    "OData-Version", "OData-MaxVersion",  "If-Unmodified-Since",
    "Prefer",        "User-Agent",        "Range"};
constexpr std::array<std::string_view, 2> kCredentialFields = {"Authorization", "X-Auth-Token"};
// RFC 9110, section 7.6.1 and 11.7; what this server writes itself; Alt-Svc.
constexpr std::array<std::string_view, 14> kStopped = {"connection",
                                                       "keep-alive",
                                                       "proxy-connection",
                                                       "proxy-authenticate",
                                                       "proxy-authorization",
                                                       "te",
                                                       "proxy-authentication-info",
                                                       "trailer",
                                                       "transfer-encoding",
                                                       "upgrade",
                                                       "date",
                                                       "alt-svc",
                                                       "content-type",
                                                       "content-length"};
// RFC 9110, section 7.6.3.
constexpr const char* kVia = "1.1 shoal";

std::string Lower(std::string_view text) {
  std::string lower(text);
  absl::AsciiStrToLower(&lower);
  return lower;
}

// The names in a Connection field, in small letters.
void AddNames(std::string_view list, std::vector<std::string>& names) {
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(','), list.size());
    std::string_view name = list.substr(0, end);
    while (!name.empty() && (name.front() == ' ' || name.front() == '\t')) name.remove_prefix(1);
    while (!name.empty() && (name.back() == ' ' || name.back() == '\t')) name.remove_suffix(1);
    if (!name.empty()) names.push_back(Lower(name));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
}

bool Holds(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::vector<std::string> NominatedBy(const http::Headers& headers) {
  std::vector<std::string> names;
  for (const auto& [name, value] : headers) {
    if (Lower(name) == "connection") AddNames(value, names);
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
    if (value.empty() || Holds(nominated, Lower(name))) return;
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
    const std::string lower = Lower(name);
    const bool stopped = std::find(kStopped.begin(), kStopped.end(), lower) != kStopped.end() ||
                         Holds(nominated, lower) ||
                         (credentials == Credentials::kStop && redfish::IsCredentialHeader(lower));
    if (stopped) continue;
    http::AppendHeader(lines, name, lower == "location" ? LocationOf(value, address) : value);
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
