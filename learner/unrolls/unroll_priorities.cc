// SPDX-License-Identifier: Apache-2.0
#include "learner/unrolls/unroll_priorities.h"

#include <cstddef>
#include <utility>

namespace shoal::learner {

std::vector<replay::client::PriorityUpdate> PrioritiesOf(std::span<const DecodedUnroll> unrolls,
                                                         std::span<const float> priorities) {
  std::vector<replay::client::PriorityUpdate> updates;
  for (std::size_t i = 0; i < priorities.size(); ++i) {
    const DecodedUnroll& unroll = unrolls[i];
    proto::UnrollId id;
    id.set_environment_id(unroll.key.id.environment_id);
    id.set_incarnation(unroll.key.id.incarnation);
    id.set_first_sequence(unroll.key.id.first_sequence);
    updates.push_back({.shard = unroll.shard, .id = std::move(id), .priority = priorities[i]});
  }
  return updates;
}

}  // namespace shoal::learner
