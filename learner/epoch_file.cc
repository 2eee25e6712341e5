// SPDX-License-Identifier: Apache-2.0
#include "learner/epoch_file.h"

#include <charconv>
#include <limits>
#include <system_error>

#include "platform/runtime/atomic_file.h"

namespace shoal::learner {

absl::StatusOr<std::uint64_t> BumpEpoch(const std::string& path) {
  constexpr std::size_t kMaxBytes = 64;
  std::uint64_t epoch = 0;
  const auto bytes = runtime::ReadFile(path, kMaxBytes);
  if (bytes.ok()) {
    const char* const end = bytes->data() + bytes->size();
    const auto [rest, error] = std::from_chars(bytes->data(), end, epoch);
    const bool whole = rest == end || (rest + 1 == end && *rest == '\n');
    if (error != std::errc() || !whole || epoch == std::numeric_limits<std::uint64_t>::max()) {
      return runtime::DataLoss(path + " does not hold an epoch: \"" + *bytes + "\"");
    }
  } else if (!absl::IsNotFound(bytes.status())) {
    return bytes.status();
  }
  ++epoch;
  SHOAL_RETURN_IF_ERROR(runtime::WriteFileAtomically(path, std::to_string(epoch) + "\n"));
  return epoch;
}

}  // namespace shoal::learner
