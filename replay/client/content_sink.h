// SPDX-License-Identifier: Apache-2.0
// A content sink is where a Sampler delivers the embeddings, catalogs and overlays that items use,
// always before the first item that uses them leaves Sampler::Next.
//
// It is called from the sampler's thread, one call at a time, never under one of its locks, and
// must not block for long. The same content may come again, from another shard, after a reconnect
// or because it was let go; the two are equal. Keys are whole, vectors are FLOAT16 [N, dimension],
// a catalog's and an overlay's key is the hash of what it holds; a shard sends candidates before
// the catalog, and base and appended candidates before the overlay.
#pragma once

#include <vector>

#include "platform/content/content_key.h"
#include "proto/content.pb.h"

namespace shoal::replay::client {

class ContentSink {
 public:
  virtual ~ContentSink() = default;
  virtual void AddEmbeddings(const proto::Embeddings& embeddings) = 0;
  virtual void AddCatalog(const proto::Catalog& catalog) = 0;
  virtual void AddOverlay(const proto::Overlay& overlay) = 0;
  // Returns the contents that were added and have been let go since the last call. The sampler asks
  // after each delivery and tells the shards, which give these contents again before the next item
  // that uses them. An item that is on its way at that time may name a content that is gone.
  virtual std::vector<content::ContentKey> TakeForgotten() { return {}; }
};

}  // namespace shoal::replay::client
