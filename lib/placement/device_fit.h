// SPDX-License-Identifier: Apache-2.0
// Finds the numbers of a device from operations that were timed on it.
//
// Values and pure functions; thread-safe.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "placement/device_set.h"

namespace shoal::placement {

// An operation that was timed. Arithmetic and bytes are counted as in a graph (docs/placement.md).
struct TimedOperation {
  std::string kind;
  double flops = 0;
  // Of its parameters, inputs and output.
  double bytes = 0;
  double seconds = 0;
};

// Gives `device`, whose memory_speed and overhead are known, the speeds of the kinds in `timed`:
// the speed with which the operations of a kind take as long altogether, by Device::Seconds, as
// they took when they were timed. A kind that the memory alone makes as slow gets no speed of its
// own. The speed of other kinds becomes that of the fastest kind, so that they are bound by memory.
// INVALID_ARGUMENT naming the kind if a time, or the device's memory_speed, is not above 0, or
// nothing was timed.
absl::Status FitSpeeds(std::span<const TimedOperation> timed, Device& device);

}  // namespace shoal::placement
