// SPDX-License-Identifier: Apache-2.0
// An outbox holds the items of one shard until it acknowledges them, and knows what the shard was
// sent of what they use.
//
// It belongs to the inserter's thread. Items leave in the order in which they came; an item that
// the shard put off is sent again before later ones, as often as it takes. An item whose contents
// the shard lacks although they were just sent, eight times in a row, is dropped.
#pragma once

#include <absl/container/flat_hash_set.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "platform/content/content_key.h"
#include "platform/runtime/status.h"
#include "proto/replay.pb.h"
#include "replay/client/content_provider.h"

namespace shoal::replay::client {

// It counts what happened to items, each of them once.
struct OutboxOutcome {
  std::size_t acknowledged = 0;
  // The shard refused it for good.
  std::size_t refused = 0;
  // The provider no longer has a content, or the shard lost one again and again.
  std::size_t without_content = 0;
  // The bytes of payload of all the above.
  std::size_t bytes = 0;

  std::size_t left() const { return acknowledged + refused + without_content; }
};

class InsertOutbox {
 public:
  explicit InsertOutbox(ContentProvider& provider) : provider_(provider) {}

  void Add(proto::Item&& item) { entries_.push_back({.item = std::move(item)}); }
  std::size_t size() const { return entries_.size(); }

  // Takes acknowledgements and credit.
  void Handle(const proto::InsertReply& reply, OutboxOutcome& outcome);
  // The connection is gone: everything is to be sent again, contents too.
  void Disconnected();
  // Empties the outbox, adds the bytes to `bytes` and returns how many items were dropped.
  std::size_t DropAll(std::size_t& bytes);

  // Returns true when credit allows to send the next item.
  bool MaySend() const { return unanswered_ < credit_ && unanswered_ < entries_.size(); }
  // Returns the messages that send the next item, contents first; they are without the item when it
  // was dropped instead. REQUIRES: MaySend().
  std::vector<proto::InsertRequest> SendNext(OutboxOutcome& outcome);

  std::uint64_t resent_total() const { return resent_total_; }

 private:
  struct Entry {
    proto::Item item;
    bool sent = false;
    bool sent_before = false;
    // How many answers in a row said that a content is unknown.
    int misses = 0;
  };
  using Keys = std::vector<std::string>;

  // Forgets that the shard was sent that content; of a list, also that it was sent what the list
  // uses.
  void Forget(const std::string& bytes);
  absl::Status AddContents(const proto::Item& item, std::vector<proto::InsertRequest>& out);
  absl::Status AddEmbeddings(Keys keys, std::vector<proto::InsertRequest>& out);
  absl::Status AddCatalog(const std::string& key, std::vector<proto::InsertRequest>& out);

  ContentProvider& provider_;
  std::deque<Entry> entries_;
  std::size_t unanswered_ = 0;
  std::size_t credit_ = 0;
  // The contents, catalogs and overlays that the shard was sent on this connection.
  absl::flat_hash_set<content::ContentKey, content::ContentKeyHash> known_;
  std::uint64_t resent_total_ = 0;
};

}  // namespace shoal::replay::client
