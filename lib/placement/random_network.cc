// SPDX-License-Identifier: Apache-2.0
#include "placement/random_network.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace shoal::placement {
namespace {

// A forward operation, from which the backward one and the update follow.
struct Cell {
  std::size_t group = 0;
  std::string kind;
  double flops = 0;
  double parameter_bytes = 0;
  double output_bytes = 0;
  std::vector<std::size_t> inputs;
  // The cell whose parameters it uses in place of its own.
  std::optional<std::size_t> shared_with = std::nullopt;
};

constexpr double kTypicalFlops = 3e9;
// Bytes that are sent while so much arithmetic is done, on processors and links of the same age.
constexpr double kBytesPerFlop = 1.0 / 150;

class Network {
 public:
  Network(runtime::Random& random, std::size_t groups)
      : random_(random),
        wanted_(groups),
        flops_(kTypicalFlops * Spread(1)),
        output_share_(.15 * Spread(1.2)),
        parameter_share_(.4 * Spread(1.2)) {}

  Graph Make() {
    switch (Below(4)) {
      case 0:
        MakeChain();
        break;
      case 1:
        MakeBranches();
        break;
      case 2:
        MakeSequence();
        break;
      default:
        MakeLayers();
    }
    return Finish();
  }

 private:
  std::size_t Below(std::size_t bound) { return static_cast<std::size_t>(random_.Below(bound)); }
  bool Chance(double probability) { return random_.Uniform() < probability; }
  // A factor around 1, log-normal.
  double Spread(double deviation) { return std::exp(deviation * random_.Normal()); }

  std::size_t NewGroup(const std::string& name) {
    groups_.push_back(name + std::to_string(groups_.size()));
    return groups_.size() - 1;
  }

  std::size_t Add(std::size_t group, const std::string& kind, double share,
                  std::vector<std::size_t> inputs) {
    const double flops = share * flops_ * Spread(.5);
    const double bytes = share * flops_ * kBytesPerFlop;
    cells_.push_back({.group = group,
                      .kind = kind,
                      .flops = flops,
                      .parameter_bytes = std::round(bytes * parameter_share_ * Spread(.7)),
                      .output_bytes = 1 + std::round(bytes * output_share_ * Spread(.5)),
                      .inputs = std::move(inputs)});
    return cells_.size() - 1;
  }

  // A convolution or product, and perhaps what follows it in the same group.
  std::size_t AddLayer(std::vector<std::size_t> inputs) {
    const std::size_t group = NewGroup("layer");
    const std::string kind = Chance(.5) ? "conv" : "matmul";
    std::size_t last = Add(group, kind, Spread(.6), std::move(inputs));
    for (std::size_t more = Below(3); more > 0; --more) {
      last = Add(group, Chance(.5) ? "norm" : "elementwise", .01, {last});
      cells_[last].output_bytes = cells_[last - 1].output_bytes;
      cells_[last].parameter_bytes = 0;
    }
    return last;
  }

  void MakeChain() {
    std::size_t last = AddLayer({});
    while (groups_.size() < wanted_) {
      std::vector<std::size_t> inputs = {last};
      if (last >= 2 && Chance(.3)) inputs.push_back(last - 2);
      last = AddLayer(std::move(inputs));
    }
  }

  void MakeBranches() {
    std::size_t last = AddLayer({});
    while (groups_.size() < wanted_) {
      std::vector<std::size_t> ends;
      for (std::size_t branches = 2 + Below(4); branches > 0; --branches) {
        std::size_t end = last;
        for (std::size_t depth = 1 + Below(3); depth > 0; --depth) end = AddLayer({end});
        ends.push_back(end);
      }
      last = Add(NewGroup("join"), "elementwise", .01, std::move(ends));
      cells_[last].parameter_bytes = 0;
      if (Chance(.3)) last = AddLayer({last});
    }
  }

  // Layers of cells over time, the times of a layer cut into groups. Each cell reads the one before
  // it in time and that of the layer below. Returns the outputs of the top layer.
  std::vector<std::size_t> AddCells(std::size_t layers, std::size_t chunks, std::size_t length,
                                    const std::vector<std::size_t>& inputs,
                                    const std::optional<std::size_t>& start) {
    std::vector<std::size_t> below = inputs;
    for (std::size_t layer = 0; layer < layers; ++layer) {
      std::vector<std::size_t> outputs;
      std::size_t group = 0;
      for (std::size_t time = 0; time < chunks * length; ++time) {
        if (time % length == 0) group = NewGroup("lstm");
        std::vector<std::size_t> read = {below[time]};
        if (time > 0) read.push_back(outputs.back());
        if (time == 0 && start) read.push_back(*start);
        outputs.push_back(Repeat(group, "lstm", std::move(read), outputs));
      }
      below = std::move(outputs);
    }
    return below;
  }

  // A cell that has the sizes and parameters of the first of `earlier`, if there is one.
  std::size_t Repeat(std::size_t group, const std::string& kind, std::vector<std::size_t> inputs,
                     const std::vector<std::size_t>& earlier) {
    if (earlier.empty()) return Add(group, kind, .4, std::move(inputs));
    Cell cell = cells_[earlier.front()];
    cell.group = group;
    cell.inputs = std::move(inputs);
    cell.parameter_bytes = 0;
    cell.shared_with = earlier.front();
    cells_.push_back(std::move(cell));
    return cells_.size() - 1;
  }

  std::vector<std::size_t> AddEach(const std::string& name, const std::string& kind,
                                   const std::vector<std::size_t>& inputs, std::size_t length,
                                   const std::optional<std::size_t>& context) {
    std::vector<std::size_t> outputs;
    std::size_t group = 0;
    for (std::size_t time = 0; time < inputs.size(); ++time) {
      if (time % length == 0) group = NewGroup(name);
      std::vector<std::size_t> read = {inputs[time]};
      if (context) read.push_back(*context);
      outputs.push_back(Repeat(group, kind, std::move(read), outputs));
    }
    return outputs;
  }

  std::vector<std::size_t> AddEmbeddings(std::size_t times) {
    const std::size_t group = NewGroup("embedding");
    std::vector<std::size_t> outputs;
    for (std::size_t time = 0; time < times; ++time) {
      outputs.push_back(Repeat(group, "lookup", {}, outputs));
      cells_.back().flops *= 1e-3;
    }
    return outputs;
  }

  void MakeSequence() {
    const bool translates = Chance(.4);
    const std::size_t chunks = 2 + Below(4);
    const std::size_t length = 1 + Below(5);
    const std::size_t parts = translates ? 2 : 1;
    const std::size_t most = std::max<std::size_t>(1, wanted_ / (parts * chunks));
    const std::size_t layers = std::min<std::size_t>(most, 1 + Below(5));
    std::optional<std::size_t> context;
    if (translates) {
      const auto encoded =
          AddCells(layers, chunks, length, AddEmbeddings(chunks * length), std::nullopt);
      context = Add(NewGroup("encoded"), "elementwise", .01, encoded);
      cells_[*context].parameter_bytes = 0;
    }
    auto outputs = AddCells(layers, chunks, length, AddEmbeddings(chunks * length), context);
    if (translates) outputs = AddEach("attention", "matmul", outputs, length, context);
    AddEach("softmax", "matmul", outputs, length, std::nullopt);
  }

  void MakeLayers() {
    std::vector<std::size_t> layers;
    while (groups_.size() < wanted_) {
      const std::size_t reach = std::min<std::size_t>(4, layers.size());
      std::vector<std::size_t> inputs;
      if (reach > 0) inputs.push_back(layers[layers.size() - 1 - Below(reach)]);
      if (reach > 1 && Chance(.4)) inputs.push_back(layers[layers.size() - 1 - Below(reach)]);
      layers.push_back(AddLayer(std::move(inputs)));
    }
  }

  std::size_t Emit(Operation operation) {
    graph_.operations.push_back(std::move(operation));
    return graph_.operations.size() - 1;
  }

  Graph Finish() {
    graph_.name = "random network";
    graph_.groups = groups_;
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      const Cell& cell = cells_[i];
      std::vector<Input> inputs;
      for (const std::size_t from : cell.inputs) inputs.push_back(Whole(from));
      if (cell.shared_with) inputs.push_back(Parameters(*cell.shared_with));
      Emit({.name = "cell" + std::to_string(i) + "/forward",
            .kind = cell.kind,
            .phase = Phase::kForward,
            .group = cell.group,
            .inputs = std::move(inputs),
            .shape = {1},
            .flops = cell.flops,
            .parameter_bytes = cell.parameter_bytes,
            .activation_bytes = cell.output_bytes});
    }
    EmitBackward();
    return std::move(graph_);
  }

  Input Whole(std::size_t cell) const { return {.from = cell, .bytes = cells_[cell].output_bytes}; }
  Input Parameters(std::size_t cell) const {
    return {.from = cell, .bytes = cells_[cell].parameter_bytes};
  }

  void EmitBackward() {
    // By cell: the gradients of its output, and of its parameters.
    std::vector<std::vector<std::size_t>> of_output(cells_.size());
    std::vector<std::vector<std::size_t>> of_parameters(cells_.size());
    for (std::size_t i = cells_.size(); i-- > 0;) {
      const Cell& cell = cells_[i];
      std::vector<Input> inputs = {Whole(i)};
      double input_bytes = 0;
      for (const std::size_t from : cell.inputs) {
        inputs.push_back(Whole(from));
        input_bytes += cells_[from].output_bytes;
      }
      for (const std::size_t gradient : of_output[i]) {
        inputs.push_back({.from = gradient, .bytes = cell.output_bytes});
      }
      const std::size_t owner = cell.shared_with.value_or(i);
      if (owner != i) inputs.push_back(Parameters(owner));
      const std::size_t index = Emit({.name = "cell" + std::to_string(i) + "/backward",
                                      .kind = cell.kind,
                                      .phase = Phase::kBackward,
                                      .group = cell.group,
                                      .inputs = std::move(inputs),
                                      .shape = {1},
                                      .flops = 2 * cell.flops,
                                      .parameter_bytes = cell.parameter_bytes,
                                      .activation_bytes = input_bytes});
      for (const std::size_t from : cell.inputs) of_output[from].push_back(index);
      if (cells_[owner].parameter_bytes > 0) of_parameters[owner].push_back(index);
    }
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      const double bytes = cells_[i].parameter_bytes;
      if (bytes == 0) continue;
      std::vector<Input> inputs;
      for (const std::size_t gradient : of_parameters[i]) {
        inputs.push_back({.from = gradient, .bytes = bytes});
      }
      Emit({.name = "cell" + std::to_string(i) + "/update",
            .kind = "update",
            .phase = Phase::kUpdate,
            .group = cells_[i].group,
            .inputs = std::move(inputs),
            .shape = {1},
            .flops = bytes,
            .parameter_bytes = bytes,
            .activation_bytes = 0});
    }
  }

  runtime::Random& random_;
  const std::size_t wanted_;
  // Of a whole layer, and its bytes as shares of what is sent in its time.
  const double flops_;
  const double output_share_;
  const double parameter_share_;
  std::vector<std::string> groups_;
  std::vector<Cell> cells_;
  Graph graph_;
};

}  // namespace

Graph RandomNetwork(runtime::Random& random, const NetworkSize& size) {
  const std::size_t range = size.most_groups - size.least_groups + 1;
  const std::size_t groups = size.least_groups + static_cast<std::size_t>(random.Below(range));
  return Network(random, groups).Make();
}

}  // namespace shoal::placement
