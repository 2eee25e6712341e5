// SPDX-License-Identifier: Apache-2.0
#include "placement/rules.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

namespace shoal::placement {
namespace {

// The operations that one device has been given: start -> finish.
class Timeline {
 public:
  // Returns the earliest start of an operation that is ready at `ready`: in one of the gaps next to
  // that, or behind all.
  double EarliestStart(double ready, double seconds) const {
    auto next = busy_.upper_bound(ready);
    double start = ready;
    if (next != busy_.begin()) start = std::max(start, std::prev(next)->second);
    for (std::size_t gaps = 0; next != busy_.end() && next->first < start + seconds; ++gaps) {
      if (gaps == kHeftGaps) return std::max(start, std::prev(busy_.end())->second);
      start = std::max(start, next->second);
      ++next;
    }
    return start;
  }

  // Operations that follow each other without a gap become one entry.
  void Occupy(double start, double finish) {
    if (finish <= start) return;
    auto next = busy_.lower_bound(start);
    if (next != busy_.end() && next->first <= finish) {
      finish = std::max(finish, next->second);
      next = busy_.erase(next);
    }
    if (next != busy_.begin() && std::prev(next)->second >= start) {
      std::prev(next)->second = finish;
    } else {
      busy_.emplace(start, finish);
    }
  }

 private:
  std::map<double, double> busy_;
};

// Returns the run of each part. A part for which it makes no difference begins the next run, so
// that equal layers are not doubled before it must be.
std::vector<std::size_t> CutIntoRuns(const std::vector<double>& seconds, std::size_t count) {
  constexpr double kNoDifference = 0.01;
  double left = std::accumulate(seconds.begin(), seconds.end(), 0.0);
  std::vector<std::size_t> runs;
  std::size_t run = 0;
  double share = left / static_cast<double>(count);
  double taken = 0;
  for (const double part : seconds) {
    const double nearer = std::abs(share - taken) - std::abs(share - taken - part);
    if (run + 1 < count && taken > 0 && nearer <= kNoDifference * share) {
      left -= taken;
      taken = 0;
      ++run;
      share = left / static_cast<double>(count - run);
    }
    taken += part;
    runs.push_back(run);
  }
  return runs;
}

}  // namespace

Placement OnOneDevice(Simulator& simulator) {
  Placement best;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t device = 0; device < simulator.devices(); ++device) {
    Placement placement(simulator.groups(), device);
    const double cost = simulator.Run(placement)->cost();
    if (!best.empty() && cost >= least) continue;
    best = std::move(placement);
    least = cost;
  }
  return best;
}

Placement SplitEvenly(const GroupGraph& groups, const std::vector<std::size_t>& devices) {
  const double total = std::accumulate(groups.seconds.begin(), groups.seconds.end(), 0.0);
  Placement placement(groups.seconds.size());
  double before = 0;
  for (const std::size_t group : groups.order) {
    const double middle = before + groups.seconds[group] / 2;
    before += groups.seconds[group];
    const double share = total > 0 ? middle / total : 0;
    const auto run = static_cast<std::size_t>(share * static_cast<double>(devices.size()));
    placement[group] = devices[std::min(run, devices.size() - 1)];
  }
  return placement;
}

Placement SplitByLayer(const Graph& graph, const GroupGraph& groups,
                       const std::vector<std::size_t>& devices) {
  // Layers are numbered in the order of their first groups.
  std::map<std::string, std::size_t> layers;
  std::vector<std::size_t> layer_of(groups.seconds.size());
  std::vector<double> seconds;
  for (const std::size_t group : groups.order) {
    const std::string& name = graph.groups[group];
    const auto [layer, is_new] = layers.emplace(name.substr(0, name.rfind('/')), layers.size());
    if (is_new) seconds.push_back(0);
    layer_of[group] = layer->second;
    seconds[layer->second] += groups.seconds[group];
  }
  const std::vector<std::size_t> runs = CutIntoRuns(seconds, devices.size());
  Placement placement(groups.seconds.size());
  for (std::size_t group = 0; group < placement.size(); ++group) {
    placement[group] = devices[runs[layer_of[group]]];
  }
  return placement;
}

Placement Heft(const Graph& graph, const DeviceSet& devices, const Simulator& simulator) {
  const std::size_t count = devices.devices.size();
  std::vector<std::optional<std::size_t>> chosen(graph.groups.size());
  std::vector<double> finish(graph.operations.size());
  std::vector<Timeline> timelines(count);
  for (std::size_t position = 0; position < graph.operations.size(); ++position) {
    const std::size_t index = simulator.by_priority()[position];
    const Operation& operation = graph.operations[index];
    std::optional<std::size_t>& device = chosen[operation.group];
    double best_start = 0;
    double best_finish = std::numeric_limits<double>::infinity();
    std::size_t best = 0;
    for (std::size_t candidate = 0; candidate < count; ++candidate) {
      if (device && *device != candidate) continue;
      double ready = 0;
      for (const Input& input : operation.inputs) {
        const std::size_t from = chosen[graph.operations[input.from].group].value_or(candidate);
        double arrival = finish[input.from];
        if (from != candidate) {
          const Channel& channel =
              devices.channels[devices.channel_between[from * count + candidate]];
          arrival += channel.Seconds(input.bytes);
        }
        ready = std::max(ready, arrival);
      }
      const double seconds = simulator.Seconds(position, candidate);
      const double start = timelines[candidate].EarliestStart(ready, seconds);
      if (start + seconds < best_finish) {
        best_start = start;
        best_finish = start + seconds;
        best = candidate;
      }
    }
    device = best;
    finish[index] = best_finish;
    timelines[best].Occupy(best_start, best_finish);
  }
  Placement placement;
  for (const std::optional<std::size_t>& device : chosen) placement.push_back(device.value_or(0));
  return placement;
}

}  // namespace shoal::placement
