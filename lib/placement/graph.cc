// SPDX-License-Identifier: Apache-2.0
#include "placement/graph.h"

#include <functional>
#include <queue>

namespace shoal::placement {
namespace {

bool IsAmount(double value) { return value >= 0 && value <= kMostAmount; }

absl::Status CheckOperation(const Graph& graph, const Operation& operation) {
  const auto wrong = [&](const std::string& what) {
    return runtime::InvalidArgument("operation \"" + operation.name + "\" " + what);
  };
  for (const auto& [name, value] : {std::pair("flops", operation.flops),
                                    std::pair("parameter_bytes", operation.parameter_bytes),
                                    std::pair("activation_bytes", operation.activation_bytes)}) {
    if (!IsAmount(value)) return wrong("has " + std::string(name) + " that are not 0 .. 1e18");
  }
  for (const std::int64_t size : operation.shape) {
    if (size < 0) return wrong("has the negative size " + std::to_string(size) + " in its shape");
  }
  if (operation.group >= graph.groups.size()) {
    return wrong("is of group " + std::to_string(operation.group) + ", but there are " +
                 std::to_string(graph.groups.size()) + " groups");
  }
  for (const Input& input : operation.inputs) {
    if (input.from >= graph.operations.size()) {
      return wrong("reads operation " + std::to_string(input.from) + ", but there are " +
                   std::to_string(graph.operations.size()) + " operations");
    }
    if (!IsAmount(input.bytes)) return wrong("has an input whose bytes are not 0 .. 1e18");
  }
  return absl::OkStatus();
}

absl::Status CheckParts(const Graph& graph) {
  if (graph.operations.empty()) return runtime::InvalidArgument("the graph has no operation");
  if (graph.operations.size() > kMostOperations) {
    return runtime::InvalidArgument("the graph has " + std::to_string(graph.operations.size()) +
                                    " operations, the limit is " + std::to_string(kMostOperations));
  }
  std::vector<bool> used(graph.groups.size());
  std::size_t inputs = 0;
  for (const Operation& operation : graph.operations) {
    SHOAL_RETURN_IF_ERROR(CheckOperation(graph, operation));
    used[operation.group] = true;
    inputs += operation.inputs.size();
  }
  if (inputs > kMostInputs) {
    return runtime::InvalidArgument("the graph has " + std::to_string(inputs) +
                                    " inputs, the limit is " + std::to_string(kMostInputs));
  }
  for (std::size_t group = 0; group < used.size(); ++group) {
    if (!used[group]) {
      return runtime::InvalidArgument("group \"" + graph.groups[group] + "\" has no operation");
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<std::size_t>> TopologicalOrder(const Graph& graph) {
  SHOAL_RETURN_IF_ERROR(CheckParts(graph));
  const std::size_t count = graph.operations.size();
  std::vector<std::vector<std::size_t>> readers(count);
  std::vector<std::size_t> missing(count);
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
  for (std::size_t i = 0; i < count; ++i) {
    missing[i] = graph.operations[i].inputs.size();
    for (const Input& input : graph.operations[i].inputs) readers[input.from].push_back(i);
    if (missing[i] == 0) ready.push(i);
  }
  std::vector<std::size_t> order;
  order.reserve(count);
  while (!ready.empty()) {
    const std::size_t operation = ready.top();
    ready.pop();
    order.push_back(operation);
    for (const std::size_t reader : readers[operation]) {
      if (--missing[reader] == 0) ready.push(reader);
    }
  }
  if (order.size() == count) return order;
  for (std::size_t i = 0; i < count; ++i) {
    if (missing[i] > 0) {
      return runtime::InvalidArgument("the graph has a cycle: operation \"" +
                                      graph.operations[i].name + "\" is in it or behind it");
    }
  }
  return order;
}

}  // namespace shoal::placement
