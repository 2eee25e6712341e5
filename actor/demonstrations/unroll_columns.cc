// SPDX-License-Identifier: Apache-2.0
#include "actor/demonstrations/unroll_columns.h"

#include "proto/act.pb.h"

namespace shoal::actor {

void AddOutcomes(const ExpertSteps& steps, std::uint64_t episode, proto::Unroll& unroll) {
  const std::size_t count = steps.actions.size();
  const auto length = static_cast<std::int64_t>(count);
  std::vector<std::uint8_t> flags(count + 1, proto::ROW_FLAG_NONE);
  flags[0] |= proto::ROW_FLAG_FIRST;
  flags[count - 1] |= proto::ROW_FLAG_TERMINATED;
  ColumnWriter writer(*unroll.mutable_step_columns());
  writer.Add("action", {length}, steps.actions);
  writer.Add("behaviour_log_probability", {length}, std::vector<float>(count));
  writer.Add("value", {length + 1}, std::vector<float>(count + 1));
  writer.Add("reward", {length}, steps.rewards);
  writer.Add("flags", {length + 1}, flags);
  writer.Add("policy_epoch", {length}, std::vector<std::int64_t>(count));
  writer.Add("policy_step", {length}, std::vector<std::int64_t>(count));
  writer.Add("episode_id", {length + 1},
             std::vector<std::int64_t>(count + 1, static_cast<std::int64_t>(episode)));
}

}  // namespace shoal::actor
