// SPDX-License-Identifier: Apache-2.0
// One training step of a neural network as a graph of operations, which are placed on devices.
//
// An operation reads the outputs of others and makes one output. Operations of one group are always
// on the same device: those of a layer, forward, backward and update. Values; thread-safe to read.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "platform/runtime/status.h"

namespace shoal::placement {

enum class Phase : std::uint8_t { kForward, kBackward, kUpdate };

struct Input {
  // The operation whose output is read.
  std::size_t from = 0;
  // What of it must be sent when it is on another device.
  double bytes = 0;
};

struct Operation {
  std::string name;
  // For example "conv" or "matmul"; devices have speeds by kind.
  std::string kind;
  Phase phase = Phase::kForward;
  std::size_t group = 0;
  std::vector<Input> inputs;
  std::vector<std::int64_t> shape;
  double flops = 0;
  // Bytes that stay on the operation's device throughout the step: parameters, gradients, moments.
  double parameter_bytes = 0;
  // Bytes of the output, which are freed when the last operation has read them.
  double activation_bytes = 0;
};

// The kinds of the graphs that ship and of those that data/placement/import_onnx.py makes. Others
// may have further ones.
inline constexpr std::array<const char*, 10> kOperationKinds = {
    "conv",   "elementwise", "input", "lookup",  "lstm",
    "matmul", "norm",        "pool",  "softmax", "update"};

struct Graph {
  std::string name;
  std::vector<std::string> groups;
  std::vector<Operation> operations;
};

// A device for each group: an index into DeviceSet::devices.
using Placement = std::vector<std::size_t>;

// The largest graph, and the largest size or amount of arithmetic of one operation.
inline constexpr std::size_t kMostOperations = 1'000'000;
inline constexpr std::size_t kMostInputs = 16'000'000;
inline constexpr double kMostAmount = 1e18;

// Returns the operations in an order in which each stands behind its inputs, otherwise by index
// (Kahn, "Topological sorting of large networks", CACM 5(11), 1962). INVALID_ARGUMENT naming the
// operation, if a number is negative, not finite or beyond kMostAmount, an input or group does not
// exist, a group is empty, there is no operation or more than kMostOperations, or some operations
// form a cycle.
absl::StatusOr<std::vector<std::size_t>> TopologicalOrder(const Graph& graph);

}  // namespace shoal::placement
