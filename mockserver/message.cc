// SPDX-License-Identifier: Apache-2.0
#include "mockserver/message.h"

#include <array>
#include <cstddef>

namespace shoal::mockserver {
namespace {

constexpr std::array<std::string_view, 8> kNames = {"GET", "HEAD",   "PATCH",   "POST",
                                                    "PUT", "DELETE", "OPTIONS", "OTHER"};

}  // namespace

Method ParseMethod(std::string_view name) {
  for (std::size_t i = 0; i + 1 < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<Method>(i);
  }
  return Method::kOther;
}

std::string_view Name(Method method) { return kNames[static_cast<std::size_t>(method)]; }

}  // namespace shoal::mockserver
