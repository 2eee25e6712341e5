// SPDX-License-Identifier: Apache-2.0
#include "placement/gradual_placement.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>

#include "placement/group_graph.h"

namespace shoal::placement {
namespace {

constexpr std::size_t kGroupNumbers = 15;
constexpr std::size_t kChoiceNumbers = 12;
constexpr double kFailedSteps = 10;

struct Exchange {
  std::size_t group = 0;
  double bytes = 0;
};

// The devices and one more, the last, that takes no time and to which everything is sent at once.
DeviceSet WithNowhere(const DeviceSet& devices) {
  constexpr double kBoundless = std::numeric_limits<double>::infinity();
  const std::size_t count = devices.devices.size();
  DeviceSet extended = devices;
  extended.devices.push_back({.name = "nowhere",
                              .memory_bytes = kBoundless,
                              .speed = kBoundless,
                              .kind_speed = {},
                              .memory_speed = kBoundless,
                              .overhead = 0});
  extended.channels.push_back({.name = "nowhere", .bandwidth = kBoundless, .latency = 0});
  extended.channel_between.assign((count + 1) * (count + 1), devices.channels.size());
  for (std::size_t from = 0; from < count; ++from) {
    for (std::size_t to = 0; to < count; ++to) {
      extended.channel_between[from * (count + 1) + to] =
          devices.channel_between[from * count + to];
    }
  }
  return extended;
}

std::vector<Exchange> Listed(const std::map<std::size_t, double>& bytes) {
  std::vector<Exchange> list;
  for (const auto& [group, amount] : bytes) list.push_back({.group = group, .bytes = amount});
  return list;
}

double BytesOf(const std::vector<Exchange>& exchanges) {
  double sum = 0;
  for (const Exchange& exchange : exchanges) sum += exchange.bytes;
  return sum;
}

double Share(double part, double whole) { return whole > 0 ? part / whole : 0; }

}  // namespace

struct GradualPlacement::Group {
  // Of all operations on each device, and on the device that is fastest for the whole graph.
  std::vector<double> seconds;
  double fastest_seconds = 0;
  // The longest way from the start of its first operation to the end of the step, on that device.
  double way_seconds = 0;
  double parameter_bytes = 0;
  // Its forward operations, what these read of other groups and what those read of them, and all
  // bytes that pass between it and others in either direction.
  std::vector<std::size_t> forward;
  std::vector<Exchange> inputs;
  std::vector<Exchange> outputs;
  std::vector<Exchange> neighbours;
};

struct GradualPlacement::Facts {
  std::vector<Group> groups;
  std::vector<std::size_t> order;
  // The step on the fastest single device, never 0, and the longest way through the graph on it.
  double seconds = 0;
  double way_seconds = 0;
  // Parameters and outputs of all operations, as a share of all memories.
  double memory_share = 0;
  double most_memory = 0;
  double mean_seconds_per_byte = 0;
  std::vector<double> memory_bytes;
  std::vector<Channel> channels;
  std::vector<std::size_t> channel_between;

  Facts(const Graph& graph, const DeviceSet& devices, const Simulator& simulator);

 private:
  void ReadExchanges(const Graph& graph, const GroupGraph& group_graph);
  void ReadTimes(const Graph& graph, const Simulator& simulator);
  void ReadDevices(const Graph& graph, const DeviceSet& devices);
};

GradualPlacement::Facts::Facts(const Graph& graph, const DeviceSet& devices,
                               const Simulator& simulator)
    : groups(graph.groups.size()) {
  const GroupGraph group_graph = MakeGroupGraph(graph, simulator);
  order = group_graph.order;
  ReadExchanges(graph, group_graph);
  ReadTimes(graph, simulator);
  ReadDevices(graph, devices);
}

void GradualPlacement::Facts::ReadExchanges(const Graph& graph, const GroupGraph& group_graph) {
  std::vector<std::map<std::size_t, double>> inputs(groups.size());
  std::vector<std::map<std::size_t, double>> outputs(groups.size());
  for (std::size_t i = 0; i < graph.operations.size(); ++i) {
    const Operation& operation = graph.operations[i];
    groups[operation.group].parameter_bytes += operation.parameter_bytes;
    if (operation.phase != Phase::kForward) continue;
    groups[operation.group].forward.push_back(i);
    for (const Input& input : operation.inputs) {
      const std::size_t from = graph.operations[input.from].group;
      if (from == operation.group) continue;
      inputs[operation.group][from] += input.bytes;
      outputs[from][operation.group] += input.bytes;
    }
  }
  for (std::size_t group = 0; group < groups.size(); ++group) {
    groups[group].inputs = Listed(inputs[group]);
    groups[group].outputs = Listed(outputs[group]);
  }
  for (const auto& [pair, bytes] : group_graph.bytes) {
    groups[pair.first].neighbours.push_back({.group = pair.second, .bytes = bytes});
    groups[pair.second].neighbours.push_back({.group = pair.first, .bytes = bytes});
  }
}

void GradualPlacement::Facts::ReadTimes(const Graph& graph, const Simulator& simulator) {
  std::vector<double> total(simulator.devices());
  for (Group& group : groups) group.seconds.resize(simulator.devices());
  for (std::size_t position = 0; position < graph.operations.size(); ++position) {
    const std::size_t group = graph.operations[simulator.by_priority()[position]].group;
    for (std::size_t device = 0; device < total.size(); ++device) {
      total[device] += simulator.Seconds(position, device);
      groups[group].seconds[device] += simulator.Seconds(position, device);
    }
  }
  const auto fastest =
      static_cast<std::size_t>(std::min_element(total.begin(), total.end()) - total.begin());
  constexpr double kLeastSeconds = 1e-12;
  seconds = std::max(total[fastest], kLeastSeconds);
  std::vector<double> way(graph.operations.size());
  for (std::size_t position = graph.operations.size(); position-- > 0;) {
    const std::size_t index = simulator.by_priority()[position];
    const Operation& operation = graph.operations[index];
    way[index] += simulator.Seconds(position, fastest);
    for (const Input& input : operation.inputs) {
      way[input.from] = std::max(way[input.from], way[index]);
    }
    way_seconds = std::max(way_seconds, way[index]);
    Group& group = groups[operation.group];
    group.way_seconds = std::max(group.way_seconds, way[index]);
    group.fastest_seconds += simulator.Seconds(position, fastest);
  }
}

void GradualPlacement::Facts::ReadDevices(const Graph& graph, const DeviceSet& devices) {
  channels = devices.channels;
  channel_between = devices.channel_between;
  double memory = 0;
  for (const Device& device : devices.devices) {
    memory_bytes.push_back(device.memory_bytes);
    memory += device.memory_bytes;
    most_memory = std::max(most_memory, device.memory_bytes);
  }
  double needed = 0;
  for (const Operation& operation : graph.operations) {
    needed += operation.parameter_bytes + operation.activation_bytes;
  }
  memory_share = Share(needed, memory);
  const std::size_t count = devices.devices.size();
  for (std::size_t from = 0; from < count; ++from) {
    for (std::size_t to = 0; to < count; ++to) {
      if (from == to) continue;
      mean_seconds_per_byte += 1 / channels[channel_between[from * count + to]].bandwidth /
                               static_cast<double>(count * (count - 1));
    }
  }
}

absl::StatusOr<GradualPlacement> GradualPlacement::Create(const Graph& graph,
                                                          const DeviceSet& devices,
                                                          std::size_t choices) {
  if (devices.devices.size() > kMostGradualDevices) {
    return runtime::InvalidArgument("a policy places on at most " +
                                    std::to_string(kMostGradualDevices) + " devices, not on " +
                                    std::to_string(devices.devices.size()));
  }
  SHOAL_ASSIGN_OR_RETURN(Simulator whole, Simulator::Create(graph, devices));
  SHOAL_ASSIGN_OR_RETURN(Simulator partial, Simulator::Create(graph, WithNowhere(devices)));
  auto facts = std::make_shared<const Facts>(graph, devices, whole);
  GradualPlacement placement(std::move(facts), std::move(whole), std::move(partial), choices);
  placement.Restart();
  return placement;
}

GradualPlacement::GradualPlacement(std::shared_ptr<const Facts> facts, Simulator whole,
                                   Simulator partial, std::size_t choices)
    : facts_(std::move(facts)),
      whole_(std::move(whole)),
      partial_(std::move(partial)),
      choices_(choices) {}

std::size_t GradualPlacement::ObservationSize(std::size_t choices) {
  return kGroupNumbers + choices * kChoiceNumbers;
}

double GradualPlacement::CostOf(const Step& step) const {
  const double penalty = step.fits() ? 0 : kFailedSteps * (1 + step.excess);
  return step.seconds / facts_->seconds + penalty;
}

void GradualPlacement::Restart() {
  placement_.assign(whole_.groups(), devices());
  next_ = 0;
  step_ = {};
  cost_ = 0;
  load_.assign(devices(), 0);
  RankDevices();
}

const GradualPlacement::Group& GradualPlacement::NextGroup() const {
  return facts_->groups[facts_->order[next_]];
}

GradualPlacement::Candidate GradualPlacement::Try(std::size_t group, std::size_t device) {
  const Group& facts = facts_->groups[group];
  placement_[group] = device;
  Candidate candidate{.device = device, .step = *partial_.Run(placement_)};
  placement_[group] = devices();
  candidate.cost = CostOf(candidate.step);
  const std::vector<OperationRun> runs = partial_.Runs();
  for (const std::size_t operation : facts.forward) {
    candidate.finish = std::max(candidate.finish, runs[operation].finish);
  }
  candidate.memory = partial_.peak_bytes()[device] / facts_->memory_bytes[device];
  double here = 0;
  for (const Exchange& input : facts.inputs) {
    const std::size_t from = placement_[input.group];
    if (from == device) here += input.bytes;
    if (from == device || from == devices()) continue;
    const Channel& channel = facts_->channels[facts_->channel_between[from * devices() + device]];
    candidate.transfer_seconds += channel.Seconds(input.bytes);
  }
  candidate.inputs_here = Share(here, BytesOf(facts.inputs));
  double near = 0;
  double placed = 0;
  for (const Exchange& neighbour : facts.neighbours) {
    if (placement_[neighbour.group] == devices()) continue;
    placed += neighbour.bytes;
    if (placement_[neighbour.group] == device) near += neighbour.bytes;
  }
  candidate.neighbours_here = Share(near, placed);
  return candidate;
}

void GradualPlacement::RankDevices() {
  candidates_.clear();
  if (Ended()) return;
  for (std::size_t device = 0; device < devices(); ++device) {
    candidates_.push_back(Try(facts_->order[next_], device));
  }
  std::stable_sort(candidates_.begin(), candidates_.end(),
                   [](const Candidate& a, const Candidate& b) {
                     return std::tuple(a.cost, a.finish, -a.neighbours_here) <
                            std::tuple(b.cost, b.finish, -b.neighbours_here);
                   });
}

double GradualPlacement::Place(std::size_t choice) {
  const Candidate& chosen = candidates_[choice % candidates_.size()];
  const std::size_t group = facts_->order[next_++];
  placement_[group] = chosen.device;
  load_[chosen.device] += facts_->groups[group].seconds[chosen.device];
  const double before = cost_;
  step_ = Ended() ? *whole_.Run(placement_) : chosen.step;
  cost_ = CostOf(step_);
  RankDevices();
  return std::sqrt(before) - std::sqrt(cost_);
}

void GradualPlacement::Observe(std::span<float> out) const {
  std::fill(out.begin(), out.end(), 0.0F);
  if (Ended()) return;
  const Group& group = NextGroup();
  const auto count = static_cast<double>(groups());
  const double mean = facts_->seconds / count;
  // Of a time as a multiple of a mean group's.
  const auto log_groups = [mean](double seconds) { return std::log1p(seconds / mean); };
  const double load = std::accumulate(load_.begin(), load_.end(), 0.0);
  const double most_load = *std::max_element(load_.begin(), load_.end());
  const auto share = [this](double seconds) { return seconds / facts_->seconds; };
  const std::array<double, kGroupNumbers> of_group = {
      static_cast<double>(next_) / count,
      std::log(count),
      std::log(static_cast<double>(devices())),
      share(facts_->way_seconds),
      share(group.way_seconds),
      share(step_.seconds),
      share(load),
      share(most_load),
      log_groups(group.fastest_seconds),
      log_groups(BytesOf(group.inputs) * facts_->mean_seconds_per_byte),
      log_groups(BytesOf(group.outputs) * facts_->mean_seconds_per_byte),
      std::log1p(static_cast<double>(group.inputs.size())),
      std::log1p(static_cast<double>(group.outputs.size())),
      std::min(1.0, Share(group.parameter_bytes, facts_->most_memory)),
      std::log1p(facts_->memory_share)};
  auto next = std::transform(of_group.begin(), of_group.end(), out.begin(),
                             [](double number) { return static_cast<float>(number); });
  double first_finish = candidates_.front().finish;
  for (const Candidate& candidate : candidates_) {
    first_finish = std::min(first_finish, candidate.finish);
  }
  for (std::size_t choice = 0; choice < choices_; ++choice) {
    const Candidate& candidate = candidates_[choice % candidates_.size()];
    const double seconds = candidate.step.seconds;
    const double least = candidates_.front().step.seconds;
    const bool is_last = next_ > 0 && placement_[facts_->order[next_ - 1]] == candidate.device;
    const std::array<double, kChoiceNumbers> of_choice = {
        log_groups(std::max(0.0, seconds - step_.seconds)),
        log_groups(std::max(0.0, seconds - least)),
        log_groups(candidate.finish - first_finish),
        share(load_[candidate.device]),
        log_groups(group.seconds[candidate.device]),
        candidate.inputs_here,
        candidate.neighbours_here,
        log_groups(candidate.transfer_seconds),
        std::min(2.0, candidate.memory),
        candidate.step.fits() ? 0.0 : 1.0,
        load_[candidate.device] > 0 ? 0.0 : 1.0,
        is_last ? 1.0 : 0.0};
    next = std::transform(of_choice.begin(), of_choice.end(), next,
                          [](double number) { return static_cast<float>(number); });
  }
}

absl::StatusOr<Placement> PlaceByFirstChoices(const Graph& graph, const DeviceSet& devices,
                                              const std::function<bool()>& stop) {
  SHOAL_ASSIGN_OR_RETURN(GradualPlacement gradual, GradualPlacement::Create(graph, devices, 1));
  while (!gradual.Ended()) {
    if (stop()) return runtime::Cancelled("the first choices were stopped");
    gradual.Place(0);
  }
  return gradual.placement();
}

}  // namespace shoal::placement
