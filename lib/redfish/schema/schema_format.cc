// SPDX-License-Identifier: Apache-2.0
#include "redfish/schema/schema_format.h"

#include <charconv>

namespace shoal::redfish::format {
namespace {

// Parses "v1_13_0" into major and minor; returns false when `text` is no version.
bool ParseVersion(std::string_view text, TypeName& name) {
  if (text.size() < 4 || text[0] != 'v') return false;
  const char* end = text.data() + text.size();
  const auto major = std::from_chars(text.data() + 1, end, name.major);
  if (major.ec != std::errc() || major.ptr == end || *major.ptr != '_') return false;
  return std::from_chars(major.ptr + 1, end, name.minor).ec == std::errc();
}

}  // namespace

TypeName ParseTypeName(std::string_view name) {
  TypeName parsed;
  if (name.starts_with('#')) name.remove_prefix(1);
  const std::size_t last = name.rfind('.');
  if (last == std::string_view::npos) return parsed;
  std::string_view space = name.substr(0, last);
  if (const std::size_t dot = space.rfind('.'); dot != std::string_view::npos) {
    parsed.versioned = ParseVersion(space.substr(dot + 1), parsed);
    if (parsed.versioned) space = space.substr(0, dot);
  }
  parsed.space = space;
  parsed.key = parsed.space + std::string(name.substr(last));
  return parsed;
}

}  // namespace shoal::redfish::format
