// SPDX-License-Identifier: Apache-2.0
// A content provider is where an Inserter finds the embeddings, catalogs and overlays that an item
// uses, at the time when it sends the item: only then is it known what the shard has already.
//
// It is called from the inserter's thread, never under one of its locks, and must not block.
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

  // Returns the embeddings of `keys` (16 bytes each, none twice), in that order. NOT_FOUND naming
  // the first key that is unknown: the item is then dropped and counted.
  virtual absl::StatusOr<proto::Embeddings> FindEmbeddings(std::span<const std::string> keys) = 0;

  // Returns the catalog or the overlay with that key; NOT_FOUND when there is none.
  virtual absl::StatusOr<std::variant<proto::Catalog, proto::Overlay>> FindCatalog(
      const std::string& key) = 0;
};

}  // namespace shoal::replay::client
