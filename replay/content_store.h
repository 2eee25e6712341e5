// SPDX-License-Identifier: Apache-2.0
// A store of embeddings, catalogs, overlays and chunks. It holds each content once and counts its
// users.
//
// The users of a content are items, catalogs (of their candidates) and overlays (of their base and
// of the candidates that they append). A content without users stays for a while, so that clients
// need not send it again for the next item. When unused contents exceed `unused_capacity_bytes`,
// the least recently used one leaves first, and then the contents that only it used. Chunks
// stand in a line of their own, which may take a quarter of these bytes, and half of `memory_bytes`
// where that is bounded: most chunks are never used again after their last user has left, and must
// not push out embeddings that will be, nor be written to disk.
//
// `capacity_bytes` bounds everything in the store, including its bookkeeping. Unused contents make
// room for new ones. If contents in use leave no room, a new content is refused, the store stays as
// it is, and full() is true until a content in use becomes unused or another content is taken.
//
// With `memory_bytes` the data of chunks may be on disk. Then a content that the store hands out
// may lack its data (Content::spilled), and whoever has it reads that (replay/spill.h). Chunks that
// came first leave memory first, once the hooks have them on disk. While what is in memory reaches
// the bound, new contents are refused, and full() is true until the disk has made room. Then
// waits_for_disk() is true, too, and it is no use to evict what uses contents. A chunk whose data
// the disk has lost is missing for new items, and whoever puts it again brings its data back.
//
// A reader is a stream to a sampler. The store knows which contents each of up to 64 readers was
// given, and gives a reader again what it has forgotten. An embedding of another encoder version
// replaces the previous one, and every reader is given it again. If there is no room for it, the
// previous one stays.
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
#include <utility>
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

// Some rows of step columns, or the columns' layout, as bytes that replay never parses.
struct Chunk {
  std::string data;
  // The size of the data where it is on disk and `data` is empty.
  std::uint32_t spilled_bytes = 0;
  // That of the content in its store, by which the disk knows the data. 0 while that is here.
  std::uint64_t number = 0;
};

struct Content {
  Key key;
  std::variant<Embedding, Catalog, Overlay, Chunk> body;

  // Returns the memory that a store needs for it: the content, its bookkeeping, and what the
  // allocator adds.
  std::size_t bytes() const;
  // Returns true for a chunk whose data is on disk alone.
  bool spilled() const;
};

struct ContentStoreOptions {
  std::size_t capacity_bytes = std::size_t{4} << 30;
  // The most bytes of contents that are in memory. 0: all of them are. It needs hooks.
  std::size_t memory_bytes = 0;
  std::size_t unused_capacity_bytes = std::size_t{256} << 20;
};

// Is told of each change of a store, in order. The numbers ascend in the order in which contents
// came in, so that a content's number is above those of the contents that it uses.
class ContentHooks {
 public:
  virtual ~ContentHooks() = default;
  // A content came in, or another version of it took its place under the same number. Returns a
  // position: the content can be read from disk once DropWritten is told of that one. Positions do
  // not descend.
  virtual std::uint64_t OnPut(std::uint64_t number,
                              const std::shared_ptr<const Content>& content) = 0;
  virtual void OnEvict(std::uint64_t number) = 0;
};

class ContentStore {
 public:
  explicit ContentStore(const ContentStoreOptions& options) : options_(options) {}

  // Stores `content`, which is moved from if the status is OK and unchanged otherwise. A content
  // that is stored already only counts as just used, unless its data was lost.
  //   NOT_FOUND           a candidate or base that it names is unknown.
  //   INVALID_ARGUMENT    the key is zero or that of another kind of content; an overlay's base is
  //                       no catalog or lacks a removed index; or the content with its parts is
  //                       larger than the store.
  //   RESOURCE_EXHAUSTED  contents in use fill the store.
  absl::Status Put(Content&& content) { return Add(0, std::move(content)); }

  // Whom to tell of contents.
  enum class Tell : std::uint8_t {
    kOfAll,
    // Only of those that are to leave memory.
    kOfSpilled,
  };
  // Sets who is told of changes from now on. `hooks` must outlive the store.
  void SetHooks(ContentHooks* hooks, Tell tell) {
    hooks_ = hooks;
    tell_ = tell;
  }
  // Like Put, for a content of an earlier process under its number there. Nothing is evicted until
  // EndRestore, which is called once the items that use the contents are there, too. Chunks for
  // which there is no memory are taken for spilled at once. REQUIRES: numbers ascend and are at
  // least 1.
  absl::Status Restore(std::uint64_t number, Content&& content) {
    return Add(number, std::move(content));
  }
  void EndRestore() { Trim(0, 0); }

  // Counts `item` as a user of all its keys. Returns NOT_FOUND, which names the first unknown key,
  // and counts nothing if a key is unknown.
  absl::Status Acquire(const Item& item);
  // Returns the keys of `item` that are unknown.
  std::vector<Key> Missing(const Item& item) const;
  // Undoes one Acquire. REQUIRES: each Release follows an Acquire(item) that was OK.
  void Release(const Item& item);

  // Opens a reader that was given nothing yet. Returns RESOURCE_EXHAUSTED when 64 are open.
  absl::StatusOr<int> OpenReader();
  void CloseReader(int reader);
  // Appends the contents that `item` uses and `reader` was not given yet, each after the contents
  // that it uses itself, and marks them as given. REQUIRES: `item` is acquired.
  void Collect(const Item& item, int reader, std::vector<std::shared_ptr<const Content>>& out);

  bool bounds_memory() const { return options_.memory_bytes > 0; }
  // Takes the data of chunks out of memory that the hooks have on disk up to the position
  // `durable`, as far as memory is short, and returns it, so that it can be freed without a lock.
  std::vector<std::shared_ptr<const Content>> DropWritten(std::uint64_t durable);
  // Notes that the disk has lost the data of this chunk, as it was handed out. Ignores one that has
  // left or was put again since.
  void Lose(const Content& chunk);
  // True if it was refused since chunks that are still in memory are to leave it for the disk, and
  // too few have left since.
  bool waits_for_disk() const { return lacks_ == Lack::kDisk; }

  // Notes that `reader` no longer has this content, nor the candidates of a catalog or those that
  // an overlay appends. They are given again with the next item that uses them. Ignores unknown
  // keys.
  void Forget(int reader, const Key& key);

  // True if the last Put was refused for want of room, and nothing has made room since.
  bool full() const { return lacks_ != Lack::kNothing; }
  bool Contains(const Key& key) const { return entries_.contains(key); }
  std::size_t size() const { return entries_.size(); }
  std::size_t bytes() const { return bytes_; }
  // The bytes of data that is on disk alone.
  std::size_t disk_bytes() const { return disk_bytes_; }
  std::size_t unused_bytes() const { return unused_bytes_; }
  // The number and the bytes of those that are chunks.
  std::size_t chunks() const { return chunks_; }
  std::size_t chunk_bytes() const { return chunk_bytes_; }

 private:
  // The kinds of contents that an item tells apart.
  enum class Kind : std::uint8_t { kEmbedding, kList, kChunk };

  // What the content lacked that was refused last: that contents in use become unused, or that
  // chunks reach the disk.
  enum class Lack : std::uint8_t { kNothing, kUse, kDisk };

  // Where a chunk's data is, where memory is bounded.
  enum class Place : std::uint8_t {
    // In memory, and not with the hooks. Contents other than chunks stay there.
    kMemory,
    // In memory, and with the hooks.
    kWriting,
    kDisk,
    // On the disk, where it is damaged.
    kLost,
  };

  struct Entry {
    std::shared_ptr<const Content> content;
    std::uint64_t number = 0;
    std::uint32_t uses = 0;
    Place data = Place::kMemory;
    // Where the data is kWriting: the position from which the disk has it.
    std::uint64_t written_at = 0;
    // The entry's place in `in_memory_` or `writing_`, unless its data is on disk.
    std::list<Key>::iterator data_place;
    // Bit r is set if reader r was given this content.
    std::uint64_t given = 0;
    // The value of `replacements_` when `given` of a list was written. If it has changed since, so
    // may have embeddings that the list uses.
    std::uint64_t given_at = 0;
    // The entry's place among the unused contents of its kind while `uses` is 0.
    std::list<Key>::iterator place;
  };

  // Puts a content under `number`, or under the next one if it is 0.
  absl::Status Add(std::uint64_t number, Content&& content);
  absl::Status Refuse(const Content& content);
  absl::Status RefuseForMemory(const Content& content);
  std::size_t in_memory_bytes() const { return bytes_ - disk_bytes_; }
  // What memory may hold before chunks are to leave it. Above it there is room for what comes
  // meanwhile.
  std::size_t MemoryGoal() const;
  bool ExceedsMemory(std::size_t incoming_bytes) const {
    return bounds_memory() && in_memory_bytes() + incoming_bytes > options_.memory_bytes;
  }
  // Notes where the data of a new chunk is. The hooks were `told` of it, or the disk has it from an
  // earlier process.
  void PlaceData(Entry& entry, bool told, std::uint64_t position);
  // Notes that the data of a chunk leaves with it.
  void RemoveData(const Entry& entry);
  // Gives chunks to the hooks until those that are not with them fit into memory.
  void SpillSome();
  absl::Status Touch(Entry& entry, Content&& content);
  // Takes the data of a chunk that was lost.
  absl::Status Recover(Entry& entry, Content&& content);
  absl::Status Replace(Entry& entry, Content&& content);
  absl::Status CheckUses(const Content& content) const;
  // Calls visit(key, kind) for each key of `item`; the kind is that of the content to be found.
  template <typename Visit>
  static void ForEachKey(const Item& item, Visit visit);
  bool Has(const Key& key, Kind kind) const;
  // Returns the line that the content stands in while it is unused.
  std::list<Key>& Line(const Content& content);
  void AddUnused(Entry& entry);
  void RemoveUnused(Entry& entry);
  void Use(const Key& key);
  void Unuse(const Key& key);
  void UseParts(const Content& content);
  void UnuseParts(const Content& content);
  // Removes a content that has no users, and itself from the users of its parts.
  void Erase(Key key);
  // Removes unused contents until `added_bytes` more contents and `memory_bytes` more in memory
  // fit, or none is left.
  void Trim(std::size_t added_bytes, std::size_t memory_bytes);
  bool MarkGiven(Entry& entry, std::uint64_t bit) const;
  void CollectKey(const Key& key, std::uint64_t bit,
                  std::vector<std::shared_ptr<const Content>>& out);

  const ContentStoreOptions options_;
  ContentHooks* hooks_ = nullptr;
  Tell tell_ = Tell::kOfAll;
  // The number of the content that came in last.
  std::uint64_t last_number_ = 0;
  absl::flat_hash_map<Key, Entry, KeyHash> entries_;
  // Least recently used first.
  std::list<Key> unused_;
  std::list<Key> unused_chunks_;
  // The chunks in memory where that is bounded, in the order in which they came: those that the
  // hooks were not told of, and those that they were.
  std::list<Key> in_memory_;
  std::list<Key> writing_;
  std::size_t writing_bytes_ = 0;
  std::size_t disk_bytes_ = 0;
  // The size of the content that was refused for memory last, until one was taken.
  std::size_t refused_bytes_ = 0;
  std::size_t bytes_ = 0;
  std::size_t unused_bytes_ = 0;
  std::size_t unused_chunk_bytes_ = 0;
  std::size_t chunks_ = 0;
  std::size_t chunk_bytes_ = 0;
  Lack lacks_ = Lack::kNothing;
  std::uint64_t readers_ = 0;
  // The number of embeddings that another encoder version has replaced.
  std::uint64_t replacements_ = 0;
};

}  // namespace shoal::replay
