// SPDX-License-Identifier: Apache-2.0
#include "learner/epoch_file.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "platform/runtime/atomic_file.h"

namespace shoal::learner {

absl::StatusOr<std::uint64_t> ReadEpoch(const std::string& path) {
  constexpr std::size_t kMaxBytes = 64;
  // Ranks compare epochs as doubles.
  constexpr std::uint64_t kLimit = std::uint64_t{1} << 53;
  std::uint64_t epoch = 0;
  const auto bytes = runtime::ReadFile(path, kMaxBytes);
  if (absl::IsNotFound(bytes.status())) return epoch;
  if (!bytes.ok()) return bytes.status();
  const char* const end = bytes->data() + bytes->size();
  const auto [rest, error] = std::from_chars(bytes->data(), end, epoch);
  const bool whole = rest == end || (rest + 1 == end && *rest == '\n');
  if (error != std::errc() || !whole || epoch >= kLimit) {
    return runtime::DataLoss(path + " does not hold an epoch: \"" + *bytes + "\"");
  }
  return epoch;
}

std::uint64_t FirstEpoch(bool deterministic, const runtime::Clock& clock) {
  return deterministic ? 1 : std::max<std::uint64_t>(1, clock.UnixNanos() / 1'000'000);
}

absl::Status WriteEpoch(const std::string& path, std::uint64_t epoch) {
  return runtime::WriteFileAtomically(path, std::to_string(epoch) + "\n");
}

}  // namespace shoal::learner
