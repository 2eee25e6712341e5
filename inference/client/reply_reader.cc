// SPDX-License-Identifier: Apache-2.0
#include "inference/client/reply_reader.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "platform/transport/wire_tensor.h"

namespace shoal::inference::client {
namespace {

absl::Status CheckLength(const char* name, int length, int rows) {
  if (length == rows) return absl::OkStatus();
  return runtime::InvalidArgument(std::string("replies.") + name + " has " +
                                  std::to_string(length) + " entries for " + std::to_string(rows) +
                                  " rows");
}

}  // namespace

absl::StatusOr<std::vector<RowReply>> ReadReplies(const proto::RowReplies& replies) {
  const int count = replies.environment_ids_size();
  SHOAL_RETURN_IF_ERROR(CheckLength("sequences", replies.sequences_size(), count));
  SHOAL_RETURN_IF_ERROR(CheckLength("statuses", replies.statuses_size(), count));
  std::vector<RowReply> rows(static_cast<std::size_t>(count));
  bool any_action = false;
  int invalid = 0;
  for (int i = 0; i < count; ++i) {
    RowReply& row = rows[static_cast<std::size_t>(i)];
    row.environment_id = replies.environment_ids(i);
    row.sequence = replies.sequences(i);
    if (!proto::RowStatus_IsValid(replies.statuses(i))) {
      return runtime::InvalidArgument("replies.statuses has the unknown value " +
                                      std::to_string(replies.statuses(i)));
    }
    row.status = replies.statuses(i);
    any_action = any_action || row.status == proto::ROW_OK;
    if (row.status == proto::ROW_INVALID && invalid < replies.errors_size()) {
      row.error = replies.errors(invalid++);
    }
  }
  if (!any_action) return rows;
  SHOAL_RETURN_IF_ERROR(CheckLength("policy_epochs", replies.policy_epochs_size(), count));
  SHOAL_RETURN_IF_ERROR(CheckLength("policy_steps", replies.policy_steps_size(), count));
  const std::array<std::int64_t, 1> shape = {count};
  SHOAL_ASSIGN_OR_RETURN(
      const runtime::TensorView actions,
      transport::ViewAs(replies.actions(), "replies.actions", runtime::DType::kInt64, shape));
  for (int i = 0; i < count; ++i) {
    RowReply& row = rows[static_cast<std::size_t>(i)];
    std::memcpy(&row.action,
                actions.bytes.data() + static_cast<std::size_t>(i) * sizeof(row.action),
                sizeof(row.action));
    row.policy_epoch = replies.policy_epochs(i);
    row.policy_step = replies.policy_steps(i);
  }
  return rows;
}

}  // namespace shoal::inference::client
