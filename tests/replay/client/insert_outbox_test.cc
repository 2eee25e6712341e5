// SPDX-License-Identifier: Apache-2.0
#include "replay/client/insert_outbox.h"

#include <catch2/catch.hpp>
#include <set>

#include "replay/wire.h"
#include "tests/replay/messages.h"

namespace shoal::replay::client {
namespace {

proto::InsertReply Credit(std::uint32_t credit) {
  proto::InsertReply reply;
  reply.set_credit(credit);
  return reply;
}

proto::InsertReply Answer(const proto::Item& item, absl::StatusCode code, std::uint32_t credit) {
  proto::InsertReply reply = Credit(credit);
  *reply.add_items()->mutable_id() = item.id();
  reply.mutable_items(0)->set_code(static_cast<std::int32_t>(code));
  return reply;
}

using Messages = std::vector<Outgoing<proto::InsertRequest>>;

std::size_t ItemsIn(const Messages& messages) {
  std::size_t items = 0;
  for (const auto& [message, payloads] : messages)
    items += static_cast<std::size_t>(message.items_size());
  return items;
}

TEST_CASE("an outbox sends no more unanswered items than it has credit for") {
  FakeProvider provider;
  InsertOutbox outbox(provider);
  OutboxOutcome outcome;
  for (std::uint64_t i = 0; i < 3; ++i) outbox.Add({ItemOf(i)});
  REQUIRE_FALSE(outbox.MaySend());
  outbox.Handle(Credit(1), outcome);
  REQUIRE(ItemsIn(outbox.SendNext(1, outcome)) == 1);
  REQUIRE_FALSE(outbox.MaySend());
  outbox.Handle(Answer(ItemOf(0), absl::StatusCode::kOk, 2), outcome);
  REQUIRE(outcome.acknowledged == 1);
  REQUIRE(outcome.bytes == ItemOf(0).payload().size());
  REQUIRE(outbox.size() == 2);
  REQUIRE(outbox.SendNext(1, outcome).back().message.items(0).id().environment_id() == 1);
  REQUIRE(outbox.SendNext(1, outcome).back().message.items(0).id().environment_id() == 2);
  REQUIRE_FALSE(outbox.MaySend());
}

TEST_CASE("small items share a message, in order and behind the contents that they use") {
  FakeProvider provider;
  InsertOutbox outbox(provider);
  OutboxOutcome outcome;
  for (std::uint64_t i = 0; i < 6; ++i) {
    proto::Item item = ItemOf(i);
    item.add_content_keys(KeyBytes(i < 3 ? "early" : "late"));
    outbox.Add({std::move(item)});
  }
  outbox.Handle(Credit(5), outcome);
  std::set<std::string> known;
  std::vector<std::size_t> calls;
  std::uint64_t next = 0;
  while (outbox.MaySend()) {
    const auto messages = outbox.SendNext(64, outcome);
    calls.push_back(ItemsIn(messages));
    for (const auto& [message, payloads] : messages) {
      for (const auto& embeddings : message.embeddings()) known.insert(embeddings.keys());
      for (const proto::Item& item : message.items()) {
        REQUIRE(known.contains(item.content_keys(0)));
        REQUIRE(item.id().environment_id() == next++);
      }
    }
  }
  // The first item of each content ends a call, and the sixth waits for credit.
  REQUIRE(calls == std::vector<std::size_t>{1, 3, 1});
  REQUIRE(next == 5);
}

TEST_CASE("an item that is dropped makes no item that is on its way go twice") {
  FakeProvider provider;
  InsertOutbox outbox(provider);
  OutboxOutcome outcome;
  for (std::uint64_t i = 0; i < 4; ++i) {
    proto::Item item = ItemOf(i);
    item.add_content_keys(KeyBytes("text " + std::to_string(i)));
    outbox.Add({std::move(item)});
  }
  outbox.Handle(Credit(8), outcome);
  for (int i = 0; i < 3; ++i) REQUIRE(ItemsIn(outbox.SendNext(64, outcome)) == 1);
  // The shard lost the content of the first item, and nobody has it any more.
  proto::InsertReply reply = Answer(ItemOf(0), absl::StatusCode::kNotFound, 8);
  reply.mutable_items(0)->add_missing_keys(KeyBytes("text 0"));
  outbox.Handle(reply, outcome);
  provider.unknown.insert(KeyBytes("text 0"));
  const auto messages = outbox.SendNext(64, outcome);
  REQUIRE(outcome.without_content == 1);
  REQUIRE(ItemsIn(messages) == 1);
  REQUIRE(messages.back().message.items(0).id().environment_id() == 3);
  for (std::uint64_t i = 1; i < 4; ++i) {
    outbox.Handle(Answer(ItemOf(i), absl::StatusCode::kOk, 8), outcome);
  }
  REQUIRE(outcome.acknowledged == 3);
  REQUIRE(outbox.size() == 0);
  outbox.Add({ItemOf(9)});
  REQUIRE(outbox.MaySend());
}

TEST_CASE("a message ends before it gets too large, and holds one item of any size") {
  FakeProvider provider;
  InsertOutbox outbox(provider);
  OutboxOutcome outcome;
  constexpr std::size_t kHalf = 600000;
  for (std::uint64_t i = 0; i < 3; ++i) outbox.Add({ItemOf(i, 0, i == 2 ? 5 * kHalf : kHalf)});
  outbox.Handle(Credit(8), outcome);
  for (int i = 0; i < 3; ++i) REQUIRE(ItemsIn(outbox.SendNext(64, outcome)) == 1);
}

TEST_CASE("a large payload is handed on as often as it is sent, and never copied") {
  FakeProvider provider;
  InsertOutbox outbox(provider);
  OutboxOutcome outcome;
  proto::Item item = ItemOf(0, 0, kReferencedBytes);
  const std::string payload = item.payload();
  const char* const bytes = item.payload().data();
  outbox.Add({std::move(item)});
  outbox.Add({ItemOf(1)});
  for (int i = 0; i < 2; ++i) {
    outbox.Handle(Credit(8), outcome);
    const Messages messages = outbox.SendNext(64, outcome);
    REQUIRE(messages.size() == 1);
    REQUIRE(messages[0].message.items(0).payload().empty());
    REQUIRE(messages[0].message.items(1).payload() == ItemOf(1).payload());
    REQUIRE(messages[0].payloads.size() == 1);
    REQUIRE(messages[0].payloads[0].bytes.data() == bytes);
    REQUIRE(messages[0].payloads[0].bytes == payload);
    outbox.Disconnected();
  }
  outbox.Handle(Credit(8), outcome);
  const Messages last = outbox.SendNext(64, outcome);
  outbox.Handle(Answer(ItemOf(0), absl::StatusCode::kOk, 8), outcome);
  REQUIRE(outcome.bytes == payload.size());
  // The message may still be on its way when the answer to an earlier one comes.
  REQUIRE(last[0].payloads[0].bytes == payload);
}

TEST_CASE(
    "a large payload is in the ring of the connection, and the same place when it goes again") {
  FakeProvider provider;
  InsertOutbox outbox(provider);
  OutboxOutcome outcome;
  const proto::Unroll unroll = UnrollOf(0, 2 * kReferencedBytes);
  const std::size_t bytes = unroll.ByteSizeLong();
  auto ring = *BlockRing::Create(3 * bytes);
  proto::Item head = ItemOf(0);
  head.clear_payload();
  outbox.Add({head}, Place(unroll, bytes, ring.get()));
  outbox.Add({ItemOf(1, 0, 2 * kReferencedBytes)});
  std::vector<std::uint64_t> places;
  for (int round = 0; round < 2; ++round) {
    outbox.Handle(Credit(8), outcome);
    const Messages messages = outbox.SendNext(64, outcome, ring.get());
    REQUIRE(messages[0].payloads.empty());
    const auto reader = *RingReader::Open(ring->address());
    for (const proto::Item& item : messages[0].message.items()) {
      REQUIRE(item.payload().empty());
      REQUIRE(*reader->View(item.shared_payload()) ==
              UnrollOf(item.id().environment_id(), 2 * kReferencedBytes).SerializeAsString());
      places.push_back(item.shared_payload().position());
    }
    // The second time both are on their way when the connection ends.
    for (std::uint64_t i = 0; round == 0 && i < 2; ++i) {
      outbox.Handle(Answer(ItemOf(i), absl::StatusCode::kResourceExhausted, 8), outcome);
    }
  }
  REQUIRE(places == std::vector<std::uint64_t>{places[0], places[1], places[0], places[1]});
  REQUIRE(outcome.shared_bytes >= 4 * bytes);

  // The next connection has a ring with room for one of them.
  outbox.Disconnected();
  ring = *BlockRing::Create(bytes);
  outbox.Handle(Credit(8), outcome);
  const Messages messages = outbox.SendNext(64, outcome, ring.get());
  REQUIRE(messages[0].message.items(0).has_shared_payload());
  REQUIRE_FALSE(messages[0].message.items(1).has_shared_payload());
  REQUIRE(messages[0].payloads[1].bytes == UnrollOf(1, 2 * kReferencedBytes).SerializeAsString());
  outbox.Handle(Answer(ItemOf(0), absl::StatusCode::kOk, 8), outcome);
  REQUIRE(ring->Allocate(bytes) != nullptr);
}

TEST_CASE("contents go once a connection, candidates before their catalog, base before overlay") {
  FakeProvider provider;
  const proto::Catalog catalog = CatalogOf({KeyBytes("a"), KeyBytes("b")});
  const proto::Overlay overlay = OverlayOf(catalog.key(), KeyBytes("c"));
  provider.catalogs[catalog.key()] = catalog;
  provider.overlays[overlay.key()] = overlay;
  InsertOutbox outbox(provider);
  OutboxOutcome outcome;
  proto::Item item = ItemOf(1);
  item.add_content_keys(KeyBytes("text"));
  item.add_content_keys(KeyBytes("text"));
  item.add_content_keys(std::string(16, '\0'));
  item.add_catalog_keys(overlay.key());
  outbox.Add({proto::Item(item)});
  outbox.Handle(Credit(4), outcome);

  std::vector<std::string> order;
  for (const auto& [message, payloads] : outbox.SendNext(1, outcome)) {
    for (const auto& embeddings : message.embeddings()) {
      order.push_back("embeddings " + std::to_string(embeddings.keys().size() / 16));
    }
    for (int i = 0; i < message.catalogs_size(); ++i) order.push_back("catalog");
    for (int i = 0; i < message.overlays_size(); ++i) order.push_back("overlay");
    for (int i = 0; i < message.items_size(); ++i) order.push_back("item");
  }
  REQUIRE(order == std::vector<std::string>{"embeddings 1", "embeddings 2", "catalog",
                                            "embeddings 1", "overlay", "item"});
  item.mutable_id()->set_environment_id(2);
  outbox.Add({proto::Item(item)});
  REQUIRE(outbox.SendNext(1, outcome).size() == 1);
  REQUIRE(provider.asked == 4);

  outbox.Disconnected();
  REQUIRE_FALSE(outbox.MaySend());
  outbox.Handle(Credit(4), outcome);
  REQUIRE(outbox.SendNext(1, outcome).size() == 5);
  REQUIRE(outbox.resent_total() == 1);
}

TEST_CASE("large sets of embeddings are cut into messages of bounded size") {
  FakeProvider provider;
  provider.dimension = 4096;
  InsertOutbox outbox(provider);
  OutboxOutcome outcome;
  proto::Item item = ItemOf(1);
  for (int i = 0; i < 500; ++i) item.add_content_keys(KeyBytes(std::to_string(i)));
  outbox.Add({std::move(item)});
  outbox.Handle(Credit(1), outcome);
  std::size_t keys = 0;
  for (const auto& [message, payloads] : outbox.SendNext(1, outcome)) {
    REQUIRE(message.ByteSizeLong() < 2 * kMessageBytes);
    for (const auto& embeddings : message.embeddings()) keys += embeddings.keys().size() / 16;
  }
  REQUIRE(keys == 500);
}

TEST_CASE("an item put off by the shard is sent again first; one refused is dropped") {
  FakeProvider provider;
  InsertOutbox outbox(provider);
  OutboxOutcome outcome;
  for (std::uint64_t i = 0; i < 3; ++i) outbox.Add({ItemOf(i)});
  outbox.Handle(Credit(2), outcome);
  REQUIRE(ItemsIn(outbox.SendNext(1, outcome)) == 1);
  REQUIRE(ItemsIn(outbox.SendNext(1, outcome)) == 1);
  outbox.Handle(Answer(ItemOf(0), absl::StatusCode::kResourceExhausted, 0), outcome);
  outbox.Handle(Answer(ItemOf(1), absl::StatusCode::kInvalidArgument, 0), outcome);
  REQUIRE(outcome.refused == 1);
  REQUIRE_FALSE(outbox.MaySend());
  outbox.Handle(Credit(1), outcome);
  REQUIRE(outbox.SendNext(1, outcome).back().message.items(0).id().environment_id() == 0);
  outbox.Handle(Answer(ItemOf(77), absl::StatusCode::kOk, 1), outcome);
  REQUIRE(outcome.acknowledged == 0);
}

TEST_CASE("an item that is put off for want of room for its contents is never dropped") {
  FakeProvider provider;
  InsertOutbox outbox(provider);
  OutboxOutcome outcome;
  proto::Item item = ItemOf(1);
  item.add_content_keys(KeyBytes("text"));
  outbox.Add({proto::Item(item)});
  outbox.Handle(Credit(1), outcome);
  proto::InsertReply put_off = Answer(item, absl::StatusCode::kResourceExhausted, 1);
  put_off.mutable_items(0)->add_missing_keys(KeyBytes("text"));
  proto::InsertReply missing = Answer(item, absl::StatusCode::kNotFound, 1);
  missing.mutable_items(0)->add_missing_keys(KeyBytes("text"));
  for (int i = 0; i < 50; ++i) {
    const auto messages = outbox.SendNext(1, outcome);
    REQUIRE(ItemsIn(messages) == 1);
    REQUIRE(messages[0].message.embeddings_size() == 1);
    outbox.Handle(i % 2 == 0 ? put_off : missing, outcome);
  }
  REQUIRE(outcome.left() == 0);
  REQUIRE(outbox.size() == 1);
}

TEST_CASE("what a shard let go is sent again, a list with what it uses, and nothing else") {
  FakeProvider provider;
  const proto::Catalog catalog = CatalogOf({KeyBytes("a"), KeyBytes("b")});
  const proto::Overlay overlay = OverlayOf(catalog.key(), KeyBytes("c"));
  provider.catalogs[catalog.key()] = catalog;
  provider.overlays[overlay.key()] = overlay;
  InsertOutbox outbox(provider);
  OutboxOutcome outcome;
  proto::Item item = ItemOf(1);
  item.add_content_keys(KeyBytes("text"));
  item.add_catalog_keys(overlay.key());
  outbox.Add({proto::Item(item)});
  outbox.Handle(Credit(1), outcome);
  REQUIRE(outbox.SendNext(1, outcome).size() == 5);
  proto::InsertReply missing = Answer(item, absl::StatusCode::kNotFound, 1);
  missing.mutable_items(0)->add_missing_keys(overlay.key());
  outbox.Handle(missing, outcome);
  const std::size_t asked = provider.asked;
  REQUIRE(outbox.SendNext(1, outcome).size() == 4);
  REQUIRE(provider.asked == asked + 3);
}

TEST_CASE("when the shard lost a content, contents are sent again, but not for ever") {
  FakeProvider provider;
  InsertOutbox outbox(provider);
  OutboxOutcome outcome;
  proto::Item item = ItemOf(1);
  item.add_content_keys(KeyBytes("text"));
  outbox.Add({proto::Item(item)});
  outbox.Handle(Credit(1), outcome);
  int sends = 0;
  while (outbox.MaySend()) {
    REQUIRE(ItemsIn(outbox.SendNext(1, outcome)) == 1);
    REQUIRE(++sends < 20);
    proto::InsertReply missing = Answer(item, absl::StatusCode::kNotFound, 1);
    missing.mutable_items(0)->add_missing_keys(KeyBytes("text"));
    outbox.Handle(missing, outcome);
  }
  REQUIRE(sends > 1);
  REQUIRE(provider.asked == static_cast<std::size_t>(sends));
  REQUIRE(outcome.without_content == 1);
}

TEST_CASE("an item whose content is nowhere is dropped and counted") {
  FakeProvider provider;
  provider.unknown.insert(KeyBytes("gone"));
  InsertOutbox outbox(provider);
  OutboxOutcome outcome;
  proto::Item item = ItemOf(1);
  item.add_content_keys(KeyBytes("gone"));
  outbox.Add({std::move(item)});
  outbox.Handle(Credit(1), outcome);
  REQUIRE(ItemsIn(outbox.SendNext(1, outcome)) == 0);
  REQUIRE(outcome.without_content == 1);
  REQUIRE(outbox.size() == 0);
}

std::shared_ptr<const proto::Chunk> ChunkOfBytes(std::string data) {
  auto chunk = std::make_shared<proto::Chunk>();
  chunk->set_key(KeyBytes(data));
  chunk->set_data(std::move(data));
  return chunk;
}

ChunkedItem WithChunks(std::uint64_t environment, Chunks chunks) {
  ChunkedItem item{.item = ItemOf(environment)};
  for (const auto& chunk : chunks) item.item.add_chunk_keys(chunk->key());
  item.chunks = std::move(chunks);
  return item;
}

// Returns how many chunks the messages carry. Each must come before the items that use it.
std::size_t ChunksIn(const Messages& messages, std::set<std::string>& known) {
  std::size_t chunks = 0;
  for (const auto& [message, payloads] : messages) {
    for (const proto::Chunk& chunk : message.chunks()) {
      known.insert(chunk.key());
      ++chunks;
    }
    for (const proto::Item& item : message.items()) {
      for (const std::string& key : item.chunk_keys()) REQUIRE(known.contains(key));
    }
  }
  return chunks;
}

TEST_CASE("a chunk goes once a connection, with its items, and again when the shard lacks it") {
  FakeProvider provider;
  InsertOutbox outbox(provider);
  OutboxOutcome outcome;
  std::set<std::string> known;
  const auto a = ChunkOfBytes("a");
  const auto b = ChunkOfBytes("b");
  const auto c = ChunkOfBytes("c");
  outbox.Add(WithChunks(0, {a, b}));
  outbox.Add(WithChunks(1, {b, c}));
  outbox.Handle(Credit(8), outcome);
  const auto messages = outbox.SendNext(64, outcome);
  REQUIRE(messages.size() == 1);
  REQUIRE(ItemsIn(messages) == 2);
  REQUIRE(ChunksIn(messages, known) == 3);
  // The shard has lost one of the two chunks of the first item.
  proto::InsertReply reply = Answer(ItemOf(0), absl::StatusCode::kNotFound, 8);
  reply.mutable_items(0)->add_missing_keys(b->key());
  outbox.Handle(reply, outcome);
  const auto again = outbox.SendNext(64, outcome);
  REQUIRE(ItemsIn(again) == 1);
  known.erase(b->key());
  REQUIRE(ChunksIn(again, known) == 1);
  outbox.Handle(Answer(ItemOf(0), absl::StatusCode::kOk, 8), outcome);
  REQUIRE(outcome.bytes == ItemOf(0).payload().size() + 2);
  outbox.Disconnected();
  outbox.Handle(Credit(8), outcome);
  known.clear();
  REQUIRE(ChunksIn(outbox.SendNext(64, outcome), known) == 2);
}

TEST_CASE("chunks that are larger than a message should be are sent in several") {
  FakeProvider provider;
  InsertOutbox outbox(provider);
  OutboxOutcome outcome;
  Chunks chunks;
  for (char name = 'a'; name < 'g'; ++name)
    chunks.push_back(ChunkOfBytes(std::string(400000, name)));
  outbox.Add(WithChunks(0, chunks));
  outbox.Add(WithChunks(1, {chunks[0], ChunkOfBytes("small")}));
  outbox.Handle(Credit(8), outcome);
  std::set<std::string> known;
  const auto messages = outbox.SendNext(64, outcome);
  REQUIRE(messages.size() == 3);
  REQUIRE(ItemsIn(messages) == 1);
  REQUIRE(ChunksIn(messages, known) == 6);
  const auto rest = outbox.SendNext(64, outcome);
  REQUIRE(rest.size() == 1);
  REQUIRE(ChunksIn(rest, known) == 1);
  REQUIRE(outbox.size() == 2);
}

}  // namespace
}  // namespace shoal::replay::client
