// SPDX-License-Identifier: Apache-2.0
#include "platform/http/url.h"

#include <absl/strings/ascii.h>

#include <algorithm>
#include <utility>

namespace shoal::http {
namespace {

constexpr std::string_view kSchemeEnd = "://";

// In small letters; of a text without one, all of it.
std::string SchemeOf(std::string_view text) {
  return absl::AsciiStrToLower(std::string(text.substr(0, text.find(kSchemeEnd))));
}

bool IsHttp(const std::string& scheme) { return scheme == "http" || scheme == "https"; }

}  // namespace

bool HasScheme(std::string_view text) { return text.find(kSchemeEnd) != std::string_view::npos; }

std::string WithoutUser(std::string_view text) {
  const std::size_t user_end = text.rfind('@');
  if (user_end == std::string_view::npos) return std::string(text);
  // Of anything else it is not known where a user begins.
  const bool is_http = IsHttp(SchemeOf(text));
  const std::size_t scheme_end = is_http ? text.find(kSchemeEnd) + kSchemeEnd.size() : 0;
  return std::string(text.substr(0, scheme_end)) + "***" + std::string(text.substr(user_end));
}

absl::Status WrongUrl(std::string_view text, const std::string& why) {
  return runtime::InvalidArgument("URL \"" + WithoutUser(text) + "\": " + why);
}

absl::StatusOr<Url> ParseUrl(std::string_view text) {
  if (std::any_of(text.begin(), text.end(), [](char c) { return c <= ' ' || c > '~'; })) {
    return WrongUrl(text, "it has a character that is none of a URL");
  }
  const std::string scheme = SchemeOf(text);
  if (!IsHttp(scheme)) {
    return WrongUrl(text, "the scheme is neither http nor https");
  }
  Url url;
  url.secure = scheme == "https";
  std::string_view rest = text.substr(std::min(scheme.size() + kSchemeEnd.size(), text.size()));
  rest = rest.substr(0, rest.find('#'));
  const std::string_view authority = rest.substr(0, rest.find_first_of("/?"));
  rest.remove_prefix(authority.size());
  url.target = rest.starts_with('/') ? std::string(rest) : "/" + std::string(rest);
  if (authority.find('@') != std::string_view::npos) {
    return WrongUrl(text, "a user is no part of it");
  }
  // Colons inside brackets belong to an IPv6 address.
  const std::size_t bracket = authority.rfind(']');
  const bool has_port = authority.find(':', bracket == std::string_view::npos ? 0 : bracket) !=
                        std::string_view::npos;
  auto address = ParseAddress(std::string(authority) + (has_port     ? ""
                                                        : url.secure ? ":443"
                                                                     : ":80"));
  if (!address.ok()) return WrongUrl(text, "no host and port");
  url.address = *std::move(address);
  return url;
}

}  // namespace shoal::http
