// SPDX-License-Identifier: Apache-2.0
// The versions of the policy that were condemned: nothing that they did is trained on.
//
// A file keeps them, one range on each line as "<epoch> <first step> <last step>", and with the
// last step's epoch as a fourth number if it is another one. Ranges are only added, so a learner
// that starts again condemns the same versions. Not thread-safe.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "platform/runtime/status.h"
#include "rl/parameters/version.h"

namespace shoal::learner {

// Returns the versions that were published after the parameters `saved` and up to `current`, if
// there are any. With `continued`, the epoch of `current` began from those very parameters, so its
// step 0 is none of them, and neither are the versions of epochs before.
std::optional<parameters::VersionRange> VersionsAfter(const parameters::Version& saved,
                                                      const parameters::Version& current,
                                                      bool continued);

class Quarantine {
 public:
  // Reads `path`; without a file nothing is condemned. DATA_LOSS, which names file and line, if a
  // line is no range.
  static absl::StatusOr<Quarantine> Read(const std::string& path);

  void Add(const parameters::VersionRange& range) { ranges_.push_back(range); }
  const std::vector<parameters::VersionRange>& ranges() const { return ranges_; }
  bool Contains(const parameters::Version& version) const;
  // Replaces the file. Only one process at a time may write it. The errors are those of
  // WriteFileAtomically.
  absl::Status Write() const;

 private:
  explicit Quarantine(std::string path) : path_(std::move(path)) {}

  std::string path_;
  std::vector<parameters::VersionRange> ranges_;
};

}  // namespace shoal::learner
