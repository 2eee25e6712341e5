// SPDX-License-Identifier: Apache-2.0
// Does an environment fit the policy, and what do its rows look like?
#pragma once

#include <cstddef>
#include <memory>

#include "inference/core/row_layout.h"
#include "platform/runtime/status.h"
#include "proto/act.pb.h"
#include "rl/model/policy_spec.h"

namespace shoal::inference {

// Of all extras of one row together.
inline constexpr std::size_t kMaxExtrasBytes = std::size_t{64} << 10;

// What the core must know of `spec`.
PolicyShape ShapeOf(const model::PolicySpec& spec, std::uint32_t policy_id);

// The layout of the rows of a stream that begins with `hello`. FAILED_PRECONDITION naming what
// differs from the policy, the protocol version or the canonicaliser; INVALID_ARGUMENT for a spec
// that no environment can have, or whose extras pass kMaxExtrasBytes.
absl::StatusOr<std::shared_ptr<const RowLayout>> CheckHello(const proto::ActHello& hello,
                                                            const model::PolicySpec& spec);

}  // namespace shoal::inference
