// SPDX-License-Identifier: Apache-2.0
#include "learner/unrolls/quarantine.h"

#include <algorithm>
#include <limits>
#include <sstream>

#include "platform/runtime/atomic_file.h"

namespace shoal::learner {

std::vector<VersionRange> VersionsAfter(const parameters::Version& saved,
                                        const parameters::Version& current, bool continued) {
  constexpr std::uint64_t kMostEpochs = 1000;
  constexpr std::uint64_t kLast = std::numeric_limits<std::uint64_t>::max();
  std::vector<VersionRange> ranges;
  const auto add = [&ranges](std::uint64_t epoch, std::uint64_t first, std::uint64_t last) {
    if (first <= last) ranges.push_back({epoch, first, last});
  };
  if (saved.epoch > current.epoch) return ranges;
  if (saved.epoch == current.epoch) {
    add(current.epoch, saved.step + 1, current.step);
    return ranges;
  }
  if (continued) {
    add(current.epoch, 1, current.step);
    return ranges;
  }
  add(saved.epoch, saved.step + 1, kLast);
  const std::uint64_t between = std::min(current.epoch - saved.epoch - 1, kMostEpochs);
  for (std::uint64_t epoch = current.epoch - between; epoch < current.epoch; ++epoch) {
    add(epoch, 0, kLast);
  }
  add(current.epoch, 0, current.step);
  return ranges;
}

absl::StatusOr<Quarantine> Quarantine::Read(const std::string& path) {
  Quarantine quarantine(path);
  const auto text = runtime::ReadFile(path);
  if (absl::IsNotFound(text.status())) return quarantine;
  if (!text.ok()) return text.status();
  std::istringstream lines(*text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    std::istringstream fields(line);
    VersionRange range;
    std::string rest;
    const bool whole =
        static_cast<bool>(fields >> range.epoch >> range.first_step >> range.last_step);
    if (!whole || fields >> rest || range.last_step < range.first_step) {
      return runtime::DataLoss(path + ", line " + std::to_string(number) +
                               ": no range of versions: \"" + line + "\"");
    }
    quarantine.ranges_.push_back(range);
  }
  return quarantine;
}

void Quarantine::Add(std::span<const VersionRange> ranges) {
  ranges_.insert(ranges_.end(), ranges.begin(), ranges.end());
}

bool Quarantine::Contains(const parameters::Version& version) const {
  return std::any_of(ranges_.begin(), ranges_.end(), [&version](const VersionRange& range) {
    return range.epoch == version.epoch && range.first_step <= version.step &&
           version.step <= range.last_step;
  });
}

absl::Status Quarantine::Write() const {
  std::string text;
  for (const VersionRange& range : ranges_) {
    text += std::to_string(range.epoch) + " " + std::to_string(range.first_step) + " " +
            std::to_string(range.last_step) + "\n";
  }
  return runtime::WriteFileAtomically(path_, text);
}

}  // namespace shoal::learner
