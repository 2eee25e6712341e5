// SPDX-License-Identifier: Apache-2.0
// Several ranks in one test: a thread and a member of one group for each.
#pragma once

#include <cstddef>
#include <functional>
#include <thread>
#include <vector>

#include "rl/collectives/socket.h"
#include "rl/collectives/socket_reducer.h"

namespace shoal::doubles {

// Runs `work` on a thread a rank, each with its member of one group.
inline void RunRanks(
    std::size_t ranks,
    const std::function<void(std::size_t rank, collectives::GradientReducer& reducer)>& work) {
  collectives::RankEnvironment environment;
  environment.world_size = static_cast<std::int64_t>(ranks);
  environment.master_listener = collectives::Listen("127.0.0.1", environment.master_port).value();
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      collectives::RankEnvironment own = environment;
      own.rank = static_cast<std::int64_t>(rank);
      if (rank != 0) own.master_listener = -1;
      auto reducer = collectives::SocketReducer::Create(own, {});
      if (reducer.ok()) work(rank, **reducer);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace shoal::doubles
