// SPDX-License-Identifier: Apache-2.0
// Holds embeddings, catalogs and overlays, each once, and counts what uses it.
//
// Users are items, a catalog (of its candidates) and an overlay (of its base and its appended
// candidates). A content that nobody uses stays for a while, so that a client need not send again
// what the next item uses: the least recently used one leaves first as soon as such contents pass
// `unused_capacity_bytes`. What a catalog or an overlay alone uses leaves after it.
//
// `capacity_bytes` bounds everything that the store holds, its own books included. Unused contents
// make room for new ones; where contents in use leave no room, a new one is refused, the store
// stays as it is, and full() is true until a content in use becomes unused.
//
// A reader is a stream to a sampler. The store knows what each of up to 64 readers was given; what
// a reader has forgotten it is given again. An embedding from another encoder version replaces the
// one before, and every reader is given it again; where there is no room for it the one before
// stays.
//
// Not thread-safe. Contents are immutable and may be read without a lock once handed out.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "platform/runtime/status.h"
#include "replay/item.h"
#include "replay/key.h"

namespace shoal::replay {

struct Embedding {
  std::string encoder_version;
  // The numbers are FLOAT16 [dimension], little endian.
  std::string vector;
};

struct Catalog {
  std::vector<Key> candidates;
};

struct Overlay {
  Key base;
  // The indices ascend and are less than the base's size.
  std::vector<std::uint32_t> removed;
  std::vector<Key> appended;
};

struct Content {
  Key key;
  std::variant<Embedding, Catalog, Overlay> body;

  // Returns the memory that a store spends on it: the content, its place in the store's books, and
  // what the allocator adds.
  std::size_t bytes() const;
};

struct ContentStoreOptions {
  std::size_t capacity_bytes = std::size_t{4} << 30;
  std::size_t unused_capacity_bytes = std::size_t{256} << 20;
};

class ContentStore {
 public:
  explicit ContentStore(const ContentStoreOptions& options) : options_(options) {}

  // Keeps `content`, which is moved from when OK and untouched otherwise. One that is there already
  // only counts as used just now.
  //   NOT_FOUND           a candidate or base that it names is unknown.
  //   INVALID_ARGUMENT    an overlay's base is no catalog; an overlay removes what its base does
  //                       not have; or the content with its parts is larger than the store.
  //   RESOURCE_EXHAUSTED  the store is full of contents in use.
  absl::Status Put(Content&& content);

  // Counts `item` as a user of all its keys, or of none: NOT_FOUND naming the first unknown key.
  absl::Status Acquire(const Item& item);
  // Returns the keys of `item` that are unknown.
  std::vector<Key> Missing(const Item& item) const;
  // REQUIRES: Acquire(item) was OK, once for each Release.
  void Release(const Item& item);

  // Opens a reader that was given nothing yet. RESOURCE_EXHAUSTED when 64 are open.
  absl::StatusOr<int> OpenReader();
  void CloseReader(int reader);
  // Appends what `item` uses and `reader` was not given, each after what it uses itself, and counts
  // it as given. REQUIRES: `item` is acquired.
  void Collect(const Item& item, int reader, std::vector<std::shared_ptr<const Content>>& out);

  // `reader` no longer has that content; of a catalog also its candidates, of an overlay also those
  // that it appends. They are given again with the next item that uses them. Unknown keys are
  // ignored.
  void Forget(int reader, const Key& key);

  // True when the last Put was refused for contents in use, and none of them became unused since.
  bool full() const { return full_; }
  bool Contains(const Key& key) const { return entries_.contains(key); }
  std::size_t size() const { return entries_.size(); }
  std::size_t bytes() const { return bytes_; }
  std::size_t unused_bytes() const { return unused_bytes_; }

 private:
  struct Entry {
    std::shared_ptr<const Content> content;
    std::uint32_t uses = 0;
    // Bit r says that reader r was given it.
    std::uint64_t given = 0;
    // What replacements_ was when `given` of a list was written: what the list uses may have
    // changed since.
    std::uint64_t given_at = 0;
    // Its place in unused_, while uses is 0.
    std::list<Key>::iterator place;
  };

  absl::Status Refuse(const Content& content);
  absl::Status Touch(Entry& entry, Content&& content);
  absl::Status Replace(Entry& entry, Content&& content);
  absl::Status CheckUses(const Content& content) const;
  const Entry* Find(const Key& key, bool is_embedding) const;
  void Use(const Key& key);
  void Unuse(const Key& key);
  void UseParts(const Content& content);
  void UnuseParts(const Content& content);
  // Lets unused contents leave until `incoming_bytes` more fit, or none is left.
  void Trim(std::size_t incoming_bytes);
  bool MarkGiven(Entry& entry, std::uint64_t bit) const;
  void CollectKey(const Key& key, std::uint64_t bit,
                  std::vector<std::shared_ptr<const Content>>& out);

  const ContentStoreOptions options_;
  absl::flat_hash_map<Key, Entry, KeyHash> entries_;
  // The least recently used one comes first.
  std::list<Key> unused_;
  std::size_t bytes_ = 0;
  std::size_t unused_bytes_ = 0;
  bool full_ = false;
  std::uint64_t readers_ = 0;
  // How many embeddings another encoder version has replaced.
  std::uint64_t replacements_ = 0;
};

}  // namespace shoal::replay
