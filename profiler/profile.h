// SPDX-License-Identifier: Apache-2.0
// Measures this machine's processor as a device for `shoal place`, and compares a predicted
// training step with a measured one.
//
// Uses all of libtorch's threads, and expects to be alone on the machine. Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "placement/device_set.h"
#include "placement/graph.h"
#include "platform/runtime/clock.h"

namespace shoal::profiler {

// The images of a batch, of the layers that are timed and of the step that is compared.
inline constexpr std::int64_t kBatch = 4;

struct ProfileOptions {
  // The name of the device.
  std::string name = "cpu";
  // How long each layer is computed again and again, at least.
  runtime::Duration span = std::chrono::milliseconds(300);
  // Is told what is measured next.
  std::function<void(const std::string&)> progress = [](const std::string&) {};
};

// Measures the bytes a second of a sum of arrays that no cache holds, the fixed cost of an
// operation that computes next to nothing, and the speed by kind of layers of many sizes, forward,
// backward and as updates. The memory is nine tenths of the machine's.
absl::StatusOr<placement::Device> MeasureDevice(const ProfileOptions& options);

struct StepCheck {
  double predicted_seconds = 0;
  double measured_seconds = 0;
  // The share of the steps' time for which the main thread waited for a processor that other work
  // had. 0 where the kernel does not tell.
  double waited = 0;

  // How much longer the prediction is, as a fraction of what was measured.
  double error() const { return predicted_seconds / measured_seconds - 1; }
};

// Trains ResNet-50 with kBatch images for at least three steps, and simulates a step of `graph` on
// `device`. Errors are those of the simulator, such as a device without the memory.
absl::StatusOr<StepCheck> CheckStep(const placement::Graph& graph, const placement::Device& device,
                                    const ProfileOptions& options);

// Returns the file for `shoal place --devices`: the device below remarks that say what was
// measured.
std::string DeviceFile(const placement::Device& device, const StepCheck& check);

// Returns what people see: the device's numbers, and how far the prediction was off.
std::string Describe(const placement::Device& device, const StepCheck& check);

}  // namespace shoal::profiler
