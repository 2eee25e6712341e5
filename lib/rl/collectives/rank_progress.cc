// SPDX-License-Identifier: Apache-2.0
#include "rl/collectives/rank_progress.h"

#include <string.h>
#include <sys/mman.h>

#include <cerrno>
#include <memory>
#include <string>

namespace shoal::collectives {

absl::StatusOr<RankProgress*> MapRankProgress(std::int64_t ranks) {
  const auto bytes = static_cast<std::size_t>(ranks) * sizeof(RankProgress);
  void* const memory =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    return runtime::ResourceExhausted(std::string("memory shared by ranks: ") + ::strerror(errno));
  }
  auto* const progress = static_cast<RankProgress*>(memory);
  std::uninitialized_default_construct_n(progress, ranks);
  return progress;
}

}  // namespace shoal::collectives
