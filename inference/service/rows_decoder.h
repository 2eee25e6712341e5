// SPDX-License-Identifier: Apache-2.0
// proto::ActRequest, checked and turned into what the core works on.
//
// Pure. What is wrong with one row is that row's error; what is wrong with an array is the error of
// all rows of the message. Only a message whose rows cannot be named (ids and sequences of
// different number, none, or too many) is refused as a whole.
#pragma once

#include <cstddef>
#include <memory>

#include "inference/core/admission.h"
#include "inference/core/row_block.h"
#include "inference/core/row_layout.h"
#include "platform/runtime/clock.h"
#include "platform/runtime/status.h"
#include "proto/act.pb.h"

namespace shoal::inference {

inline constexpr int kMaxRowsInMessage = 65536;

// INVALID_ARGUMENT when the message cannot be answered by rows.
absl::StatusOr<std::shared_ptr<RowBlock>> DecodeRows(const proto::Rows& rows,
                                                     std::shared_ptr<const RowLayout> layout,
                                                     const PolicyShape& shape,
                                                     runtime::TimePoint now);

// Contents and lists leave `request`. INVALID_ARGUMENT for a key that is not 16 bytes.
absl::Status DecodeContents(proto::ActRequest& request, Arrival& arrival);

}  // namespace shoal::inference
