// SPDX-License-Identifier: Apache-2.0
// Names where a policy or a trainer computes, and how, for code that sees no torch.
#pragma once

#include <cstdint>
#include <string>

#include "platform/runtime/status.h"
#include "rl/model/policy_spec.h"

namespace shoal::model {

enum class Precision : std::uint8_t { kFloat32, kBfloat16 };

struct ComputeDevice {
  // "cpu" or "cuda:<n>".
  std::string name = "cpu";
  // Computes whole batches by torch's operations, as a GPU always does, where the CPU otherwise
  // goes through a batch row by row with code that is made for its caches. On a CPU it is slower
  // and serves to test what runs on GPUs.
  bool whole_batches = false;
  // A policy that acts in whole batches repeats forward passes that were recorded, where it has no
  // convolution. On a CPU it computes each pass again, so that tests without a GPU run the same
  // code.
  bool graphs = false;
  // Of a policy: in which numbers the convolution reads and writes when it acts in whole batches.
  // kBfloat16 is for what WithPrecision accepts. Of a trainer: in which numbers the layers of its
  // networks do. Products are added up in float32 either way, and everything else is float32.
  Precision precision = Precision::kFloat32;
};

// Parses "float32" or "bfloat16". Returns INVALID_ARGUMENT for another name.
absl::StatusOr<Precision> PrecisionNamed(const std::string& name);

// Returns the device that `name` means to process `local_rank` of a machine: "auto" is its share of
// the GPUs, or the CPU where there are none; "cuda" is its share of the GPUs. Returns
// INVALID_ARGUMENT for a name that is none of auto, cpu, cuda and cuda:<n>, FAILED_PRECONDITION
// where that device does not exist. On a GPU it has graphs. It loads torch's CUDA library unless
// `name` is "cpu".
absl::StatusOr<ComputeDevice> FindComputeDevice(const std::string& name,
                                                std::int64_t local_rank = 0);

// Returns the number of the GPU that FindComputeDevice finds. Besides its errors,
// FAILED_PRECONDITION where it finds the CPU.
absl::StatusOr<std::int64_t> FindGpu(const std::string& name, std::int64_t local_rank);

// Returns `device` with a precision by its name for a policy of `spec` that acts.
// Returns INVALID_ARGUMENT for another name and for bfloat16 where policy.convolution is not
// "impala", FAILED_PRECONDITION for bfloat16 where the device is a CPU, a GPU that has no such
// convolution, or one for which kernels cannot be compiled.
absl::StatusOr<ComputeDevice> WithPrecision(ComputeDevice device, const std::string& precision,
                                            const PolicySpec& spec);

}  // namespace shoal::model
