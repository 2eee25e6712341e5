// SPDX-License-Identifier: Apache-2.0
// Where an Inserter finds the embeddings, catalogs and overlays that an item uses, when it sends
// the item: only then is it known what the shard has already.
//
// Thread-safe: called from the inserter's thread, never under one of its locks. Must not block.
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

  // Embeddings of `keys` (16 bytes each, none twice), in that order. NOT_FOUND naming the first key
  // that is unknown: the item is then dropped and counted.
  virtual absl::StatusOr<proto::Embeddings> FindEmbeddings(std::span<const std::string> keys) = 0;

  // The catalog or the overlay with that key; NOT_FOUND.
  virtual absl::StatusOr<std::variant<proto::Catalog, proto::Overlay>> FindCatalog(
      const std::string& key) = 0;
};

}  // namespace shoal::replay::client
