// SPDX-License-Identifier: Apache-2.0
// Encodes answers as a message. A pure function.
#pragma once

#include <cstdint>
#include <span>

#include "inference/core/row_block.h"
#include "proto/act.pb.h"

namespace shoal::inference {

proto::ActReply EncodeReply(std::span<const RowAnswer> answers, std::uint64_t server_epoch);

}  // namespace shoal::inference
