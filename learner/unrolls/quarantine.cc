// SPDX-License-Identifier: Apache-2.0
#include "learner/unrolls/quarantine.h"

#include <algorithm>
#include <sstream>

#include "platform/runtime/atomic_file.h"

namespace shoal::learner {

std::optional<parameters::VersionRange> VersionsAfter(const parameters::Version& saved,
                                                      const parameters::Version& current,
                                                      bool continued) {
  parameters::Version first{.epoch = saved.epoch, .step = saved.step + 1};
  if (continued && saved.epoch < current.epoch) first = {.epoch = current.epoch, .step = 1};
  if (current < first) return std::nullopt;
  return parameters::VersionRange{.first = first, .last = current};
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
    parameters::VersionRange range;
    std::string rest;
    bool whole =
        static_cast<bool>(fields >> range.first.epoch >> range.first.step >> range.last.step);
    range.last.epoch = range.first.epoch;
    if (whole && !(fields >> std::ws).eof()) whole = static_cast<bool>(fields >> range.last.epoch);
    if (!whole || fields >> rest || range.last < range.first) {
      return runtime::DataLoss(path + ", line " + std::to_string(number) +
                               ": no range of versions: \"" + line + "\"");
    }
    quarantine.ranges_.push_back(range);
  }
  return quarantine;
}

bool Quarantine::Contains(const parameters::Version& version) const {
  return std::any_of(
      ranges_.begin(), ranges_.end(),
      [&version](const parameters::VersionRange& range) { return range.Contains(version); });
}

absl::Status Quarantine::Write() const {
  std::string text;
  for (const parameters::VersionRange& range : ranges_) {
    text += std::to_string(range.first.epoch) + " " + std::to_string(range.first.step) + " " +
            std::to_string(range.last.step);
    if (range.last.epoch != range.first.epoch) text += " " + std::to_string(range.last.epoch);
    text += "\n";
  }
  return runtime::WriteFileAtomically(path_, text);
}

}  // namespace shoal::learner
