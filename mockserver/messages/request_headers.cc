// SPDX-License-Identifier: Apache-2.0
#include "mockserver/messages/request_headers.h"

#include <algorithm>
#include <cctype>
#include <initializer_list>

#include "mockserver/messages/extended_info.h"
#include "mockserver/messages/multipart.h"

namespace shoal::mockserver {
namespace {

// Returns the media type without its parameters, as in "application/json;charset=utf-8".
std::string_view MediaType(std::string_view value) {
  value = value.substr(0, value.find(';'));
  while (value.starts_with(' ')) value.remove_prefix(1);
  while (value.ends_with(' ')) value.remove_suffix(1);
  return value;
}

bool IsAnyOf(std::string_view type, std::initializer_list<std::string_view> types) {
  return std::any_of(types.begin(), types.end(), [type](std::string_view one) {
    return std::equal(type.begin(), type.end(), one.begin(), one.end(), [](char a, char b) {
      return std::tolower(static_cast<unsigned char>(a)) == b;
    });
  });
}

}  // namespace

bool Accepts(std::string_view accept, std::string_view type) {
  if (accept.empty()) return true;
  while (!accept.empty()) {
    const std::string_view one = accept.substr(0, accept.find(','));
    accept.remove_prefix(std::min(accept.size(), one.size() + 1));
    if (IsAnyOf(MediaType(one), {type, "application/*", "*/*"})) return true;
  }
  return false;
}

std::optional<Response> JudgeHeaders(const Request& request, Preconditions preconditions,
                                     BodyMedia media) {
  if (!request.odata_version.empty() && request.odata_version != "4.0") {
    return ErrorResponse(412, "HeaderInvalid", {"OData-Version"});
  }
  const bool is_json = request.content_type.empty() || request.body.empty() ||
                       IsAnyOf(MediaType(request.content_type), {"application/json"});
  const bool is_expected = media == BodyMedia::kJson ? is_json : IsMultipart(request.content_type);
  if (!is_expected) return ErrorResponse(415, "HeaderInvalid", {"Content-Type"});
  const bool changes_blindly = request.method == Method::kPatch && request.if_match.empty();
  if (changes_blindly && preconditions == Preconditions::kRequired) {
    return ErrorResponse(428, "PreconditionRequired");
  }
  return std::nullopt;
}

}  // namespace shoal::mockserver
