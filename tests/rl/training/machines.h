// SPDX-License-Identifier: Apache-2.0
// Groups of ranks on machines that share no disk, and what they save and find there.
#pragma once

#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "rl/training/shared_checkpoints.h"
#include "tests/doubles/ranks.h"
#include "tests/doubles/temporary_folder.h"

namespace shoal::training {

namespace fs = std::filesystem;

using collectives::GradientReducer;

// What every rank of a group holds after so many updates.
inline Checkpoint StateOf(std::int64_t number) {
  std::string parameters(101, 'p');
  std::string moments(57, 'm');
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    parameters[i] = static_cast<char>(7 * static_cast<int>(i) + static_cast<int>(number));
  }
  moments[3] = static_cast<char>(number);
  return {number,
          {{"parameters.safetensors", parameters},
           {"optimiser.safetensors", moments},
           {"counters.json", "{\"updates\": " + std::to_string(number) + "}"}}};
}

// The folders of several machines.
class Machines {
 public:
  std::string root() const { return folder_.path(); }
  std::string Of(std::size_t machine) const {
    return folder_.At("machine-" + std::to_string(machine));
  }
  std::string File(std::size_t machine, std::int64_t number, const std::string& name) const {
    return Of(machine) + "/checkpoint-00000000000" + std::to_string(number) + "/" + name;
  }
  void Lose(std::size_t machine) const { fs::remove_all(Of(machine)); }

 private:
  const doubles::TemporaryFolder folder_;
};

// Where each rank has its folder.
using Placement = std::vector<std::size_t>;

inline Placement OneEach(std::size_t ranks) {
  Placement placement;
  for (std::size_t rank = 0; rank < ranks; ++rank) placement.push_back(rank);
  return placement;
}

inline absl::Status SaveOnRank(const std::string& root, GradientReducer& reducer,
                               std::int64_t number) {
  SHOAL_ASSIGN_OR_RETURN(const auto shared,
                         SharedCheckpoints::Create({.root = root, .keep = {.newest = 3}}, reducer));
  shared->Begin([&] { return [number] { return StateOf(number); }; });
  return shared->Settle();
}

inline void Save(const Machines& machines, const Placement& placement, std::int64_t number) {
  doubles::RunRanks(placement.size(), [&](std::size_t rank, GradientReducer& reducer) {
    return SaveOnRank(machines.Of(placement[rank]), reducer, number);
  });
}

// What a group found: the same on all ranks, but for whether it is in two folders.
struct Found {
  absl::Status status;
  Checkpoint checkpoint;
  std::vector<std::string> problems;
  bool survives = false;

  bool Says(const std::string& words) const {
    if (doubles::Mentions(status, words)) return true;
    for (const std::string& problem : problems) {
      if (problem.find(words) != std::string::npos) return true;
    }
    return false;
  }
};

inline Found Load(const Machines& machines, const Placement& placement) {
  std::vector<Found> all(placement.size());
  const auto ends = doubles::TryRanks(placement.size(), [&](std::size_t rank,
                                                            GradientReducer& reducer) {
    const std::string root = machines.Of(placement[rank]);
    SHOAL_ASSIGN_OR_RETURN(const auto shared, SharedCheckpoints::Create({.root = root}, reducer));
    SHOAL_ASSIGN_OR_RETURN(const SharedCheckpoint found, ReadSharedCheckpoint(root, reducer));
    all[rank] = {absl::OkStatus(), found.checkpoint, found.problems, shared->Survives(found)};
    return absl::OkStatus();
  });
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    INFO("rank " << rank << ": " << ends[rank]);
    REQUIRE(ends[rank].code() == ends[0].code());
    REQUIRE(all[rank].checkpoint == all[0].checkpoint);
    REQUIRE(all[rank].survives == all[0].survives);
  }
  all[0].status = ends[0];
  return all[0];
}

}  // namespace shoal::training
