// SPDX-License-Identifier: Apache-2.0
// What inference.device says of an inference server that is not started.
//
// A value.
#pragma once

#include <cstdint>
#include <string_view>

namespace shoal::cli {

struct InferenceDevices {
  // The threads that act, each with parameters and caches of its own: one for each entry.
  std::int64_t replicas = 1;
  // The different devices among the entries.
  std::int64_t devices = 1;

  // `names` is the knob's value. How many GPUs "cuda:*" means is known where the server runs alone,
  // so it is given: `gpus`.
  static InferenceDevices Of(std::string_view names, std::int64_t gpus);
};

}  // namespace shoal::cli
