// SPDX-License-Identifier: Apache-2.0
// Hands finished unrolls to replay, and gives the inserter the contents that items name.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <memory>
#include <string>

#include "inference/core/catalog_store.h"
#include "inference/core/unroll.h"
#include "inference/service/unroll_chunker.h"
#include "inference/service/unroll_item.h"
#include "proto/content.pb.h"
#include "replay/client/content_provider.h"
#include "replay/client/inserter.h"
#include "text/embedding/embedding_store.h"

namespace shoal::inference {

// Gives the inserter embeddings, catalogs and overlays from the server's stores. Thread-safe.
class StoreProvider final : public replay::client::ContentProvider {
 public:
  // Both references must outlive this object.
  StoreProvider(embedding::EmbeddingStore& contents, CatalogStore& catalogs)
      : contents_(contents), catalogs_(catalogs) {}

  absl::StatusOr<proto::Embeddings> FindEmbeddings(std::span<const std::string> keys) override;
  absl::StatusOr<std::variant<proto::Catalog, proto::Overlay>> FindCatalog(
      const std::string& key) override;

 private:
  embedding::EmbeddingStore& contents_;
  CatalogStore& catalogs_;
};

// Hands unrolls to the inserter, with their signatures, as whole items or, with a chunker, as items
// that share chunks. The chunker's items that are ready and find no room wait here, and no further
// unroll is taken until they have gone. Not thread-safe, although the inserter is.
class ReplaySink final : public UnrollSink {
 public:
  // If `inserter` is null there is no replay, and unrolls are dropped. It must outlive this object.
  ReplaySink(replay::client::Inserter* inserter, UnrollDestination to,
             std::unique_ptr<UnrollChunker> chunker = nullptr)
      : inserter_(inserter), to_(std::move(to)), chunker_(std::move(chunker)) {}

  absl::Status TryInsert(const Unroll& unroll) override;
  void Flush() override;

 private:
  // Returns the key of the unroll's signature, which it states if it is new.
  absl::StatusOr<std::string> StatedSignature(const Unroll& unroll);
  // Inserts what the chunker has ready. Returns RESOURCE_EXHAUSTED if some are left, and otherwise
  // the first error, if any.
  absl::Status InsertReady();

  replay::client::Inserter* const inserter_;
  const UnrollDestination to_;
  // Null where unrolls do not overlap.
  const std::unique_ptr<UnrollChunker> chunker_;
  // The keys of the signatures that were stated, by their texts.
  absl::flat_hash_map<std::string, std::string> stated_;
};

}  // namespace shoal::inference
