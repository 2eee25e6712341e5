// SPDX-License-Identifier: Apache-2.0
#include "mockserver/request_body.h"

#include <algorithm>
#include <utility>

#include "mockserver/extended_info.h"

namespace shoal::mockserver {
namespace {

int Nesting(std::string_view text) {
  int depth = 0;
  int deepest = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      in_string = c != '"';
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      deepest = std::max(deepest, ++depth);
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return deepest;
}

}  // namespace

RequestBody ParseRequestBody(std::string_view text) {
  RequestBody body;
  if (Nesting(text) > kMaximumNesting) {
    body.refusal = ErrorResponse(400, "MalformedJSON");
    return body;
  }
  Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) {
    body.refusal = ErrorResponse(400, "MalformedJSON");
  } else if (!json.is_object()) {
    body.refusal = ErrorResponse(400, "UnrecognizedRequestBody");
  } else {
    body.object = std::move(json);
  }
  return body;
}

}  // namespace shoal::mockserver
