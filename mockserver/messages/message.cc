// SPDX-License-Identifier: Apache-2.0
#include "mockserver/messages/message.h"

#include <array>
#include <cstddef>

namespace shoal::mockserver {
namespace {

constexpr std::array<std::string_view, 8> kMethodNames = {"GET", "HEAD",   "PATCH",   "POST",
                                                          "PUT", "DELETE", "OPTIONS", "OTHER"};

// The index is made of the bits post, put, patch and remove.
constexpr std::array<std::string_view, 16> kAllow = {
    "GET, HEAD",
    "GET, HEAD, POST",
    "GET, HEAD, PUT",
    "GET, HEAD, POST, PUT",
    "GET, HEAD, PATCH",
    "GET, HEAD, POST, PATCH",
    "GET, HEAD, PUT, PATCH",
    "GET, HEAD, POST, PUT, PATCH",
    "GET, HEAD, DELETE",
    "GET, HEAD, POST, DELETE",
    "GET, HEAD, PUT, DELETE",
    "GET, HEAD, POST, PUT, DELETE",
    "GET, HEAD, PATCH, DELETE",
    "GET, HEAD, POST, PATCH, DELETE",
    "GET, HEAD, PUT, PATCH, DELETE",
    "GET, HEAD, POST, PUT, PATCH, DELETE",
};

}  // namespace

bool Methods::Take(Method method) const {
  switch (method) {
    case Method::kPost:
      return post;
    case Method::kPut:
      return put;
    case Method::kPatch:
      return patch;
    case Method::kDelete:
      return remove;
    default:
      return method != Method::kOther;
  }
}

std::string Response::Header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (key == name) return value;
  }
  return {};
}

std::string_view AllowText(Methods methods) {
  return kAllow[(methods.post ? 1u : 0u) | (methods.put ? 2u : 0u) | (methods.patch ? 4u : 0u) |
                (methods.remove ? 8u : 0u)];
}

Method ParseMethod(std::string_view name) {
  for (std::size_t i = 0; i + 1 < kMethodNames.size(); ++i) {
    if (kMethodNames[i] == name) return static_cast<Method>(i);
  }
  return Method::kOther;
}

std::string_view Name(Method method) { return kMethodNames[static_cast<std::size_t>(method)]; }

bool Reads(Method method) { return method == Method::kGet || method == Method::kHead; }

bool IsSafe(Method method) { return Reads(method) || method == Method::kOptions; }

}  // namespace shoal::mockserver
