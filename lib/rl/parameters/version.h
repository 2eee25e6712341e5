// SPDX-License-Identifier: Apache-2.0
// A version of the parameters. Newer versions compare greater, by epoch first. This header is free
// of protobuf (see version_wire.h), so that cores without protobuf can name versions too.
#pragma once

#include <charconv>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace shoal::parameters {

struct Version {
  std::uint64_t epoch = 0;
  std::uint64_t step = 0;

  friend auto operator<=>(const Version&, const Version&) = default;
};

// The versions from `first` to `last`, both included, with all that are between.
struct VersionRange {
  Version first = {};
  Version last = {};

  bool Contains(const Version& version) const { return first <= version && version <= last; }
  // Returns true if a version from `oldest` to `newest` may be one of the range.
  bool Touches(const Version& oldest, const Version& newest) const {
    return oldest <= last && first <= newest;
  }

  friend bool operator==(const VersionRange&, const VersionRange&) = default;
};

// "3.120": epoch, step.
inline std::string ToString(const Version& version) {
  return std::to_string(version.epoch) + "." + std::to_string(version.step);
}

// Returns what ToString made the text of, or nothing for any other text.
inline std::optional<Version> ParseVersion(std::string_view text) {
  const std::size_t dot = text.find('.');
  if (dot == std::string_view::npos) return std::nullopt;
  Version version;
  const auto read = [](std::string_view digits, std::uint64_t& number) {
    const char* const end = digits.data() + digits.size();
    const auto [rest, error] = std::from_chars(digits.data(), end, number);
    return error == std::errc() && rest == end;
  };
  if (!read(text.substr(0, dot), version.epoch)) return std::nullopt;
  if (!read(text.substr(dot + 1), version.step)) return std::nullopt;
  // Leading zeros are read, but never written.
  return ToString(version) == text ? std::optional(version) : std::nullopt;
}

}  // namespace shoal::parameters
