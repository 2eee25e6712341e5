// SPDX-License-Identifier: Apache-2.0
// A content sink is where a Sampler delivers the embeddings, catalogs and overlays that items use,
// always before the first item that uses them leaves Sampler::Next.
//
// The sampler's thread calls it, one call at a time and never under one of its locks. Calls must
// not block for long. An equal content may come again from another shard, after a reconnect, or
// because the sink let it go. Keys are whole, vectors are FLOAT16 [N, dimension], and the key of a
// catalog or overlay is the hash of its contents. A shard sends candidates before their catalog,
// and base and appended candidates before their overlay.
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
  // Returns the contents that the sink has let go since the last call. The sampler asks after each
  // delivery and tells the shards, which send these contents again before the next item that uses
  // them. An item that was sent before may name a content that is gone.
  virtual std::vector<content::ContentKey> TakeForgotten() { return {}; }
};

}  // namespace shoal::replay::client
