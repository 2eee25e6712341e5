// SPDX-License-Identifier: Apache-2.0
// An outbox holds the items of one shard, with their chunks, until the shard acknowledges them, and
// knows which of their contents the shard was sent.
//
// It belongs to the inserter's thread. Items leave in order of arrival. An item that the shard puts
// off is sent again before later ones, as often as necessary. An item is dropped if the shard,
// eight times in a row, lacks contents that were just sent.
#pragma once

#include <absl/container/flat_hash_set.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "platform/content/content_key.h"
#include "platform/runtime/status.h"
#include "proto/replay.pb.h"
#include "replay/client/chunked_item.h"
#include "replay/client/content_provider.h"
#include "replay/client/placed_payload.h"
#include "replay/outgoing.h"

namespace shoal::replay::client {

// Counts what happened to items. Each item counts once.
struct OutboxOutcome {
  std::size_t acknowledged = 0;
  // Items that the shard refused for good.
  std::size_t refused = 0;
  // Items whose contents the provider no longer has or the shard lost again and again.
  std::size_t without_content = 0;
  // The bytes of all these items, see BytesOf.
  std::size_t bytes = 0;
  // The bytes of payloads that went through shared memory, and of those that were copied there now.
  std::uint64_t shared_bytes = 0;
  std::uint64_t copied_bytes = 0;

  std::size_t left() const { return acknowledged + refused + without_content; }
};

// Texts of signatures by the keys that items name.
using Signatures = std::map<std::string, std::string>;

// Returns the bytes of the payload and of the chunks. Those that several items share count for each
// of them.
std::size_t BytesOf(const ChunkedItem& item);

class InsertOutbox {
 public:
  explicit InsertOutbox(ContentProvider& provider) : provider_(provider) {}

  // `payload` is that of the item unless it is in the item.
  void Add(ChunkedItem&& item, PlacedPayload payload = {});
  std::size_t size() const { return entries_.size(); }

  // The signatures that items name. REQUIRES: it holds those of all items.
  void SetSignatures(Signatures signatures) { signatures_ = std::move(signatures); }
  const Signatures& signatures() const { return signatures_; }

  // Takes the acknowledgements and the credit of `reply`.
  void Handle(const proto::InsertReply& reply, OutboxOutcome& outcome);
  // The connection has ended: everything must be sent again, including contents.
  void Disconnected();
  // Removes all items, adds their bytes to `bytes` and returns their number.
  std::size_t DropAll(std::size_t& bytes);

  // Returns true if credit allows to send the next item.
  bool MaySend() const { return unanswered_ < credit_ && unanswered_ < entries_.size(); }
  // Returns the messages that send the next items, contents and signatures first: as many as credit
  // allows and one message holds, at most `most`, and only the last of them with contents that the
  // shard lacks and that are no chunks. Items that are dropped instead are not in them. Large
  // payloads are shared with the outbox, or are in `ring`, which the shard reads, as far as it has
  // room; null is a ring without. REQUIRES: MaySend().
  std::vector<Outgoing<proto::InsertRequest>> SendNext(std::size_t most, OutboxOutcome& outcome,
                                                       BlockRing* ring = nullptr);

  std::uint64_t resent_total() const { return resent_total_; }

 private:
  struct Entry {
    std::size_t bytes() const;

    ChunkedItem whole;
    // The item's payload, where it is large; the item is then without one.
    PlacedPayload payload = {};
    bool sent = false;
    bool sent_before = false;
    // The number of consecutive answers that said that a content is unknown.
    int misses = 0;
  };
  using Keys = std::vector<std::string>;
  using Messages = std::vector<Outgoing<proto::InsertRequest>>;

  // Forgets that the shard was sent this content and, for a list, the contents that the list uses.
  void Forget(const std::string& bytes);
  absl::Status AddContents(const proto::Item& item, Messages& out);
  absl::Status AddEmbeddings(Keys keys, Messages& out);
  absl::Status AddCatalog(const std::string& key, Messages& out);
  // Returns the chunks that the shard was not sent.
  Chunks Unsent(const ChunkedItem& item) const;
  // Adds chunks to the last message, and as many more as they need.
  void AddChunks(const Chunks& chunks, Messages& out);
  // Adds the item to the last message.
  static void AddItem(Entry& entry, BlockRing* ring, Messages& out, OutboxOutcome& outcome);

  ContentProvider& provider_;
  std::deque<Entry> entries_;
  std::size_t unanswered_ = 0;
  std::size_t credit_ = 0;
  // The contents, catalogs and overlays that the shard was sent on this connection.
  absl::flat_hash_set<content::ContentKey, content::ContentKeyHash> known_;
  // The same for chunks, which come and go faster. These are their keys' bytes.
  absl::flat_hash_set<std::string> known_chunks_;
  Signatures signatures_;
  // The keys of the signatures that were stated on this connection.
  std::set<std::string> stated_;
  // What the last refused item was told; it is logged once.
  std::string refusal_;
  std::uint64_t resent_total_ = 0;
};

}  // namespace shoal::replay::client
