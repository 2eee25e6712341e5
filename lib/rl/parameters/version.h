// SPDX-License-Identifier: Apache-2.0
// Which version of the parameters: newer is greater, epoch first.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

#include "proto/policy.pb.h"

namespace shoal::parameters {

struct Version {
  std::uint64_t epoch = 0;
  std::uint64_t step = 0;

  friend auto operator<=>(const Version&, const Version&) = default;
};

inline Version FromProto(const proto::PolicyVersion& version) {
  return {version.epoch(), version.step()};
}
inline proto::PolicyVersion ToProto(const Version& version) {
  proto::PolicyVersion out;
  out.set_epoch(version.epoch);
  out.set_step(version.step);
  return out;
}
// "3.120": epoch, step.
inline std::string ToString(const Version& version) {
  return std::to_string(version.epoch) + "." + std::to_string(version.step);
}

}  // namespace shoal::parameters
