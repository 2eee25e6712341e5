// SPDX-License-Identifier: Apache-2.0
// Checks that an environment fits the policy and derives the layout of its rows.
#pragma once

#include <cstddef>
#include <memory>

#include "inference/core/row_layout.h"
#include "platform/runtime/status.h"
#include "proto/act.pb.h"
#include "rl/model/policy_spec.h"

namespace shoal::inference {

// The limit on all extras of one row together.
inline constexpr std::size_t kMaxExtrasBytes = std::size_t{64} << 10;

// Returns what the core must know of `spec`.
PolicyShape ShapeOf(const model::PolicySpec& spec, std::uint32_t policy_id);

// Returns the row layout of a stream that begins with `hello`. Returns FAILED_PRECONDITION, which
// names the difference, if policy, protocol version or canonicaliser do not match, or if the actor
// relabels for a policy without action values. Returns INVALID_ARGUMENT if the spec is invalid or
// its extras exceed kMaxExtrasBytes.
absl::StatusOr<std::shared_ptr<const RowLayout>> CheckHello(const proto::ActHello& hello,
                                                            const model::PolicySpec& spec);

}  // namespace shoal::inference
