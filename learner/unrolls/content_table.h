// SPDX-License-Identifier: Apache-2.0
// A content table holds what the learner knows of contents: embeddings by encoder version and key,
// catalogs, overlays, and the CandidateTables of the recently used lists.
//
// The sampler fills it before the unrolls that need it arrive. Contents, lists (catalogs and
// overlays) and candidate tables are bounded in bytes, a third of `max_bytes` for each kind, and
// the least recently used of a kind leaves first. The candidates of a list stay as long as the list
// does. A base makes room only after its overlays; one that lacks a candidate leaves at once, and
// Table says NOT_FOUND for its overlays until it comes again. The shards hear of what left
// and send it again with the next unroll that uses it; an unroll that was on its way by then is
// refused by whoever decodes it. Vectors are handed out shared, so a vector that left lives on in
// the unrolls that have it.
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
  // As in PolicySpec.
  std::int64_t similarity_size = 0;
  // The newest content, the newest list with its base, and the newest table are kept in any case.
  std::size_t max_bytes = std::size_t{3} << 30;
};

class ContentTable final : public replay::client::ContentSink {
 public:
  // FLOAT16 [D].
  using Vector = std::shared_ptr<const std::vector<std::uint16_t>>;

  explicit ContentTable(const ContentTableOptions& options) : options_(options) {}

  // These ignore and count embeddings of another size, and lists with incomplete keys.
  void AddEmbeddings(const proto::Embeddings& embeddings) override;
  void AddCatalog(const proto::Catalog& catalog) override;
  void AddOverlay(const proto::Overlay& overlay) override;
  // Returns the contents that have left since the last call.
  std::vector<content::ContentKey> TakeForgotten() override ABSL_LOCKS_EXCLUDED(mutex_);

  // Returns null for an unknown content.
  Vector Find(std::string_view encoder_version, const content::ContentKey& key)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Returns the table of a catalog or an overlay, the same object for the same key while it is
  // kept. Returns NOT_FOUND, which names the missing catalog, base or candidate.
  absl::StatusOr<std::shared_ptr<const model::CandidateTable>> Table(
      std::string_view encoder_version, const content::ContentKey& key) ABSL_LOCKS_EXCLUDED(mutex_);

  // What one embedding takes with its place in the maps, as the allocator counts it.
  static std::size_t ContentBytes(std::int64_t embedding_size) {
    return static_cast<std::size_t>(embedding_size) * sizeof(std::uint16_t) + 300;
  }

  // The number of contents, including candidates.
  std::size_t size() const ABSL_LOCKS_EXCLUDED(mutex_);
  // The number of catalogs and overlays.
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
  // A catalog or, if it has a base, an overlay with what it appends and removes.
  struct List {
    std::vector<content::ContentKey> candidates;
    std::vector<std::uint32_t> removed;
    std::optional<content::ContentKey> base;
    // The list's place in `recent_lists_`.
    std::list<content::ContentKey>::iterator place = {};
  };
  using TablePointer = std::shared_ptr<const model::CandidateTable>;

  void AddOne(Name name, Vector vector) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void AddList(const content::ContentKey& key, List list) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Marks the list as used, and its base after it, so that an overlay leaves first.
  void TouchList(const List& list) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void RemoveList(content::ContentKey key) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void KeepCandidate(const content::ContentKey& key) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void LetCandidateGo(const content::ContentKey& key) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void TrimContents() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void TrimTables() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Returns the table and makes it the most recently used one, or returns null.
  TablePointer KeptTable(const Name& name) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::StatusOr<std::vector<Vector>> Candidates(std::string_view encoder_version,
                                                 const List& list) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const ContentTableOptions options_;
  // What each kind may take.
  const std::size_t third_ = options_.max_bytes / 3;
  const std::size_t content_bytes_ = ContentBytes(options_.embedding_size);

  mutable runtime::Mutex mutex_;
  std::vector<std::string> versions_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<Name, Entry> entries_ ABSL_GUARDED_BY(mutex_);
  std::list<Name> recent_ ABSL_GUARDED_BY(mutex_);  // most recently used first
  std::vector<content::ContentKey> forgotten_ ABSL_GUARDED_BY(mutex_);
  // How many lists have each candidate.
  absl::flat_hash_map<content::ContentKey, std::uint32_t, content::ContentKeyHash> candidates_
      ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<content::ContentKey, List, content::ContentKeyHash> lists_
      ABSL_GUARDED_BY(mutex_);
  std::list<content::ContentKey> recent_lists_ ABSL_GUARDED_BY(mutex_);  // recent first
  // Candidates of all lists, where each list counts as one more.
  std::size_t listed_ ABSL_GUARDED_BY(mutex_) = 0;
  using KeptTables = std::list<std::pair<Name, TablePointer>>;
  KeptTables tables_ ABSL_GUARDED_BY(mutex_);  // recent first
  absl::flat_hash_map<Name, KeptTables::iterator> table_places_ ABSL_GUARDED_BY(mutex_);
  // Bytes of the tables when they were last counted, and of those added since.
  std::size_t table_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  std::size_t tables_since_count_ ABSL_GUARDED_BY(mutex_) = 0;
  std::uint64_t ignored_total_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace shoal::learner
