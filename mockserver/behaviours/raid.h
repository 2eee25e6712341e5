// SPDX-License-Identifier: Apache-2.0
// The placement policies of volumes (DSP0268, Volume: RAIDType): how many drives, how much of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace shoal::mockserver {

struct RaidLevel {
  std::string_view raid_type;
  // What older services call it; empty when they have no name for it.
  std::string_view volume_type;
  std::size_t least_drives;
  std::size_t most_drives;
  // The number of drives is a multiple of this.
  std::size_t multiple;
  // Each datum is on so many drives.
  std::size_t copies;
  // Drives' worth of parity.
  std::size_t parity;

  bool Takes(std::size_t drives) const;
  // What fits on `drives` of which the smallest has `drive_bytes`. REQUIRES: Takes(drives).
  std::uint64_t CapacityBytes(std::size_t drives, std::uint64_t drive_bytes) const;
};

// Null when there is no such policy.
const RaidLevel* FindRaidType(std::string_view raid_type);
const RaidLevel* FindVolumeType(std::string_view volume_type);

}  // namespace shoal::mockserver
