// SPDX-License-Identifier: Apache-2.0
#include "mockserver/messages/etag.h"

namespace shoal::mockserver {
namespace {

std::string_view Opaque(std::string_view etag) {
  while (!etag.empty() && (etag.front() == ' ' || etag.front() == '\t')) etag.remove_prefix(1);
  while (!etag.empty() && (etag.back() == ' ' || etag.back() == '\t')) etag.remove_suffix(1);
  if (etag.starts_with("W/")) etag.remove_prefix(2);
  if (etag.size() >= 2 && etag.front() == '"' && etag.back() == '"') {
    etag = etag.substr(1, etag.size() - 2);
  }
  return etag;
}

}  // namespace

std::uint64_t HashText(std::string_view text, std::uint64_t state) {
  for (const char c : text) {
    state ^= static_cast<unsigned char>(c);
    state *= 0x100000001b3ull;
  }
  return state;
}

std::string FormatETag(std::uint64_t version) {
  static constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string etag = "W/\"0000000000000000\"";
  for (std::size_t i = 0; i < 16; ++i) {
    etag[18 - i] = kDigits[(version >> (4 * i)) & 15];
  }
  return etag;
}

bool Matches(std::string_view header, std::string_view etag) {
  const std::string_view wanted = Opaque(etag);
  while (!header.empty()) {
    const std::size_t comma = header.find(',');
    const std::string_view item = Opaque(header.substr(0, comma));
    if (item == "*" || (!item.empty() && item == wanted)) return true;
    if (comma == std::string_view::npos) break;
    header.remove_prefix(comma + 1);
  }
  return false;
}

}  // namespace shoal::mockserver
