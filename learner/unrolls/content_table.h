// SPDX-License-Identifier: Apache-2.0
// A content table is what the learner knows of contents: embeddings by encoder version and key,
// catalogs, overlays, and one CandidateTable for each of some of them.
//
// The sampler fills it before the unrolls that need it arrive. Everything in it is bounded, and the
// least recently used leaves first: contents past `max_contents`, catalogs and overlays past
// `max_listed`, tables past `max_tables`. The candidates of a catalog or overlay stay as long as it
// does; the base of an overlay never leaves before it. The shards hear of what left and give it
// again with the next unroll that uses it; an unroll that was on its way by then is refused by
// whoever decodes it. Vectors are handed out shared, so what left lives on in the unrolls that have
// it.
//
// Thread-safe.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "platform/content/content_key.h"
#include "platform/runtime/mutex.h"
#include "platform/runtime/status.h"
#include "replay/client/content_sink.h"
#include "rl/model/candidate_table.h"

namespace shoal::learner {

struct ContentTableOptions {
  // D.
  std::int64_t embedding_size = 512;
  // As PolicySpec's.
  std::int64_t similarity_size = 0;
  // Contents that are no candidate; at least 1. One takes 2 D bytes and about 150 more.
  std::size_t max_contents = std::size_t{1} << 20;
  // Candidates that catalogs and overlays may have together, each list counting as one more; the
  // newest list is kept in any case. One takes 2 D bytes and about 200 more.
  std::size_t max_listed = std::size_t{1} << 20;
  // CandidateTables kept; at least 1. One takes 4 D bytes a candidate of its own, and what the
  // model caches; an overlay shares its base's.
  std::size_t max_tables = 64;
};

class ContentTable final : public replay::client::ContentSink {
 public:
  // Binary16 [D].
  using Vector = std::shared_ptr<const std::vector<std::uint16_t>>;

  explicit ContentTable(const ContentTableOptions& options) : options_(options) {}

  // Embeddings of another size are ignored and counted; so is a list whose keys are not whole.
  void AddEmbeddings(const proto::Embeddings& embeddings) override;
  void AddCatalog(const proto::Catalog& catalog) override;
  void AddOverlay(const proto::Overlay& overlay) override;
  // The contents that left since the last call.
  std::vector<content::ContentKey> TakeForgotten() override ABSL_LOCKS_EXCLUDED(mutex_);

  // Null when unknown.
  Vector Find(std::string_view encoder_version, const content::ContentKey& key)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // The table of a catalog or an overlay; the same object for the same key while it is kept.
  // NOT_FOUND naming the catalog, base or candidate that is unknown.
  absl::StatusOr<std::shared_ptr<const model::CandidateTable>> Table(
      std::string_view encoder_version, const content::ContentKey& key) ABSL_LOCKS_EXCLUDED(mutex_);

  // Contents, candidates included.
  std::size_t size() const ABSL_LOCKS_EXCLUDED(mutex_);
  // Catalogs and overlays.
  std::size_t lists() const ABSL_LOCKS_EXCLUDED(mutex_);
  std::uint64_t ignored_total() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  // Encoder version and content key.
  using Name = std::pair<std::string, content::ContentKey>;
  struct Entry {
    Vector vector;
    bool candidate = false;
    std::list<Name>::iterator position = {};  // in recent_, unless candidate
  };
  // A catalog, or an overlay when it has a base: then what it appends and removes.
  struct List {
    std::vector<content::ContentKey> candidates;
    std::vector<std::uint32_t> removed;
    std::optional<content::ContentKey> base;
    // Its place in recent_lists_.
    std::list<content::ContentKey>::iterator place = {};
  };
  using TablePointer = std::shared_ptr<const model::CandidateTable>;

  void AddOne(Name name, Vector vector) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void AddList(const content::ContentKey& key, List list) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Its base comes before it, so that an overlay leaves first.
  void TouchList(const List& list) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void RemoveList(content::ContentKey key) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void KeepCandidate(const content::ContentKey& key) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void LetCandidateGo(const content::ContentKey& key) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void TrimContents() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::StatusOr<std::vector<Vector>> Candidates(std::string_view encoder_version,
                                                 const List& list) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const ContentTableOptions options_;

  mutable runtime::Mutex mutex_;
  std::vector<std::string> versions_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<Name, Entry> entries_ ABSL_GUARDED_BY(mutex_);
  std::list<Name> recent_ ABSL_GUARDED_BY(mutex_);  // most recently used first
  std::vector<content::ContentKey> forgotten_ ABSL_GUARDED_BY(mutex_);
  // How many lists have it.
  absl::flat_hash_map<content::ContentKey, std::uint32_t, content::ContentKeyHash> candidates_
      ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<content::ContentKey, List, content::ContentKeyHash> lists_
      ABSL_GUARDED_BY(mutex_);
  std::list<content::ContentKey> recent_lists_ ABSL_GUARDED_BY(mutex_);  // recent first
  // Candidates of all lists, and the number of lists.
  std::size_t listed_ ABSL_GUARDED_BY(mutex_) = 0;
  std::list<std::pair<Name, TablePointer>> tables_ ABSL_GUARDED_BY(mutex_);  // recent first
  std::uint64_t ignored_total_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace shoal::learner
