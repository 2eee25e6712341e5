// SPDX-License-Identifier: Apache-2.0
// Turns finished unrolls into items for replay, and gives the inserter the contents that items
// name.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <memory>
#include <string>

#include "inference/core/catalog_store.h"
#include "inference/core/unroll.h"
#include "proto/replay.pb.h"
#include "replay/client/content_provider.h"
#include "replay/client/inserter.h"
#include "text/embedding/embedding_store.h"

namespace shoal::inference {

// Returns `unroll` as an item for `table`.
proto::Item ItemOf(const Unroll& unroll, const std::string& table,
                   const std::string& encoder_version);

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

// Hands unrolls to the inserter, with their signatures. Not thread-safe, although the inserter is.
class ReplaySink final : public UnrollSink {
 public:
  // If `inserter` is null there is no replay, and unrolls are dropped. It must outlive this object.
  ReplaySink(replay::client::Inserter* inserter, std::string table, std::string encoder_version)
      : inserter_(inserter),
        table_(std::move(table)),
        encoder_version_(std::move(encoder_version)) {}

  absl::Status TryInsert(const Unroll& unroll) override;

 private:
  replay::client::Inserter* const inserter_;
  const std::string table_;
  const std::string encoder_version_;
  // The keys of the signatures that were stated, by their texts.
  absl::flat_hash_map<std::string, std::string> stated_;
};

}  // namespace shoal::inference
