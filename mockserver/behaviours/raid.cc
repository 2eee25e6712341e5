// SPDX-License-Identifier: Apache-2.0
#include "mockserver/behaviours/raid.h"

#include <array>

namespace shoal::mockserver {
namespace {

constexpr std::size_t kMostDrives = 256;

// Three-way mirrors need three drives; RAID50 and RAID60 consist of two spans.
constexpr std::array kLevels = {
    RaidLevel{"RAID0", "NonRedundant", 1, kMostDrives, 1, 1, 0},
    RaidLevel{"RAID1", "Mirrored", 2, 2, 2, 2, 0},
    RaidLevel{"RAID1E", "", 3, kMostDrives, 1, 2, 0},
    RaidLevel{"RAID1Triple", "", 3, 3, 3, 3, 0},
    RaidLevel{"RAID3", "", 3, kMostDrives, 1, 1, 1},
    RaidLevel{"RAID4", "", 3, kMostDrives, 1, 1, 1},
    RaidLevel{"RAID5", "StripedWithParity", 3, kMostDrives, 1, 1, 1},
    RaidLevel{"RAID6", "", 4, kMostDrives, 1, 1, 2},
    RaidLevel{"RAID6TP", "", 5, kMostDrives, 1, 1, 3},
    RaidLevel{"RAID00", "", 2, kMostDrives, 2, 1, 0},
    RaidLevel{"RAID01", "", 4, kMostDrives, 2, 2, 0},
    RaidLevel{"RAID10", "SpannedMirrors", 4, kMostDrives, 2, 2, 0},
    RaidLevel{"RAID10E", "", 6, kMostDrives, 2, 2, 0},
    RaidLevel{"RAID10Triple", "", 6, kMostDrives, 3, 3, 0},
    RaidLevel{"RAID50", "SpannedStripesWithParity", 6, kMostDrives, 2, 1, 2},
    RaidLevel{"RAID60", "", 8, kMostDrives, 2, 1, 4},
    RaidLevel{"None", "", 1, 1, 1, 1, 0},
};

}  // namespace

bool RaidLevel::Takes(std::size_t drives) const {
  return drives >= least_drives && drives <= most_drives && drives % multiple == 0;
}

std::uint64_t RaidLevel::CapacityBytes(std::size_t drives, std::uint64_t drive_bytes) const {
  return (drives - parity) * drive_bytes / copies;
}

const RaidLevel* FindRaidType(std::string_view raid_type) {
  for (const RaidLevel& level : kLevels) {
    if (level.raid_type == raid_type) return &level;
  }
  return nullptr;
}

const RaidLevel* FindVolumeType(std::string_view volume_type) {
  for (const RaidLevel& level : kLevels) {
    if (!volume_type.empty() && level.volume_type == volume_type) return &level;
  }
  return nullptr;
}

}  // namespace shoal::mockserver
