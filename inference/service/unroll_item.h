// SPDX-License-Identifier: Apache-2.0
// Finished unrolls as messages for replay. Pure functions.
#pragma once

#include <string>

#include "inference/core/unroll.h"
#include "proto/replay.pb.h"
#include "proto/unroll.pb.h"

namespace shoal::inference {

// Where items go, and what the contents of their rows were encoded with.
struct UnrollDestination {
  std::string table;
  std::string encoder_version;
};

// Returns the item around `unroll`, without a payload.
proto::Item HeadOf(const Unroll& unroll, const UnrollDestination& to);
// Returns the unroll without its step columns.
proto::Unroll BodyOf(const Unroll& unroll, const UnrollDestination& to);
void AddStepColumn(const UnrollColumn& column, proto::Unroll& body);

// Returns the whole unroll.
proto::Unroll WholeOf(const Unroll& unroll, const UnrollDestination& to);

}  // namespace shoal::inference
