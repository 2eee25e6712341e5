// SPDX-License-Identifier: Apache-2.0
#include "placement/graph_file.h"

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "placement/colocation.h"
#include "platform/content/parse_json.h"
#include "platform/runtime/atomic_file.h"

namespace shoal::placement {
namespace {

using nlohmann::json;

constexpr std::string_view kFormat = "shoal-graph-1";
constexpr std::size_t kMostBytes = std::size_t{1} << 30;

std::optional<std::string> TextOf(const json& value, const char* name) {
  const auto found = value.find(name);
  if (found == value.end() || !found->is_string()) return std::nullopt;
  return found->get<std::string>();
}

std::optional<std::size_t> IndexOf(const json& value) {
  if (!value.is_number_unsigned()) return std::nullopt;
  return value.get<std::size_t>();
}

// Reads the members of one operation and remembers the first error.
class OperationReader {
 public:
  OperationReader(const json& value, std::size_t index) : value_(value) {
    subject_ = "operation " + std::to_string(index);
    if (!value.is_object()) Fail("is no object");
  }

  void Name(std::string& name) {
    Text("name", name);
    if (!name.empty()) subject_ = "operation \"" + name + "\"";
  }

  void Text(const char* name, std::string& text) {
    if (std::optional<std::string> found = TextOf(value_, name)) {
      text = *std::move(found);
    } else {
      Fail("needs the text \"" + std::string(name) + "\"");
    }
  }

  void Amount(const char* name, double& amount) {
    const auto found = value_.find(name);
    if (found == value_.end() || !found->is_number()) {
      Fail("needs the number \"" + std::string(name) + "\"");
    } else {
      amount = found->get<double>();
    }
  }

  void ReadPhase(Phase& phase) {
    static const std::map<std::string, Phase> phases = {
        {"forward", Phase::kForward}, {"backward", Phase::kBackward}, {"update", Phase::kUpdate}};
    std::string text;
    Text("phase", text);
    if (const auto found = phases.find(text); found != phases.end()) {
      phase = found->second;
    } else {
      Fail("needs a \"phase\" of forward, backward or update");
    }
  }

  void Shape(std::vector<std::int64_t>& shape) {
    const auto found = value_.find("shape");
    if (found == value_.end() || !found->is_array()) return Fail("needs the list \"shape\"");
    for (const json& size : *found) {
      if (!size.is_number_integer()) return Fail("has a size in its shape that is no integer");
      shape.push_back(size.get<std::int64_t>());
    }
  }

  // Bytes of -1 stand for the whole output.
  void Inputs(std::vector<Input>& inputs) {
    const auto found = value_.find("inputs");
    if (found == value_.end() || !found->is_array()) return Fail("needs the list \"inputs\"");
    for (const json& input : *found) {
      const bool pair = input.is_array() && input.size() == 2 && input[1].is_number();
      const std::optional<std::size_t> from = IndexOf(pair ? input[0] : input);
      if (!from) return Fail("has an input that is neither a number nor [number, bytes]");
      if (pair && !(input[1].get<double>() >= 0)) return Fail("has an input of negative bytes");
      inputs.push_back({.from = *from, .bytes = pair ? input[1].get<double>() : -1});
    }
  }

  // A group is an index of "groups". Without it, operations whose names are equal up to the last
  // slash are one group.
  void Group(std::map<std::string, std::size_t>& by_name, Graph& graph, Operation& operation) {
    const auto found = value_.find("group");
    if (found != value_.end()) {
      const std::optional<std::size_t> group = IndexOf(*found);
      if (!group) return Fail("has a \"group\" that is no index of \"groups\"");
      operation.group = *group;
      return;
    }
    const std::string name = operation.name.substr(0, operation.name.rfind('/'));
    const auto [entry, is_new] = by_name.emplace(name, graph.groups.size());
    if (is_new) graph.groups.push_back(name);
    operation.group = entry->second;
  }

  const absl::Status& status() const { return status_; }

 private:
  void Fail(const std::string& what) {
    if (status_.ok()) status_ = runtime::InvalidArgument(subject_ + " " + what);
  }

  const json& value_;
  std::string subject_;
  absl::Status status_;
};

absl::Status ReadOperations(const json& list, Graph& graph) {
  if (list.size() > kMostOperations) {
    return runtime::InvalidArgument("the graph has " + std::to_string(list.size()) +
                                    " operations, the limit is " + std::to_string(kMostOperations));
  }
  std::map<std::string, std::size_t> by_name;
  for (std::size_t i = 0; i < graph.groups.size(); ++i) by_name.emplace(graph.groups[i], i);
  graph.operations.reserve(list.size());
  for (std::size_t i = 0; i < list.size(); ++i) {
    OperationReader reader(list[i], i);
    SHOAL_RETURN_IF_ERROR(reader.status());
    Operation operation;
    reader.Name(operation.name);
    reader.Text("kind", operation.kind);
    reader.ReadPhase(operation.phase);
    reader.Inputs(operation.inputs);
    reader.Shape(operation.shape);
    reader.Amount("flops", operation.flops);
    reader.Amount("parameter_bytes", operation.parameter_bytes);
    reader.Amount("activation_bytes", operation.activation_bytes);
    reader.Group(by_name, graph, operation);
    SHOAL_RETURN_IF_ERROR(reader.status());
    graph.operations.push_back(std::move(operation));
  }
  for (Operation& operation : graph.operations) {
    for (Input& input : operation.inputs) {
      if (input.bytes >= 0 || input.from >= graph.operations.size()) continue;
      input.bytes = graph.operations[input.from].activation_bytes;
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Graph> ParseGraph(std::string_view text) {
  const json file = content::ParseJson(text);
  if (!file.is_object()) return runtime::InvalidArgument("the file is no JSON object");
  if (TextOf(file, "format") != kFormat) {
    return runtime::InvalidArgument("the file's \"format\" is not \"" + std::string(kFormat) +
                                    "\"");
  }
  Graph graph;
  graph.name = TextOf(file, "name").value_or("graph");
  if (const auto groups = file.find("groups"); groups != file.end()) {
    if (!groups->is_array()) return runtime::InvalidArgument("\"groups\" is no list");
    std::set<std::string> names;
    for (const json& group : *groups) {
      if (!group.is_string()) return runtime::InvalidArgument("a name in \"groups\" is no text");
      graph.groups.push_back(group.get<std::string>());
      if (!names.insert(graph.groups.back()).second) {
        return runtime::InvalidArgument("two groups are named \"" + graph.groups.back() + "\"");
      }
    }
  }
  const auto operations = file.find("operations");
  if (operations == file.end() || !operations->is_array()) {
    return runtime::InvalidArgument("the file needs the list \"operations\"");
  }
  SHOAL_RETURN_IF_ERROR(ReadOperations(*operations, graph));
  SHOAL_RETURN_IF_ERROR(TopologicalOrder(graph).status());
  return graph;
}

absl::StatusOr<Graph> LoadGraph(const std::string& path, Grouping grouping) {
  SHOAL_ASSIGN_OR_RETURN(const std::string text, runtime::ReadFile(path, kMostBytes));
  absl::StatusOr<Graph> graph = ParseGraph(text);
  if (!graph.ok()) return runtime::Annotate(graph.status(), path);
  if (grouping == Grouping::kColocation) return GroupByColocation(*std::move(graph));
  return graph;
}

}  // namespace shoal::placement
