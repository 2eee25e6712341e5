// SPDX-License-Identifier: Apache-2.0
#include "placement/colocation.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace shoal::placement {
namespace {

std::string Stem(const Operation& operation) {
  return operation.name.substr(0, operation.name.rfind('/'));
}

struct Amount {
  double flops = 0;
  double bytes = 0;

  Amount operator+(const Amount& other) const {
    return {.flops = flops + other.flops, .bytes = bytes + other.bytes};
  }
};

Amount AmountOf(const Operation& operation) {
  return {.flops = operation.flops,
          .bytes = operation.parameter_bytes + operation.activation_bytes};
}

// Sets that have been folded into others, and how large they are together.
class Folds {
 public:
  Folds(const Graph& graph, const std::vector<std::size_t>& set_of) {
    const std::size_t sets = 1 + *std::max_element(set_of.begin(), set_of.end());
    into_.resize(sets);
    amounts_.resize(sets);
    for (std::size_t set = 0; set < sets; ++set) into_[set] = set;
    for (std::size_t i = 0; i < set_of.size(); ++i) {
      const Amount amount = AmountOf(graph.operations[i]);
      amounts_[set_of[i]] = amounts_[set_of[i]] + amount;
      all_ = all_ + amount;
    }
  }

  // The set that `set` is part of now.
  std::size_t Of(std::size_t set) {
    while (into_[set] != set) set = into_[set] = into_[into_[set]];
    return set;
  }

  // REQUIRES: both are what Of returns, and they differ.
  void FoldIfSmall(std::size_t set, std::size_t reader) {
    const Amount together = amounts_[set] + amounts_[reader];
    if (together.flops > kLargestFold * all_.flops || together.bytes > kLargestFold * all_.bytes) {
      return;
    }
    into_[set] = reader;
    amounts_[reader] = together;
  }

 private:
  std::vector<std::size_t> into_;
  std::vector<Amount> amounts_;
  Amount all_;
};

// By set, those that read its forward outputs going forward.
std::vector<std::vector<std::size_t>> ReadersOf(const Graph& graph,
                                                const std::vector<std::size_t>& set_of) {
  std::vector<std::vector<std::size_t>> readers(1 +
                                                *std::max_element(set_of.begin(), set_of.end()));
  for (std::size_t i = 0; i < set_of.size(); ++i) {
    if (graph.operations[i].phase != Phase::kForward) continue;
    for (const Input& input : graph.operations[i].inputs) {
      if (graph.operations[input.from].phase != Phase::kForward) continue;
      if (set_of[input.from] != set_of[i]) readers[set_of[input.from]].push_back(set_of[i]);
    }
  }
  return readers;
}

// Sets in the topological order of their last operations going forward; those with none are left
// out.
std::vector<std::size_t> ForwardOrder(const Graph& graph, const std::vector<std::size_t>& set_of) {
  const std::vector<std::size_t> order = TopologicalOrder(graph).value();
  std::vector<bool> seen(set_of.size());
  std::vector<std::size_t> sets;
  for (auto at = order.rbegin(); at != order.rend(); ++at) {
    if (graph.operations[*at].phase != Phase::kForward || seen[set_of[*at]]) continue;
    seen[set_of[*at]] = true;
    sets.push_back(set_of[*at]);
  }
  std::reverse(sets.begin(), sets.end());
  return sets;
}

}  // namespace

std::vector<std::size_t> ColocatedSets(const Graph& graph) {
  std::set<std::string> computing;
  for (const Operation& operation : graph.operations) {
    if (operation.phase != Phase::kUpdate) computing.insert(Stem(operation));
  }
  const auto stem_of = [&](const Operation& operation) {
    const std::string own = Stem(operation);
    if (operation.phase != Phase::kUpdate || computing.contains(own)) return own;
    for (const Input& input : operation.inputs) {
      const Operation& read = graph.operations[input.from];
      if (read.phase == Phase::kBackward) return Stem(read);
    }
    return own;
  };
  std::map<std::string, std::size_t> numbers;
  std::vector<std::size_t> set_of;
  for (const Operation& operation : graph.operations) {
    set_of.push_back(numbers.emplace(stem_of(operation), numbers.size()).first->second);
  }
  return set_of;
}

Graph GroupByColocation(Graph graph) {
  const std::vector<std::size_t> set_of = ColocatedSets(graph);
  const std::vector<std::vector<std::size_t>> readers = ReadersOf(graph, set_of);
  const std::vector<std::size_t> order = ForwardOrder(graph, set_of);
  Folds folds(graph, set_of);
  // Readers come first, so it is known which of them are one by now.
  for (auto set = order.rbegin(); set != order.rend(); ++set) {
    std::optional<std::size_t> only;
    bool several = false;
    for (const std::size_t reader : readers[*set]) {
      const std::size_t group = folds.Of(reader);
      several = several || (only && *only != group);
      only = group;
    }
    const std::size_t own = folds.Of(*set);
    if (only && !several && *only != own) folds.FoldIfSmall(own, *only);
  }
  std::map<std::size_t, std::size_t> numbers;
  graph.groups.clear();
  std::vector<double> most;
  for (std::size_t i = 0; i < set_of.size(); ++i) {
    Operation& operation = graph.operations[i];
    const auto [entry, is_new] = numbers.emplace(folds.Of(set_of[i]), graph.groups.size());
    operation.group = entry->second;
    if (is_new) {
      graph.groups.push_back(Stem(operation));
      most.push_back(operation.flops);
    } else if (operation.flops > most[operation.group]) {
      graph.groups[operation.group] = Stem(operation);
      most[operation.group] = operation.flops;
    }
  }
  return graph;
}

}  // namespace shoal::placement
