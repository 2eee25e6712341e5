// SPDX-License-Identifier: Apache-2.0
// Keeps the states of rounds as files, <folder>/round-<update>, with the update in 12 digits.
//
// Each file is written atomically, synced, and carries its digest (proto/round_state.proto). The
// last two are kept, since the learner may stop before it trains on the last one, and those of the
// last checkpoints, which are not told apart from the last two after a restart. Used from one
// thread, by one writer for each folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>

#include "inference/core/environment_state.h"
#include "platform/runtime/status.h"

namespace shoal::inference {

class RoundFolder final : public RoundStates {
 public:
  // As many as a learner keeps checkpoints, one that may not be whole yet, and two that were the
  // last ones before a restart.
  static constexpr std::size_t kHeld = 6;

  // The folder need not exist. The newest files that are there count as held. What a crash kept
  // from being renamed is removed.
  explicit RoundFolder(std::string path);

  void Keep(const RoundState& state) override;
  void Hold(std::uint64_t update) override;
  // A file that is damaged is logged and counts as none.
  std::optional<RoundState> Find(std::uint64_t update) override;

 private:
  std::string PathOf(std::uint64_t update) const;
  std::set<std::uint64_t> Updates() const;
  absl::StatusOr<RoundState> Read(const std::string& path) const;

  const std::string path_;
  std::set<std::uint64_t> held_;
};

}  // namespace shoal::inference
