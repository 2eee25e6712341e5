// SPDX-License-Identifier: Apache-2.0
// The versions of the policy that were condemned: nothing that they did is trained on.
//
// A file keeps them, one range on each line as "<epoch> <first step> <last step>". Ranges are only
// added, so a learner that starts again condemns the same versions. Not thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "platform/runtime/status.h"
#include "rl/parameters/version.h"

namespace shoal::learner {

// The steps `first_step` to `last_step` of an epoch.
struct VersionRange {
  std::uint64_t epoch = 0;
  std::uint64_t first_step = 0;
  std::uint64_t last_step = 0;

  friend bool operator==(const VersionRange&, const VersionRange&) = default;
};

// Returns the versions that were published after the parameters `saved` and up to `current`. With
// `continued`, the epoch of `current` began from those very parameters, so its step 0 is none of
// them, and neither are the versions of epochs before. None if `saved` is newer than `current`. Of
// epochs between, the last thousand: numbers may be far apart where a folder was new
// (../epoch_file.h).
std::vector<VersionRange> VersionsAfter(const parameters::Version& saved,
                                        const parameters::Version& current, bool continued);

class Quarantine {
 public:
  // Reads `path`; without a file nothing is condemned. DATA_LOSS, which names file and line, if a
  // line is no range.
  static absl::StatusOr<Quarantine> Read(const std::string& path);

  void Add(std::span<const VersionRange> ranges);
  const std::vector<VersionRange>& ranges() const { return ranges_; }
  bool Contains(const parameters::Version& version) const;
  // Replaces the file. Only one process at a time may write it. The errors are those of
  // WriteFileAtomically.
  absl::Status Write() const;

 private:
  explicit Quarantine(std::string path) : path_(std::move(path)) {}

  std::string path_;
  std::vector<VersionRange> ranges_;
};

}  // namespace shoal::learner
