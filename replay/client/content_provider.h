// SPDX-License-Identifier: Apache-2.0
// A content provider is where an Inserter finds the embeddings, catalogs and overlays that an item
// uses. The inserter asks for them when it sends the item, since only then it knows what the shard
// has.
//
// Called from the inserter's thread, never under one of its locks. Calls must not block.
#pragma once

#include <span>
#include <string>
#include <variant>

#include "platform/runtime/status.h"
#include "proto/content.pb.h"

namespace shoal::replay::client {

class ContentProvider {
 public:
  virtual ~ContentProvider() = default;

  // Returns the embeddings of `keys` (16 bytes each, none twice) in the same order. Returns
  // NOT_FOUND, which names the first unknown key, if one is unknown; the item is then dropped and
  // counted.
  virtual absl::StatusOr<proto::Embeddings> FindEmbeddings(std::span<const std::string> keys) = 0;

  // Returns the catalog or overlay with this key, or NOT_FOUND.
  virtual absl::StatusOr<std::variant<proto::Catalog, proto::Overlay>> FindCatalog(
      const std::string& key) = 0;
};

}  // namespace shoal::replay::client
