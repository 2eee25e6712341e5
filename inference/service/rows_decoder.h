// SPDX-License-Identifier: Apache-2.0
// Checks a proto::ActRequest and decodes it into the core's types.
//
// Pure functions. An error in one row becomes that row's error, and an error in an array becomes
// the error of all rows of the message. A message is refused as a whole only if its rows cannot be
// named: ids and sequences differ in number, or there are none or too many.
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

// Returns INVALID_ARGUMENT when the message cannot be answered row by row. Takes the bytes of an
// observation that is the only one out of `rows` without a copy.
absl::StatusOr<std::shared_ptr<RowBlock>> DecodeRows(proto::Rows rows,
                                                     std::shared_ptr<const RowLayout> layout,
                                                     const PolicyShape& shape,
                                                     runtime::TimePoint now);

// Moves contents and lists out of `request`. Returns INVALID_ARGUMENT for a key that is not 16
// bytes.
absl::Status DecodeContents(proto::ActRequest& request, Arrival& arrival);

}  // namespace shoal::inference
