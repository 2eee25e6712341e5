// SPDX-License-Identifier: Apache-2.0
// A finished piece of one environment's life, as proto/unroll.proto describes it, free of the wire.
#pragma once

#include <cstdint>
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
  std::vector<UnrollColumn> step_columns;
  std::vector<UnrollColumn> unroll_columns;
  // Indexed by the column `catalog`; bases of overlays follow those that rows use.
  std::vector<content::ContentKey> catalog_keys;
  // Of the rows, each once.
  std::vector<content::ContentKey> content_keys;
  parameters::Version oldest;
  parameters::Version newest;
  // Rows that carry weight.
  std::uint32_t steps = 0;
};

// Where finished unrolls go: replay, or a test.
class UnrollSink {
 public:
  virtual ~UnrollSink() = default;
  // RESOURCE_EXHAUSTED: keep it and try again when there is room. Any other error: it is refused
  // for good. Never blocks.
  virtual absl::Status TryInsert(const Unroll& unroll) = 0;
};

}  // namespace shoal::inference
