// SPDX-License-Identifier: Apache-2.0
// The edge where a server's replies are checked, before anything trusts their arrays.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "platform/runtime/status.h"
#include "proto/act.pb.h"

namespace shoal::inference::client {

struct RowReply {
  std::uint64_t environment_id = 0;
  std::uint64_t sequence = 0;
  proto::RowStatus status = proto::ROW_OK;
  // Of ROW_OK rows.
  std::int64_t action = -1;
  std::uint64_t policy_epoch = 0;
  std::uint64_t policy_step = 0;
  // Of ROW_INVALID rows.
  std::string error = "";
};

// INVALID_ARGUMENT naming the array whose length, dtype or value is wrong.
absl::StatusOr<std::vector<RowReply>> ReadReplies(const proto::RowReplies& replies);

}  // namespace shoal::inference::client
