// SPDX-License-Identifier: Apache-2.0
// An item with the chunks that it uses. Items that overlap share their chunks, so each chunk lives
// until the last of them is with its shard.
#pragma once

#include <memory>
#include <vector>

#include "proto/chunk.pb.h"
#include "proto/replay.pb.h"

namespace shoal::replay::client {

using Chunks = std::vector<std::shared_ptr<const proto::Chunk>>;

struct ChunkedItem {
  // Its chunk_keys name `chunks` in the same order.
  proto::Item item = {};
  Chunks chunks = {};
};

}  // namespace shoal::replay::client
