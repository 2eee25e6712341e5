// SPDX-License-Identifier: Apache-2.0
#include "placement/choices.h"

#include <catch2/catch.hpp>
#include <map>

#include "placement/simulator.h"
#include "small_graphs.h"

namespace shoal::placement {
namespace {

// Groups in the order of their numbers.
GroupGraph GroupsWith(std::size_t count,
                      std::map<std::pair<std::size_t, std::size_t>, double> bytes) {
  GroupGraph groups = {
      .seconds = std::vector<double>(count, 1), .bytes = std::move(bytes), .order = {}};
  for (std::size_t group = 0; group < count; ++group) groups.order.push_back(group);
  return groups;
}

// By the words of the header, as slowly as they say it.
Placement DecodeByWords(const GroupGraph& groups, std::size_t devices, const Choices& choices) {
  std::map<std::size_t, std::size_t> placed;
  std::size_t last = 0;
  for (const std::size_t group : groups.order) {
    std::map<std::size_t, double> bytes;
    for (const auto& [pair, sent] : groups.bytes) {
      if (sent == 0) continue;
      if (pair.first == group && placed.contains(pair.second)) bytes[placed[pair.second]] += sent;
      if (pair.second == group && placed.contains(pair.first)) bytes[placed[pair.first]] += sent;
    }
    std::size_t most = bytes.empty() ? last : bytes.begin()->first;
    for (const auto& [device, sent] : bytes) most = sent > bytes[most] ? device : most;
    last = placed[group] = choices[group] < devices ? choices[group] : most;
  }
  Placement placement;
  for (const auto& [group, device] : placed) placement.push_back(device);
  return placement;
}

TEST_CASE("a choice below the number of devices is a device") {
  const ChoiceDecoder decoder(GroupsWith(3, {{{0, 1}, 5}, {{1, 2}, 5}}), 4);
  REQUIRE(decoder.Decode({3, 0, 2}) == Placement{3, 0, 2});
}

TEST_CASE("a run of groups that follow moves with its first group") {
  const ChoiceDecoder decoder(GroupsWith(4, {{{0, 1}, 5}, {{1, 2}, 5}, {{2, 3}, 5}}), 3);
  REQUIRE(decoder.Decode({1, 3, 3, 3}) == Placement{1, 1, 1, 1});
  REQUIRE(decoder.Decode({2, 3, 0, 3}) == Placement{2, 2, 0, 0});
  REQUIRE(decoder.Decode({3, 3, 3, 3}) == Placement{0, 0, 0, 0});
}

TEST_CASE(
    "a group follows to the device with the most of what it exchanges, or else the last one") {
  // Of group 3, devices 0 and 1 have 4 and 5 bytes; the largest single neighbour is on device 0.
  const ChoiceDecoder decoder(GroupsWith(5, {{{0, 3}, 4}, {{1, 3}, 3}, {{2, 3}, 2}}), 2);
  REQUIRE(decoder.Decode({0, 1, 1, 2, 2}) == Placement{0, 1, 1, 1, 1});
  const ChoiceDecoder alike(GroupsWith(3, {{{0, 2}, 4}, {{1, 2}, 4}}), 2);
  REQUIRE(alike.Decode({1, 0, 2}) == Placement{1, 0, 0});
}

TEST_CASE("choices of random graphs are decoded as their definition says") {
  runtime::Random random(5);
  for (int i = 0; i < 300; ++i) {
    const Graph graph = RandomGraph(random, 20, 9);
    const std::size_t devices = 1 + random.Below(4);
    const Simulator simulator = Simulator::Create(graph, EqualDevices(devices, 1e6)).value();
    const GroupGraph groups = MakeGroupGraph(graph, simulator);
    const Placement drawn = RandomPlacement(random, graph.groups.size(), devices + 1);
    const Choices choices(drawn.begin(), drawn.end());
    REQUIRE(ChoiceDecoder(groups, devices).Decode(choices) ==
            DecodeByWords(groups, devices, choices));
  }
}

TEST_CASE("a placement is encoded by following wherever that leads to it, and decoded to itself") {
  const ChoiceDecoder chain(GroupsWith(4, {{{0, 1}, 5}, {{1, 2}, 5}, {{2, 3}, 5}}), 3);
  REQUIRE(chain.Encode({1, 1, 2, 2}) == Choices{1, 3, 2, 3});
  REQUIRE(chain.Encode({0, 0, 0, 1}) == Choices{3, 3, 3, 1});
  runtime::Random random(6);
  for (int i = 0; i < 300; ++i) {
    const Graph graph = RandomGraph(random, 20, 9);
    const std::size_t devices = 1 + random.Below(4);
    const Simulator simulator = Simulator::Create(graph, EqualDevices(devices, 1e6)).value();
    const GroupGraph groups = MakeGroupGraph(graph, simulator);
    const ChoiceDecoder decoder(groups, devices);
    const Placement placement = RandomPlacement(random, graph.groups.size(), devices);
    const Choices choices = decoder.Encode(placement);
    REQUIRE(decoder.Decode(choices) == placement);
    for (std::size_t group = 0; group < choices.size(); ++group) {
      if (choices[group] == devices) continue;
      Choices following = choices;
      following[group] = static_cast<std::uint8_t>(devices);
      REQUIRE(decoder.Decode(following)[group] != placement[group]);
    }
  }
}

}  // namespace
}  // namespace shoal::placement
