// SPDX-License-Identifier: Apache-2.0
// A version of the parameters. Newer versions compare greater, by epoch first. This header is free
// of protobuf (see version_wire.h), so that cores without protobuf can name versions too.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

namespace shoal::parameters {

struct Version {
  std::uint64_t epoch = 0;
  std::uint64_t step = 0;

  friend auto operator<=>(const Version&, const Version&) = default;
};

// "3.120": epoch, step.
inline std::string ToString(const Version& version) {
  return std::to_string(version.epoch) + "." + std::to_string(version.step);
}

}  // namespace shoal::parameters
