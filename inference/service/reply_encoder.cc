// SPDX-License-Identifier: Apache-2.0
#include "inference/service/reply_encoder.h"

#include <string>
#include <unordered_set>

namespace shoal::inference {

proto::ActReply EncodeReply(std::span<const RowAnswer> answers, std::uint64_t server_epoch) {
  proto::ActReply reply;
  proto::RowReplies& rows = *reply.mutable_replies();
  rows.set_server_epoch(server_epoch);
  const int count = static_cast<int>(answers.size());
  rows.mutable_environment_ids()->Reserve(count);
  rows.mutable_sequences()->Reserve(count);
  rows.mutable_statuses()->Reserve(count);
  rows.mutable_policy_epochs()->Reserve(count);
  rows.mutable_policy_steps()->Reserve(count);
  std::string actions;
  actions.reserve(answers.size() * sizeof(std::int64_t));
  std::unordered_set<content::ContentKey> missing;
  for (const RowAnswer& answer : answers) {
    rows.add_environment_ids(answer.environment);
    rows.add_sequences(answer.sequence);
    rows.add_statuses(static_cast<proto::RowStatus>(answer.status));
    rows.add_policy_epochs(answer.version.epoch);
    rows.add_policy_steps(answer.version.step);
    actions.append(reinterpret_cast<const char*>(&answer.action), sizeof answer.action);
    for (const content::ContentKey& key : answer.missing) {
      if (!missing.insert(key).second) continue;
      const std::string bytes(key.AsBytes());
      if (answer.status == RowStatus::kNeedCatalog) {
        rows.add_missing_catalogs(bytes);
      } else {
        rows.add_missing_keys(bytes);
      }
    }
    if (answer.status == RowStatus::kInvalid) rows.add_errors(answer.error);
  }
  proto::Tensor& tensor = *rows.mutable_actions();
  tensor.set_dtype(proto::INT64);
  tensor.add_shape(static_cast<std::int64_t>(answers.size()));
  tensor.set_data(std::move(actions));
  return reply;
}

}  // namespace shoal::inference
