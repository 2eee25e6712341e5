// SPDX-License-Identifier: Apache-2.0
// The placement policies of volumes (DSP0268, Volume: RAIDType): how many drives a volume takes,
// and how much of them holds data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace shoal::mockserver {

struct RaidLevel {
  std::string_view raid_type;
  // The name in older services, or empty when they have none.
  std::string_view volume_type;
  std::size_t least_drives;
  std::size_t most_drives;
  // The number of drives must be a multiple of this.
  std::size_t multiple;
  // The number of drives on which each datum is stored.
  std::size_t copies;
  // The number of drives whose capacity goes to parity.
  std::size_t parity;

  bool Takes(std::size_t drives) const;
  // Returns the capacity, in bytes, of `drives` drives of which the smallest has `drive_bytes`.
  // REQUIRES: Takes(drives).
  std::uint64_t CapacityBytes(std::size_t drives, std::uint64_t drive_bytes) const;
};

// The Find functions return null when there is no such policy.
const RaidLevel* FindRaidType(std::string_view raid_type);
const RaidLevel* FindVolumeType(std::string_view volume_type);

}  // namespace shoal::mockserver
