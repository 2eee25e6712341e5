// SPDX-License-Identifier: Apache-2.0
#include "profiler/layer.h"

#include <ATen/Parallel.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <map>
#include <set>

#include "placement/graph_file.h"
#include "profiler/profile.h"

namespace shoal::profiler {
namespace {

placement::Graph LoadGraph(const std::string& name) {
  return placement::LoadGraph("data/placement/graphs/" + name + ".json").value();
}

// Whether the graph has an operation of that kind, arithmetic and bytes.
bool Has(const placement::Graph& graph, const placement::TimedOperation& timed) {
  for (const placement::Operation& operation : graph.operations) {
    double bytes = operation.parameter_bytes + operation.activation_bytes;
    for (const placement::Input& input : operation.inputs) bytes += input.bytes;
    if (operation.kind == timed.kind && operation.flops == timed.flops && bytes == timed.bytes) {
      return true;
    }
  }
  return false;
}

TEST_CASE("every kind of the shipped graphs is timed at several sizes") {
  std::map<std::string, std::set<std::string>> sizes;
  for (const Layer& layer : MakeLayers(1)) sizes[layer.kind].insert(layer.size);
  for (const char* name : {"resnet50", "rnnlm", "nmt", "gpt2-small"}) {
    for (const placement::Operation& operation : LoadGraph(name).operations) {
      if (operation.kind == "input") continue;
      INFO(operation.kind);
      REQUIRE(sizes[operation.kind].size() >= 2);
    }
  }
}

TEST_CASE("arithmetic and bytes of a layer are those of operations of the graph of ResNet-50") {
  at::set_num_threads(1);
  const placement::Graph graph = LoadGraph("resnet50-batch4");
  std::map<std::string, int> found;
  for (const Layer& layer : MakeLayers(kBatch)) {
    if (layer.step) continue;
    const auto timed = TimeLayer(layer, std::chrono::seconds(0));
    REQUIRE(timed.size() == 2);
    INFO(layer.kind << ": " << layer.size);
    REQUIRE(timed[0].seconds > 0);
    REQUIRE(timed[1].seconds > 0);
    if (!Has(graph, timed[0])) continue;
    ++found[layer.kind];
    // The first convolution needs no gradient of the images, and one output may have several
    // readers, whose gradients the graph's operation reads.
    const bool first = layer.size.starts_with("3 to 64");
    if (layer.kind == "conv" && !first) REQUIRE(Has(graph, timed[1]));
  }
  REQUIRE(found["conv"] == 11);
  REQUIRE(found["norm"] >= 3);
  REQUIRE(found["elementwise"] >= 6);
  REQUIRE(found["pool"] == 1);
  REQUIRE(found["matmul"] == 1);
}

TEST_CASE("an update is one operation of four numbers' arithmetic a parameter") {
  for (const Layer& layer : MakeLayers(1)) {
    if (!layer.step) continue;
    const auto timed = TimeLayer(layer, std::chrono::seconds(0));
    REQUIRE(timed.size() == 1);
    // A number of four bytes for each parameter's gradient and moment.
    REQUIRE(timed[0].bytes == 2 * timed[0].flops);
  }
}

}  // namespace
}  // namespace shoal::profiler
