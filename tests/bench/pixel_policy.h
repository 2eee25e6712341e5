// SPDX-License-Identifier: Apache-2.0
// The policies that benches measure on frames of 84 x 84 x 4 bytes.
#pragma once

#include <cstdint>
#include <string>

#include "rl/model/policy_spec.h"

namespace shoal::bench {

// `convolution` is as in policy.convolution; the torso behind it has the width of the papers. With
// "none" the torso makes one number of the frame's bytes, which is the least that a policy does.
inline model::PolicySpec PixelPolicy(const std::string& convolution, std::int64_t actions) {
  model::PolicySpec spec;
  spec.head = "discrete";
  spec.action_count = actions;
  spec.content_fields = {};
  spec.past_requests = false;
  spec.convolution = convolution;
  if (spec.has_convolution()) spec.frame_shape = {84, 84, 4};
  spec.observation_size = 84 * 84 * 4;
  spec.hidden = {1};
  if (spec.has_convolution()) spec.hidden = {convolution == "nature" ? 512 : 256};
  spec.value_hidden = {};
  return spec;
}

}  // namespace shoal::bench
