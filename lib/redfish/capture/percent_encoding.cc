// SPDX-License-Identifier: Apache-2.0
#include "redfish/capture/percent_encoding.h"

namespace shoal::redfish {
namespace {

int DigitOf(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

template <typename Predicate>
std::string Decoded(std::string_view text, Predicate may_stand) {
  std::string decoded;
  decoded.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const int high = text[i] == '%' && i + 2 < text.size() ? DigitOf(text[i + 1]) : -1;
    const int low = high < 0 ? -1 : DigitOf(text[i + 2]);
    const bool is_escape = low >= 0 && may_stand(high * 16 + low);
    decoded += is_escape ? static_cast<char>(high * 16 + low) : text[i];
    if (is_escape) i += 2;
  }
  return decoded;
}

}  // namespace

std::string PercentDecoded(std::string_view text) {
  return Decoded(text, [](int) { return true; });
}

std::string DecodedPath(std::string_view path) {
  return Decoded(path, [](int code) {
    const bool is_printed = code > 0x20 && code < 0x7F;
    return is_printed &&
           std::string_view("/?#%").find(static_cast<char>(code)) == std::string_view::npos;
  });
}

}  // namespace shoal::redfish
