// SPDX-License-Identifier: Apache-2.0
// Where a Sampler delivers the embeddings, catalogs and overlays that items use, always before the
// first item that uses them leaves Sampler::Next.
//
// Called from the sampler's thread, one call at a time, never under one of its locks; must not
// block for long. The same content comes again from another shard and after a reconnect: the last
// one holds (they are equal). Keys are whole, vectors are FLOAT16 [N, dimension], a catalog's and
// an overlay's key is the hash of what it holds; a shard sends candidates before the catalog, and
// base and appended candidates before the overlay.
#pragma once

#include "proto/content.pb.h"

namespace shoal::replay::client {

class ContentSink {
 public:
  virtual ~ContentSink() = default;
  virtual void AddEmbeddings(const proto::Embeddings& embeddings) = 0;
  virtual void AddCatalog(const proto::Catalog& catalog) = 0;
  virtual void AddOverlay(const proto::Overlay& overlay) = 0;
};

}  // namespace shoal::replay::client
