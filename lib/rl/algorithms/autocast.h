// SPDX-License-Identifier: Apache-2.0
// A scope in which torch's linear layers and convolutions read and write bfloat16 (autocast).
//
// Parameters stay float32, and backward passes add float32 gradients to them, wherever they run.
// Each parameter is rounded once in a scope. Scopes may be nested; one belongs to the thread that
// made it. This header shows torch and is for this folder only.
#pragma once

#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>

#include "rl/model/compute_device.h"

namespace shoal::algorithms {

class Autocast {
 public:
  // With kFloat32 it changes nothing.
  Autocast(at::Device device, model::Precision precision);
  ~Autocast();
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;

 private:
  const at::DeviceType type_;
  const bool casts_;
  // What was set before.
  bool enabled_ = false;
  at::ScalarType number_ = at::kFloat;
};

}  // namespace shoal::algorithms
