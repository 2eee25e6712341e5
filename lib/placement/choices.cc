// SPDX-License-Identifier: Apache-2.0
#include "placement/choices.h"

#include <algorithm>

namespace shoal::placement {

ChoiceDecoder::ChoiceDecoder(const GroupGraph& groups, std::size_t devices)
    : devices_(devices), order_(groups.order), neighbours_(groups.seconds.size()) {
  std::vector<std::size_t> position(order_.size());
  for (std::size_t i = 0; i < order_.size(); ++i) position[order_[i]] = i;
  for (const auto& [pair, bytes] : groups.bytes) {
    if (bytes == 0) continue;
    const bool ordered = position[pair.first] < position[pair.second];
    const std::size_t before = ordered ? pair.first : pair.second;
    const std::size_t after = ordered ? pair.second : pair.first;
    neighbours_[after].emplace_back(before, bytes);
  }
}

std::size_t ChoiceDecoder::Followed(std::size_t group, const Placement& placement,
                                    std::size_t last) const {
  if (neighbours_[group].empty()) return last;
  std::vector<double> bytes(devices_);
  for (const auto& [neighbour, sent] : neighbours_[group]) bytes[placement[neighbour]] += sent;
  return static_cast<std::size_t>(std::max_element(bytes.begin(), bytes.end()) - bytes.begin());
}

Placement ChoiceDecoder::Decode(const Choices& choices) const {
  Placement placement(choices.size());
  std::size_t device = 0;
  for (const std::size_t group : order_) {
    device = choices[group] < devices_ ? choices[group] : Followed(group, placement, device);
    placement[group] = device;
  }
  return placement;
}

Choices ChoiceDecoder::Encode(const Placement& placement) const {
  Choices choices(placement.begin(), placement.end());
  std::size_t last = 0;
  for (const std::size_t group : order_) {
    if (Followed(group, placement, last) == placement[group])
      choices[group] = static_cast<std::uint8_t>(devices_);
    last = placement[group];
  }
  return choices;
}

}  // namespace shoal::placement
