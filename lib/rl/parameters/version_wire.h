// SPDX-License-Identifier: Apache-2.0
// Conversions between a version and its protobuf message.
#pragma once

#include "proto/policy.pb.h"
#include "rl/parameters/version.h"

namespace shoal::parameters {

inline Version FromProto(const proto::PolicyVersion& version) {
  return {version.epoch(), version.step()};
}
inline proto::PolicyVersion ToProto(const Version& version) {
  proto::PolicyVersion out;
  out.set_epoch(version.epoch);
  out.set_step(version.step);
  return out;
}

}  // namespace shoal::parameters
