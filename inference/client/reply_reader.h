// SPDX-License-Identifier: Apache-2.0
// Checks a server's replies before any other code uses their arrays.
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
  // Set for ROW_OK.
  std::int64_t action = -1;
  std::uint64_t policy_epoch = 0;
  std::uint64_t policy_step = 0;
  // Set for ROW_INVALID.
  std::string error = "";
};

// Returns INVALID_ARGUMENT, which names the array, if a length, dtype or value is wrong.
absl::StatusOr<std::vector<RowReply>> ReadReplies(const proto::RowReplies& replies);

}  // namespace shoal::inference::client
