// SPDX-License-Identifier: Apache-2.0
// A graph that is placed group by group: what a policy sees of the next group and of the devices
// that it may choose, and what each choice costs.
//
// The groups come in the order of their first operations' priority (GroupGraph::order). Groups that
// have no device yet are simulated on one more device, which takes no time for anything, so the
// simulator says how long the step takes at least if the rest cost nothing. Before each choice this
// is simulated with the group on every device in turn. A choice is a rank, not a device: 0 is the
// device with which the step so far costs least, then the one on which the group's forward
// operations finish first, then the one that has most of what the group reads. So a policy neither
// depends on how devices are numbered nor on how many there are. Ranks beyond the devices begin
// again with the first.
//
// What a choice is worth telescopes: from the first group to the last, values add up to minus the
// square root (Mirhoseini et al., ICML 2017) of the placement's cost as a share of the step on the
// fastest single device. A placement that does not fit costs ten such steps more, and further ones
// in proportion to what is missing, from the choice on that exceeds a memory.
//
// Copies are independent of each other. Not thread-safe.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "placement/device_set.h"
#include "placement/graph.h"
#include "placement/simulator.h"

namespace shoal::placement {

// The extra device must be within kMostDevices.
inline constexpr std::size_t kMostGradualDevices = kMostDevices - 1;

// The most ranks that a policy chooses from.
inline constexpr std::size_t kMostChoices = 16;

class GradualPlacement {
 public:
  // Nothing of the graph and the devices is kept. Errors are those of Simulator::Create, and
  // INVALID_ARGUMENT for more than kMostGradualDevices devices. REQUIRES: 1 <= choices <=
  // kMostChoices.
  static absl::StatusOr<GradualPlacement> Create(const Graph& graph, const DeviceSet& devices,
                                                 std::size_t choices);

  // The length of an observation of so many choices.
  static std::size_t ObservationSize(std::size_t choices);

  // Takes all groups off their devices.
  void Restart();
  // Writes the numbers of the step so far and of the next group, then those of each choice by rank;
  // zeros after the last group. Times are shares of the fastest single device's step, or
  // logarithms of multiples of a mean group. REQUIRES: `out` has ObservationSize numbers.
  void Observe(std::span<float> out) const;
  // Places the next group and returns what that is worth. REQUIRES: choice < choices, !Ended().
  double Place(std::size_t choice);
  // Whether every group has a device.
  bool Ended() const { return next_ == placement_.size(); }

  // The device of each group; devices() where it has none yet.
  const Placement& placement() const { return placement_; }
  // The simulated step so far; after the last group, that of the placement.
  const Step& step() const { return step_; }
  // What the placement `step` costs, in steps of the fastest single device.
  double CostOf(const Step& step) const;
  std::size_t groups() const { return placement_.size(); }
  std::size_t devices() const { return whole_.devices(); }

 private:
  // What is known of a group from the start.
  struct Group;
  struct Facts;
  // The next group on one device.
  struct Candidate {
    std::size_t device = 0;
    Step step = {};
    double cost = 0;
    // When the group's forward operations have finished.
    double finish = 0;
    // The most bytes that the device holds, as a share of its memory.
    double memory = 0;
    // Of what the group's forward operations read from other groups, and of all that it exchanges
    // with groups that have a device, the share that is on this device.
    double inputs_here = 0;
    double neighbours_here = 0;
    // How long the inputs from other devices take.
    double transfer_seconds = 0;
  };

  GradualPlacement(std::shared_ptr<const Facts> facts, Simulator whole, Simulator partial,
                   std::size_t choices);
  Candidate Try(std::size_t group, std::size_t device);
  // Simulates the next group on every device, and ranks the devices.
  void RankDevices();
  const Group& NextGroup() const;

  std::shared_ptr<const Facts> facts_;
  // Of the devices alone, and with the one more.
  Simulator whole_;
  Simulator partial_;
  std::size_t choices_ = 0;

  Placement placement_;
  // The number of groups that have a device.
  std::size_t next_ = 0;
  Step step_;
  double cost_ = 0;
  // Seconds of the groups of each device.
  std::vector<double> load_;
  // By rank.
  std::vector<Candidate> candidates_;
};

// Takes the first choice for every group. `stop` is asked before each group. Errors are those of
// Create, and CANCELLED once it returns true.
absl::StatusOr<Placement> PlaceByFirstChoices(
    const Graph& graph, const DeviceSet& devices,
    const std::function<bool()>& stop = [] { return false; });

}  // namespace shoal::placement
