// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/forked_ranks.h"

#include <sys/wait.h>
#include <unistd.h>

#include <vector>

#include "rl/collectives/socket.h"

namespace shoal::bench {

absl::Status RunForkedRanks(
    std::int64_t ranks,
    const std::function<absl::Status(const collectives::RankEnvironment& environment)>& work) {
  collectives::RankEnvironment environment{.world_size = ranks};
  SHOAL_ASSIGN_OR_RETURN(environment.master_listener,
                         collectives::Listen("127.0.0.1", environment.master_port));
  std::vector<pid_t> children;
  for (std::int64_t rank = 1; rank < ranks; ++rank) {
    const pid_t child = ::fork();
    if (child != 0) {
      children.push_back(child);
      continue;
    }
    environment.rank = rank;
    ::close(environment.master_listener);
    ::_exit(work(environment).ok() ? 0 : 1);
  }
  const absl::Status led = work(environment);
  bool whole = true;
  for (const pid_t child : children) {
    int end = 0;
    whole = ::waitpid(child, &end, 0) == child && end == 0 && whole;
  }
  SHOAL_RETURN_IF_ERROR(led);
  return whole ? absl::OkStatus() : runtime::Internal("a rank has failed");
}

}  // namespace shoal::bench
