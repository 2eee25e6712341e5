// SPDX-License-Identifier: Apache-2.0
// Messages, a content provider and a sink for the tests of replay's wire.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "platform/content/content_key.h"
#include "platform/runtime/mutex.h"
#include "proto/replay.pb.h"
#include "replay/client/content_provider.h"
#include "replay/client/content_sink.h"

namespace shoal::replay {

inline std::string KeyBytes(std::string_view text) {
  return std::string(content::KeyOf(text).AsBytes());
}

inline proto::Embeddings EmbeddingsOf(std::span<const std::string> keys, int dimension = 4) {
  proto::Embeddings embeddings;
  embeddings.set_encoder_version("encoder");
  for (const std::string& key : keys) embeddings.mutable_keys()->append(key);
  embeddings.mutable_vectors()->set_dtype(proto::FLOAT16);
  embeddings.mutable_vectors()->add_shape(static_cast<std::int64_t>(keys.size()));
  embeddings.mutable_vectors()->add_shape(dimension);
  embeddings.mutable_vectors()->set_data(
      std::string(keys.size() * static_cast<std::size_t>(dimension) * 2, 'v'));
  return embeddings;
}

inline proto::Catalog CatalogOf(const std::vector<std::string>& candidates) {
  proto::Catalog catalog;
  for (const std::string& key : candidates) catalog.mutable_candidate_keys()->append(key);
  catalog.set_key(KeyBytes(catalog.candidate_keys()));
  return catalog;
}

inline proto::Overlay OverlayOf(const std::string& base, const std::string& appended) {
  proto::Overlay overlay;
  overlay.set_base(base);
  overlay.set_appended_keys(appended);
  overlay.add_removed(1);
  overlay.set_key(KeyBytes(base + std::string("\1\0\0\0", 4) + appended));
  return overlay;
}

inline proto::Unroll UnrollOf(std::uint64_t environment, std::size_t padding = 0) {
  proto::Unroll unroll;
  unroll.mutable_id()->set_environment_id(environment);
  unroll.mutable_id()->set_incarnation(1);
  unroll.set_length(1);
  unroll.set_encoder_version(std::string(padding, 'x'));
  return unroll;
}

inline proto::Item ItemOf(std::uint64_t environment, std::uint64_t step = 0,
                          std::size_t padding = 0) {
  const proto::Unroll unroll = UnrollOf(environment, padding);
  proto::Item item;
  *item.mutable_id() = unroll.id();
  item.set_table("unrolls");
  item.mutable_oldest_version()->set_epoch(1);
  item.mutable_oldest_version()->set_step(step);
  *item.mutable_newest_version() = item.oldest_version();
  item.set_steps(10);
  item.set_payload(unroll.SerializeAsString());
  return item;
}

// Knows every content, and the catalogs that it was given. Counts the requests.
class FakeProvider final : public client::ContentProvider {
 public:
  absl::StatusOr<proto::Embeddings> FindEmbeddings(std::span<const std::string> keys) override {
    const runtime::MutexLock lock(mutex);
    for (const std::string& key : keys) {
      if (unknown.contains(key)) return runtime::NotFound("no embedding");
    }
    asked += keys.size();
    return EmbeddingsOf(keys, dimension);
  }
  absl::StatusOr<std::variant<proto::Catalog, proto::Overlay>> FindCatalog(
      const std::string& key) override {
    const runtime::MutexLock lock(mutex);
    if (const auto found = catalogs.find(key); found != catalogs.end()) return found->second;
    if (const auto found = overlays.find(key); found != overlays.end()) return found->second;
    return runtime::NotFound("no catalog");
  }

  runtime::Mutex mutex;
  int dimension = 4;
  std::set<std::string> unknown;
  std::map<std::string, proto::Catalog> catalogs;
  std::map<std::string, proto::Overlay> overlays;
  std::size_t asked = 0;
};

class FakeSink final : public client::ContentSink {
 public:
  void AddEmbeddings(const proto::Embeddings& embeddings) override {
    const runtime::MutexLock lock(mutex);
    for (std::size_t at = 0; at < embeddings.keys().size(); at += 16) {
      keys.insert(embeddings.keys().substr(at, 16));
    }
  }
  void AddCatalog(const proto::Catalog& catalog) override {
    const runtime::MutexLock lock(mutex);
    keys.insert(catalog.key());
  }
  void AddOverlay(const proto::Overlay& overlay) override {
    const runtime::MutexLock lock(mutex);
    keys.insert(overlay.key());
  }
  bool Has(const std::string& key) {
    const runtime::MutexLock lock(mutex);
    return keys.contains(key);
  }

  runtime::Mutex mutex;
  std::set<std::string> keys;
};

}  // namespace shoal::replay
