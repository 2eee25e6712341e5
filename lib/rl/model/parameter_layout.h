// SPDX-License-Identifier: Apache-2.0
// Where each parameter of a network lies in one flat array of floats, and what it starts as.
//
// Trainable parameters come first; each starts at a multiple of 16 floats, and the floats between
// are zero for ever. So the optimiser, the reduction over ranks and the digest see one array.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "platform/runtime/status.h"
#include "platform/runtime/tensor.h"
#include "rl/model/policy_spec.h"
#include "rl/model/safetensors.h"

namespace shoal::model {

struct ParameterInfo {
  enum class Start { kZero, kOne, kOrthogonal, kNormal };

  std::string name;
  runtime::Shape shape;
  // In floats.
  std::int64_t offset = 0;
  std::int64_t size = 0;
  Start start = Start::kZero;
  // kOrthogonal: the gain; kNormal: the standard deviation.
  double scale = 1.0;
  // Parameters with the same purpose and shape start equal.
  std::string purpose;
};

struct ParameterLayout {
  std::vector<ParameterInfo> parameters;
  // Floats that are trained: [0, trainable); the rest is frozen.
  std::int64_t trainable = 0;
  // Floats in all, a multiple of 16.
  std::int64_t total = 0;

  // Appends one that starts at a multiple of 16 floats; the name is its purpose.
  void Add(std::string name, runtime::Shape shape, ParameterInfo::Start start, double scale);

  // Of a policy. REQUIRES: spec.Validate() is OK.
  static ParameterLayout Of(const PolicySpec& spec);

  // Null when absent.
  const ParameterInfo* Find(std::string_view name) const;

  // Start values, a function of (layout, seed). `flat`: `total` floats.
  void Initialise(std::uint64_t seed, std::span<float> flat) const;

  // A policy's `flat` as a file and back. Read: INVALID_ARGUMENT when a parameter is missing, of
  // another shape, not finite, or one too many; FAILED_PRECONDITION when "spec_digest" is another.
  std::string Write(std::span<const float> flat, const PolicySpec& spec, Metadata metadata) const;
  absl::Status Read(std::string_view file, const PolicySpec& spec, std::span<float> flat) const;
};

}  // namespace shoal::model
