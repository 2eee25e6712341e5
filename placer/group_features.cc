// SPDX-License-Identifier: Apache-2.0
#include "placer/group_features.h"

#include <cmath>
#include <map>
#include <string>

#include "placement/group_graph.h"

namespace shoal::placer {
namespace {

using placement::Graph;
using placement::Operation;

// Makes each of the columns of `values` [rows, columns] one of mean 0 and variance 1.
void Normalise(std::size_t columns, std::vector<double>& values) {
  constexpr double kLeastDeviation = 1e-6;
  const double rows = static_cast<double>(values.size() / columns);
  for (std::size_t column = 0; column < columns; ++column) {
    double sum = 0;
    double squares = 0;
    for (std::size_t i = column; i < values.size(); i += columns) sum += values[i];
    for (std::size_t i = column; i < values.size(); i += columns) {
      values[i] -= sum / rows;
      squares += values[i] * values[i];
    }
    const double deviation = std::sqrt(squares / rows);
    for (std::size_t i = column; i < values.size(); i += columns) {
      values[i] = deviation > kLeastDeviation ? values[i] / deviation : 0;
    }
  }
}

}  // namespace

GroupFeatures FeaturesOf(const Graph& graph, const placement::Simulator& simulator) {
  GroupFeatures features;
  features.order = placement::MakeGroupGraph(graph, simulator).order;
  const std::size_t groups = features.order.size();
  std::vector<std::size_t> position(groups);
  for (std::size_t i = 0; i < groups; ++i) position[features.order[i]] = i;
  std::map<std::string, std::size_t> kinds;
  for (const Operation& operation : graph.operations) kinds.emplace(operation.kind, 0);
  for (auto& [name, number] : kinds) number = features.kinds++;
  features.kind_shares.resize(groups * features.kinds);
  features.adjacency.resize(groups * 2 * groups);
  std::vector<double> sizes(groups * kSizes);
  std::vector<float> count(groups);
  for (const Operation& operation : graph.operations) {
    const std::size_t at = position[operation.group];
    ++count[at];
    ++features.kind_shares[at * features.kinds + kinds[operation.kind]];
    const auto phase = static_cast<std::size_t>(operation.phase);
    sizes[at * kSizes + 2 * phase] += operation.flops;
    sizes[at * kSizes + 2 * phase + 1] += operation.activation_bytes;
    sizes[at * kSizes + kSizes - 1] += operation.parameter_bytes;
    for (const placement::Input& input : operation.inputs) {
      const std::size_t from = position[graph.operations[input.from].group];
      if (from == at) continue;
      features.adjacency[at * 2 * groups + from] = 1;
      features.adjacency[from * 2 * groups + groups + at] = 1;
    }
  }
  for (std::size_t i = 0; i < features.kind_shares.size(); ++i) {
    features.kind_shares[i] /= count[i / features.kinds];
  }
  for (double& size : sizes) size = std::log1p(size);
  Normalise(kSizes, sizes);
  for (const double size : sizes) features.sizes.push_back(static_cast<float>(size));
  return features;
}

}  // namespace shoal::placer
