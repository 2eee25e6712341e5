// SPDX-License-Identifier: Apache-2.0
#include "placement/device_fit.h"

#include <algorithm>
#include <limits>
#include <map>

namespace shoal::placement {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

double Predicted(const std::vector<TimedOperation>& timed, double speed, const Device& device) {
  Device tried{.name = {},
               .speed = speed,
               .kind_speed = {},
               .memory_speed = device.memory_speed,
               .overhead = device.overhead};
  double sum = 0;
  for (const TimedOperation& operation : timed) {
    sum += tried.Seconds(operation.kind, operation.flops, operation.bytes);
  }
  return sum;
}

// The speed at which `timed` takes as long as it took. Infinite if memory alone is as slow.
double SpeedOf(const std::vector<TimedOperation>& timed, const Device& device) {
  constexpr int kHalvings = 200;
  double measured = 0;
  double flops = 0;
  for (const TimedOperation& operation : timed) {
    measured += operation.seconds;
    flops += operation.flops;
  }
  if (Predicted(timed, kInfinite, device) >= measured) return kInfinite;
  // The prediction falls with the speed. At `low` the arithmetic alone takes as long.
  double low = flops / measured;
  double high = low;
  while (Predicted(timed, high, device) > measured) high *= 2;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2;
    (Predicted(timed, middle, device) > measured ? low : high) = middle;
  }
  return high;
}

}  // namespace

absl::Status FitSpeeds(std::span<const TimedOperation> timed, Device& device) {
  std::map<std::string, std::vector<TimedOperation>> by_kind;
  for (const TimedOperation& operation : timed) {
    if (!(operation.seconds > 0) || !(operation.flops > 0)) {
      return runtime::InvalidArgument("an operation of the kind " + operation.kind +
                                      " has no time or no arithmetic");
    }
    by_kind[operation.kind].push_back(operation);
  }
  if (!(device.memory_speed > 0)) return runtime::InvalidArgument("the memory has no speed");
  if (by_kind.empty()) return runtime::InvalidArgument("no operation was timed");
  device.kind_speed.clear();
  double fastest = 0;
  for (const auto& [kind, operations] : by_kind) {
    for (const TimedOperation& it : operations) fastest = std::max(fastest, it.flops / it.seconds);
    const double speed = SpeedOf(operations, device);
    if (speed < kInfinite) device.kind_speed[kind] = speed;
  }
  device.speed = fastest;
  return absl::OkStatus();
}

}  // namespace shoal::placement
