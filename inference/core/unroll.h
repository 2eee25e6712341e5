// SPDX-License-Identifier: Apache-2.0
// An unroll is a finished part of one environment's trajectory, as proto/unroll.proto describes it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "platform/content/content_key.h"
#include "platform/runtime/status.h"
#include "platform/runtime/tensor.h"
#include "rl/parameters/version.h"

namespace shoal::inference {

struct UnrollColumn {
  std::string name;
  runtime::Tensor values;
};

struct Unroll {
  std::uint64_t environment = 0;
  std::uint64_t incarnation = 0;
  std::uint64_t first_sequence = 0;
  // T.
  std::uint32_t length = 0;
  // The number of the first rows that the environment's unroll before has, too, its bootstrap row
  // included, and the first sequence of that unroll. 0 where unrolls do not overlap.
  std::uint32_t shared_rows = 0;
  std::uint64_t shared_with = 0;
  std::vector<UnrollColumn> step_columns;
  std::vector<UnrollColumn> unroll_columns;
  // The column `catalog` indexes this list. The bases of overlays follow the catalogs that rows
  // use.
  std::vector<content::ContentKey> catalog_keys;
  // The contents that the rows use, each once.
  std::vector<content::ContentKey> content_keys;
  parameters::Version oldest;
  parameters::Version newest;
  // The number of rows that carry weight.
  std::uint32_t steps = 0;
  // How many of them are no further steps of an environment: relabelled rows, and those that the
  // unroll before has too.
  std::uint32_t uncounted_steps = 0;
  // The priority in replay; above 0.
  double priority = 1;
  // In lock step, of the last unroll of a round: the version in which the round was played.
  std::optional<parameters::Version> ends_round;
};

// The destination of finished unrolls: replay, or a test.
class UnrollSink {
 public:
  virtual ~UnrollSink() = default;
  // Never blocks. Returns RESOURCE_EXHAUSTED if there is no room; keep the unroll and try again
  // later. Any other error means that the unroll is refused for good.
  virtual absl::Status TryInsert(const Unroll& unroll) = 0;
  // Hands on what it holds back, as far as there is room. Called when no more unrolls come.
  virtual void Flush() {}
};

}  // namespace shoal::inference
