// SPDX-License-Identifier: Apache-2.0
// Names where a policy or a trainer computes, for code that sees no torch.
#pragma once

#include <cstdint>
#include <string>

#include "platform/runtime/status.h"

namespace shoal::model {

struct ComputeDevice {
  // "cpu" or "cuda:<n>".
  std::string name = "cpu";
  // Computes whole batches by torch's operations, as a GPU always does, where the CPU otherwise
  // goes through a batch row by row with code that is made for its caches. On a CPU it is slower
  // and serves to test what runs on GPUs.
  bool whole_batches = false;
};

// Returns the device that `name` means to process `local_rank` of a machine: "auto" is its share of
// the GPUs, or the CPU where there are none; "cuda" is its share of the GPUs. Returns
// INVALID_ARGUMENT for a name that is none of auto, cpu, cuda and cuda:<n>, FAILED_PRECONDITION
// where that device does not exist. It loads torch's CUDA library unless `name` is "cpu".
absl::StatusOr<ComputeDevice> FindComputeDevice(const std::string& name,
                                                std::int64_t local_rank = 0);

}  // namespace shoal::model
