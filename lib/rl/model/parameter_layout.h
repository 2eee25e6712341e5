// SPDX-License-Identifier: Apache-2.0
// The place of each parameter of a network in one flat array of floats, and its start value.
//
// Trainable parameters come first. Each parameter starts at a multiple of 16 floats, and the floats
// between them are always zero. So the optimiser, the reduction over ranks and the digest work on
// one array.
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

// The frozen parameters of a policy that normalises its observations, [O] each. It sees
// (observation - mean) * scale.
inline constexpr const char* kObservationMean = "observation.mean";
inline constexpr const char* kObservationScale = "observation.scale";

// The logarithms of the deviations of the head "gaussian", [n]. At first all deviations are 1,
// which is half of the box.
inline constexpr const char* kLogDeviation = "log_deviation";

// Numbers of an axis that belong together, as the rows of one gate.
struct AxisSegment {
  std::string name;
  std::int64_t size = 0;
};
using Axis = std::vector<AxisSegment>;
// The segment of the head's rows that make a query.
inline constexpr const char* kQuerySegment = "query";

struct ParameterInfo {
  // With kForgetGate, the second quarter of the numbers is 1 and the others are 0: an LSTM then
  // begins by remembering (Jozefowicz et al. 2015, "An empirical exploration of recurrent network
  // architectures").
  enum class Start { kZero, kOne, kForgetGate, kOrthogonal, kNormal };

  std::string name;
  runtime::Shape shape;
  // Offset and size are in floats.
  std::int64_t offset = 0;
  std::int64_t size = 0;
  Start start = Start::kZero;
  // The gain for kOrthogonal, the standard deviation for kNormal.
  double scale = 1.0;
  // Parameters with the same purpose and shape start with equal values.
  std::string purpose;
  // What the numbers of each dimension of the shape are, by which parameters are fitted to other
  // sizes (parameter_fit.h). The layout of a policy has them, others need not.
  std::vector<Axis> axes = {};
};

struct ParameterLayout {
  std::vector<ParameterInfo> parameters;
  // The floats [0, trainable) are trained; the rest is frozen.
  std::int64_t trainable = 0;
  // The number of all floats, a multiple of 16.
  std::int64_t total = 0;

  // Appends a parameter that starts at a multiple of 16 floats. Its name is also its purpose.
  void Add(std::string name, runtime::Shape shape, ParameterInfo::Start start, double scale);

  // Returns the layout of a policy. REQUIRES: spec.Validate() is OK.
  static ParameterLayout Of(const PolicySpec& spec);

  // Returns null when absent.
  const ParameterInfo* Find(std::string_view name) const;

  // Writes the start values, a function of (layout, seed). `flat` has `total` floats.
  void Initialise(std::uint64_t seed, std::span<float> flat) const;

  // Write turns a policy's `flat` into a file of FLOAT32 and Read turns it back, also where tensors
  // were rounded to another floating-point dtype since (rl/parameters/half_precision.h). Read
  // returns INVALID_ARGUMENT when a parameter is missing, has another shape, is not finite, or is
  // unknown, and FAILED_PRECONDITION when "spec_digest" differs; `flat` holds anything then.
  std::string Write(std::span<const float> flat, const PolicySpec& spec, Metadata metadata) const;
  // What Write writes: the tensors, which lie in `flat`, and the metadata with "spec_digest".
  std::vector<SafetensorsItem> Items(std::span<const float> flat) const;
  static Metadata MetadataOf(const PolicySpec& spec, Metadata metadata);
  absl::Status Read(std::string_view file, const PolicySpec& spec, std::span<float> flat) const;
};

}  // namespace shoal::model
