// SPDX-License-Identifier: Apache-2.0
#include "placement/graph_file.h"

#include <catch2/catch.hpp>
#include <map>
#include <nlohmann/json.hpp>

#include "platform/runtime/random.h"

namespace shoal::placement {
namespace {

using nlohmann::json;

json Valid() {
  return json::parse(R"({"format":"shoal-graph-1","name":"two","groups":["a","b"],"operations":[
    {"name":"a/forward","kind":"conv","phase":"forward","group":0,"inputs":[],"shape":[2,3],
     "flops":4,"parameter_bytes":5,"activation_bytes":6},
    {"name":"b/backward","kind":"norm","phase":"backward","group":1,"inputs":[0,[0,7]],"shape":[],
     "flops":8,"parameter_bytes":9,"activation_bytes":10}]})");
}

std::string GraphFileError(const std::string& text) {
  const absl::StatusOr<Graph> graph = ParseGraph(text);
  REQUIRE(absl::IsInvalidArgument(graph.status()));
  return runtime::Message(graph.status());
}

TEST_CASE("a file becomes a graph; an input without bytes is the whole output") {
  const Graph graph = ParseGraph(Valid().dump()).value();
  REQUIRE(graph.name == "two");
  REQUIRE(graph.groups == std::vector<std::string>{"a", "b"});
  REQUIRE(graph.operations.size() == 2);
  const Operation& second = graph.operations[1];
  REQUIRE(second.kind == "norm");
  REQUIRE(second.phase == Phase::kBackward);
  REQUIRE(second.inputs[0].bytes == 6);
  REQUIRE(second.inputs[1].bytes == 7);
  REQUIRE(second.flops == 8);
  REQUIRE(second.parameter_bytes == 9);
  REQUIRE(second.activation_bytes == 10);
  REQUIRE(graph.operations[0].shape == std::vector<std::int64_t>{2, 3});
}

TEST_CASE("without groups, operations whose names agree up to the last slash are one group") {
  json file = Valid();
  file.erase("groups");
  for (json& operation : file["operations"]) operation.erase("group");
  file["operations"][1]["name"] = "a/backward";
  REQUIRE(ParseGraph(file.dump()).value().groups == std::vector<std::string>{"a"});
}

TEST_CASE("a missing or wrong member is one error that names the operation and the member") {
  for (const char* member :
       {"kind", "phase", "inputs", "shape", "flops", "parameter_bytes", "activation_bytes"}) {
    for (const json& wrong : {json(), json(true), json::object()}) {
      json file = Valid();
      if (wrong.is_null()) {
        file["operations"][1].erase(member);
      } else {
        file["operations"][1][member] = wrong;
      }
      const std::string error = GraphFileError(file.dump());
      INFO(error);
      REQUIRE(error.find("operation \"b/backward\" needs") == 0);
      REQUIRE(error.find(member) != std::string::npos);
    }
  }
}

TEST_CASE("negative numbers, unknown inputs, cycles and other formats are errors") {
  const auto with = [](const char* member, const json& value) {
    json file = Valid();
    file["operations"][1][member] = value;
    return GraphFileError(file.dump());
  };
  REQUIRE(with("flops", -1).find("has flops that are not 0 .. 1e18") != std::string::npos);
  REQUIRE(with("shape", {2, -3}).find("negative size -3") != std::string::npos);
  REQUIRE(with("inputs", {-1}).find("neither a number nor") != std::string::npos);
  REQUIRE(with("inputs", json::array({json::array({0, -1})})).find("negative bytes") !=
          std::string::npos);
  REQUIRE(with("inputs", {7}).find("reads operation 7, but there are 2") != std::string::npos);
  REQUIRE(with("inputs", {1}).find("cycle") != std::string::npos);
  REQUIRE(with("group", 2).find("is of group 2") != std::string::npos);
  REQUIRE(with("group", "a").find("no index") != std::string::npos);
  REQUIRE(GraphFileError("").find("no JSON object") != std::string::npos);
  REQUIRE(GraphFileError("[]").find("no JSON object") != std::string::npos);
  REQUIRE(GraphFileError("{}").find("format") != std::string::npos);
  REQUIRE(GraphFileError(R"({"format":"shoal-graph-1"})").find("operations") != std::string::npos);
  REQUIRE(GraphFileError(R"({"format":"shoal-graph-1","groups":["a","b","a"],"operations":[]})") ==
          "two groups are named \"a\"");
  REQUIRE(GraphFileError(R"({"format":"shoal-graph-1","groups":[1],"operations":[]})")
              .find("no text") != std::string::npos);
  REQUIRE(absl::IsNotFound(LoadGraph("no/such/file.json").status()));
}

TEST_CASE("whatever bytes of a file are changed or cut off, the answer is a graph or one error") {
  const std::string valid = Valid().dump();
  for (std::size_t size = 0; size < valid.size(); ++size) GraphFileError(valid.substr(0, size));
  runtime::Random random(1);
  const std::string alphabet = "{}[]\",:-0129eE.ntx\\\x80";
  for (int i = 0; i < 20'000; ++i) {
    std::string text = valid;
    for (std::uint64_t changes = 1 + random.Below(3); changes > 0; --changes) {
      text[static_cast<std::size_t>(random.Below(text.size()))] =
          alphabet[static_cast<std::size_t>(random.Below(alphabet.size()))];
    }
    const absl::StatusOr<Graph> graph = ParseGraph(text);
    if (graph.ok()) {
      REQUIRE(TopologicalOrder(*graph).ok());
    } else {
      REQUIRE(absl::IsInvalidArgument(graph.status()));
    }
  }
}

TEST_CASE(
    "the networks that ship have the published parameters, and the residual ones the published "
    "arithmetic") {
  const std::map<std::string, double> parameters = {
      {"resnet50", 25'557'032}, {"resnet101", 44'549'160}, {"inception-v3", 23'834'568},
      {"rnnlm", 54'060'816},    {"nmt", 128'906'544},      {"gpt2-small", 124'439'808}};
  const std::map<std::string, double> multiplications = {
      {"resnet50", 4.09e9}, {"resnet101", 7.80e9}, {"inception-v3", 5.71e9}};
  for (const auto& [name, count] : parameters) {
    const absl::StatusOr<Graph> graph = LoadGraph("data/placement/graphs/" + name + ".json");
    INFO(name << ": " << graph.status().ToString());
    REQUIRE(graph.ok());
    REQUIRE(graph->name == name);
    std::map<Phase, double> bytes;
    double flops = 0;
    for (const Operation& operation : graph->operations) {
      bytes[operation.phase] += operation.parameter_bytes;
      const bool multiplies = operation.kind == "conv" || operation.kind == "matmul";
      if (operation.phase == Phase::kForward && multiplies) flops += operation.flops;
    }
    REQUIRE(bytes[Phase::kForward] == 4 * count);
    REQUIRE(bytes[Phase::kBackward] == 4 * count);
    REQUIRE(bytes[Phase::kUpdate] == 4 * count);
    if (!multiplications.contains(name)) continue;
    constexpr double kBatch = 32;
    REQUIRE(flops / 2 / kBatch == Approx(multiplications.at(name)).epsilon(0.002));
  }
}

}  // namespace
}  // namespace shoal::placement
