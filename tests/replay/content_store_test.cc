// SPDX-License-Identifier: Apache-2.0
#include "replay/content_store.h"

#include <malloc.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "platform/runtime/random.h"
#include "tests/replay/values.h"

namespace shoal::replay {
namespace {

Content CatalogOf(int number, std::vector<Key> candidates) {
  return {.key = KeyNumber(number), .body = Catalog{.candidates = std::move(candidates)}};
}

std::vector<Key> ContentsFor(ContentStore& store, const Item& item, int reader) {
  std::vector<std::shared_ptr<const Content>> contents;
  store.Collect(item, reader, contents);
  std::vector<Key> keys;
  for (const auto& content : contents) keys.push_back(content->key);
  return keys;
}

TEST_CASE("a content that items use stays, one that none uses leaves oldest first") {
  const std::size_t bytes = EmbeddingNumber(0).bytes();
  ContentStore store({.unused_capacity_bytes = 2 * bytes});
  REQUIRE(store.Put(EmbeddingNumber(0)).ok());
  const auto item = ItemNumber(1);
  item->keys = ContentKeys({KeyNumber(0)});
  REQUIRE(store.Acquire(*item).ok());
  for (int i = 1; i <= 4; ++i) REQUIRE(store.Put(EmbeddingNumber(i)).ok());
  store.Release(*item);
  REQUIRE(store.Contains(KeyNumber(0)));
  REQUIRE(store.Contains(KeyNumber(4)));
  REQUIRE_FALSE(store.Contains(KeyNumber(1)));
  REQUIRE(store.unused_bytes() <= 2 * bytes);
}

TEST_CASE("acquiring counts all keys of an item or none") {
  ContentStore store({.unused_capacity_bytes = 0});
  const auto item = ItemNumber(1);
  item->keys = ContentKeys({KeyNumber(0), KeyNumber(1)});
  REQUIRE(store.Put(EmbeddingNumber(0)).ok());
  const absl::Status status = store.Acquire(*item);
  REQUIRE(absl::IsNotFound(status));
  REQUIRE(runtime::Message(status).find(KeyNumber(1).ToHex()) != std::string::npos);
  REQUIRE(store.Put(EmbeddingNumber(1)).ok());
  REQUIRE_FALSE(store.Contains(KeyNumber(0)));
}

TEST_CASE("the zero key is never missing and never stored") {
  ContentStore store({});
  const auto item = ItemNumber(1);
  item->keys = ContentKeys({Key{}});
  REQUIRE(store.Acquire(*item).ok());
  const int reader = *store.OpenReader();
  REQUIRE(ContentsFor(store, *item, reader).empty());
  store.Release(*item);
  REQUIRE(absl::IsInvalidArgument(
      store.Put({.key = Key{}, .body = Embedding{.encoder_version = "e", .vector = "vv"}})));
}

TEST_CASE("a catalog holds its candidates, and a reader gets them in front of it") {
  ContentStore store({.unused_capacity_bytes = 0});
  REQUIRE(absl::IsNotFound(store.Put(CatalogOf(9, {KeyNumber(1)}))));
  ContentStore roomy({.unused_capacity_bytes = 1 << 20});
  REQUIRE(roomy.Put(EmbeddingNumber(1)).ok());
  REQUIRE(roomy.Put(EmbeddingNumber(2)).ok());
  REQUIRE(roomy.Put(CatalogOf(9, {KeyNumber(1), KeyNumber(2)})).ok());
  REQUIRE(roomy.unused_bytes() == CatalogOf(9, {KeyNumber(1), KeyNumber(2)}).bytes());
  const auto item = ItemNumber(1);
  item->keys = CatalogKeys({KeyNumber(9)});
  REQUIRE(roomy.Acquire(*item).ok());
  const int reader = *roomy.OpenReader();
  REQUIRE(ContentsFor(roomy, *item, reader) ==
          std::vector<Key>{KeyNumber(1), KeyNumber(2), KeyNumber(9)});
  REQUIRE(ContentsFor(roomy, *item, reader).empty());
  const int other = *roomy.OpenReader();
  REQUIRE(ContentsFor(roomy, *item, other).size() == 3);
  roomy.Release(*item);
  REQUIRE(roomy.size() == 3);
}

TEST_CASE("an overlay needs its base, keeps its candidates and leaves with them") {
  ContentStore store({.unused_capacity_bytes = 1 << 20});
  for (int i = 1; i <= 3; ++i) REQUIRE(store.Put(EmbeddingNumber(i)).ok());
  REQUIRE(store.Put(CatalogOf(9, {KeyNumber(1), KeyNumber(2)})).ok());
  const auto overlay = [](std::vector<std::uint32_t> removed) {
    return Content{
        .key = KeyNumber(10),
        .body = Overlay{
            .base = KeyNumber(9), .removed = std::move(removed), .appended = {KeyNumber(3)}}};
  };
  REQUIRE(absl::IsInvalidArgument(store.Put(overlay({2}))));
  REQUIRE(store.Put(overlay({0, 1})).ok());
  const auto item = ItemNumber(1);
  item->keys = CatalogKeys({KeyNumber(10)});
  REQUIRE(store.Acquire(*item).ok());
  const int reader = *store.OpenReader();
  REQUIRE(ContentsFor(store, *item, reader).back() == KeyNumber(10));
  store.Release(*item);
  REQUIRE(store.size() == 5);
}

TEST_CASE("a content of one kind is not replaced by another, nor named as one") {
  ContentStore store({});
  REQUIRE(store.Put(EmbeddingNumber(1)).ok());
  REQUIRE(absl::IsInvalidArgument(store.Put(CatalogOf(1, {}))));
  const auto item = ItemNumber(1);
  item->keys = CatalogKeys({KeyNumber(1)});
  REQUIRE(absl::IsNotFound(store.Acquire(*item)));
}

TEST_CASE("a reader that takes a closed one's place was given nothing") {
  ContentStore store({});
  REQUIRE(store.Put(EmbeddingNumber(1)).ok());
  const auto item = ItemNumber(1);
  item->keys = ContentKeys({KeyNumber(1)});
  REQUIRE(store.Acquire(*item).ok());
  const int first = *store.OpenReader();
  REQUIRE(ContentsFor(store, *item, first).size() == 1);
  store.CloseReader(first);
  const int second = *store.OpenReader();
  REQUIRE(second == first);
  REQUIRE(ContentsFor(store, *item, second).size() == 1);
  for (int i = 1; i < 64; ++i) REQUIRE(store.OpenReader().ok());
  REQUIRE(absl::IsResourceExhausted(store.OpenReader().status()));
}

TEST_CASE("an embedding of a new encoder version is given to readers again") {
  ContentStore store({});
  REQUIRE(store.Put(EmbeddingNumber(1)).ok());
  REQUIRE(store.Put(CatalogOf(9, {KeyNumber(1)})).ok());
  const auto item = ItemNumber(1);
  item->keys = CatalogKeys({KeyNumber(9)});
  REQUIRE(store.Acquire(*item).ok());
  const int reader = *store.OpenReader();
  REQUIRE(ContentsFor(store, *item, reader).size() == 2);
  REQUIRE(store.Put(EmbeddingNumber(1, "encoder 2")).ok());
  REQUIRE(ContentsFor(store, *item, reader) == std::vector<Key>{KeyNumber(1), KeyNumber(9)});
}

TEST_CASE("contents in use past the capacity refuse new ones until one of them becomes unused") {
  const std::size_t bytes = EmbeddingNumber(0).bytes();
  ContentStore store({.capacity_bytes = 2 * bytes, .unused_capacity_bytes = 2 * bytes});
  const auto item = ItemNumber(1);
  for (int i = 0; i < 2; ++i) {
    REQUIRE(store.Put(EmbeddingNumber(i)).ok());
  }
  item->keys = ContentKeys({KeyNumber(0), KeyNumber(1)});
  REQUIRE(store.Acquire(*item).ok());
  REQUIRE_FALSE(store.full());
  Content third = EmbeddingNumber(2);
  const absl::Status refused = store.Put(std::move(third));
  REQUIRE(absl::IsResourceExhausted(refused));
  REQUIRE(runtime::Message(refused) == "contents in use fill " + std::to_string(2 * bytes) +
                                           " of " + std::to_string(2 * bytes) +
                                           " bytes of contents");
  REQUIRE(store.full());
  REQUIRE(store.bytes() == 2 * bytes);
  store.Release(*item);
  REQUIRE_FALSE(store.full());
  REQUIRE(store.Put(std::move(third)).ok());
  REQUIRE(store.Contains(KeyNumber(2)));
  REQUIRE(store.bytes() <= 2 * bytes);
}

TEST_CASE("what can never fit is refused for good, and does not make the store full") {
  const std::size_t bytes = EmbeddingNumber(0).bytes();
  ContentStore store({.capacity_bytes = 2 * bytes, .unused_capacity_bytes = 2 * bytes});
  Content large = EmbeddingNumber(0);
  std::get<Embedding>(large.body).vector.resize(3 * bytes);
  REQUIRE(absl::IsInvalidArgument(store.Put(std::move(large))));
  for (int i = 1; i <= 2; ++i) REQUIRE(store.Put(EmbeddingNumber(i)).ok());
  const absl::Status list = store.Put(CatalogOf(9, {KeyNumber(1), KeyNumber(2)}));
  REQUIRE(absl::IsInvalidArgument(list));
  REQUIRE(runtime::Message(list).find("do not fit into") != std::string::npos);
  REQUIRE_FALSE(store.full());
}

TEST_CASE("catalogs and overlays that no item uses leave too, and then what they alone used") {
  const std::size_t bytes = EmbeddingNumber(0).bytes();
  ContentStore store({.capacity_bytes = 12 * bytes, .unused_capacity_bytes = 4 * bytes});
  const auto held = ItemNumber(1);
  held->keys = CatalogKeys({KeyNumber(1000)});
  for (int i = 0; i < 500; ++i) {
    REQUIRE(store.Put(EmbeddingNumber(i)).ok());
    REQUIRE(store.Put(CatalogOf(1000 + i, {KeyNumber(i)})).ok());
    REQUIRE(store
                .Put({.key = KeyNumber(2000 + i),
                      .body = Overlay{.base = KeyNumber(1000 + i),
                                      .removed = {0},
                                      .appended = {KeyNumber(i)}}})
                .ok());
    if (i == 0) REQUIRE(store.Acquire(*held).ok());
    REQUIRE(store.bytes() <= 12 * bytes);
  }
  REQUIRE(store.Contains(KeyNumber(1000)));
  REQUIRE(store.Contains(KeyNumber(0)));
  REQUIRE_FALSE(store.Contains(KeyNumber(2000)));
  REQUIRE_FALSE(store.Contains(KeyNumber(1001)));
  REQUIRE_FALSE(store.Contains(KeyNumber(1)));
  REQUIRE(store.Contains(KeyNumber(2499)));
  const auto late = ItemNumber(2);
  late->keys = std::make_shared<const ItemKeys>(
      ItemKeys{.contents = {KeyNumber(1), KeyNumber(0)},
               .catalogs = {KeyNumber(1001), KeyNumber(1000), KeyNumber(2001)}});
  REQUIRE(absl::IsNotFound(store.Acquire(*late)));
  REQUIRE(store.Missing(*late) == std::vector<Key>{KeyNumber(1), KeyNumber(1001), KeyNumber(2001)});
}

TEST_CASE("what a reader forgot it is given again, a list with its own candidates") {
  ContentStore store({.unused_capacity_bytes = 1 << 20});
  for (int i = 1; i <= 3; ++i) REQUIRE(store.Put(EmbeddingNumber(i)).ok());
  REQUIRE(store.Put(CatalogOf(9, {KeyNumber(1), KeyNumber(2)})).ok());
  REQUIRE(store
              .Put({.key = KeyNumber(10),
                    .body = Overlay{.base = KeyNumber(9), .removed = {}, .appended = {}}})
              .ok());
  const auto item = ItemNumber(1);
  item->keys = std::make_shared<const ItemKeys>(
      ItemKeys{.contents = {KeyNumber(3)}, .catalogs = {KeyNumber(10)}});
  REQUIRE(store.Acquire(*item).ok());
  const int reader = *store.OpenReader();
  const int other = *store.OpenReader();
  REQUIRE(ContentsFor(store, *item, reader).size() == 5);
  REQUIRE(ContentsFor(store, *item, other).size() == 5);
  store.Forget(reader, KeyNumber(3));
  store.Forget(reader, KeyNumber(77));
  REQUIRE(ContentsFor(store, *item, reader) == std::vector<Key>{KeyNumber(3)});
  store.Forget(reader, KeyNumber(10));
  REQUIRE(ContentsFor(store, *item, reader) == std::vector<Key>{KeyNumber(10)});
  store.Forget(reader, KeyNumber(10));
  store.Forget(reader, KeyNumber(9));
  REQUIRE(ContentsFor(store, *item, reader) ==
          std::vector<Key>{KeyNumber(1), KeyNumber(2), KeyNumber(9), KeyNumber(10)});
  REQUIRE(ContentsFor(store, *item, other).empty());
}

TEST_CASE("chunks without users stand in a line of their own, which pushes out no embedding") {
  const std::size_t bytes = EmbeddingNumber(0).bytes();
  ContentStore store({.unused_capacity_bytes = 40 * bytes});
  for (int i = 0; i < 20; ++i) REQUIRE(store.Put(EmbeddingNumber(i)).ok());
  const auto held = ItemNumber(1);
  held->keys = ChunkKeys({KeyNumber(100), KeyNumber(100)});
  for (int i = 100; i < 1000; ++i) {
    REQUIRE(store.Put(ChunkNumber(i)).ok());
    if (i == 100) REQUIRE(store.Acquire(*held).ok());
  }
  for (int i = 0; i < 20; ++i) REQUIRE(store.Contains(KeyNumber(i)));
  REQUIRE(store.Contains(KeyNumber(100)));
  REQUIRE(store.Contains(KeyNumber(999)));
  REQUIRE_FALSE(store.Contains(KeyNumber(101)));
  REQUIRE(store.chunks() * ChunkNumber(0).bytes() == store.chunk_bytes());
  // A quarter, the newest one, and the one that is held.
  REQUIRE(store.chunk_bytes() <= 10 * bytes + 2 * ChunkNumber(0).bytes());
  REQUIRE(store.bytes() == store.chunk_bytes() + 20 * bytes);
  const std::size_t unused = store.unused_bytes();
  store.Release(*held);
  // It is the newest in the line, and the oldest leaves for it.
  REQUIRE(store.Contains(KeyNumber(100)));
  REQUIRE(store.unused_bytes() <= unused + bytes);
}

TEST_CASE("an item names each content as what it is") {
  ContentStore store({});
  REQUIRE(store.Put(EmbeddingNumber(1)).ok());
  REQUIRE(store.Put(ChunkNumber(2)).ok());
  REQUIRE(store.Put(CatalogOf(3, {KeyNumber(1)})).ok());
  const auto item = ItemNumber(1);
  for (const auto& [named, number] :
       {std::pair(&ContentKeys, 1), std::pair(&ChunkKeys, 2), std::pair(&CatalogKeys, 3)}) {
    for (int i = 1; i <= 3; ++i) {
      item->keys = named({KeyNumber(i)});
      const bool right = i == number;
      REQUIRE(store.Missing(*item).empty() == right);
      REQUIRE(store.Acquire(*item).ok() == right);
      if (right) store.Release(*item);
    }
  }
  REQUIRE(absl::IsInvalidArgument(store.Put(ChunkNumber(1))));
}

TEST_CASE("a reader is given a chunk once, again when it forgot it, whatever embeddings change") {
  ContentStore store({});
  REQUIRE(store.Put(EmbeddingNumber(1)).ok());
  REQUIRE(store.Put(ChunkNumber(2)).ok());
  const auto item = ItemNumber(1);
  item->keys = ChunkKeys({KeyNumber(2)});
  REQUIRE(store.Acquire(*item).ok());
  const int reader = *store.OpenReader();
  REQUIRE(ContentsFor(store, *item, reader) == std::vector<Key>{KeyNumber(2)});
  REQUIRE(store.Put(EmbeddingNumber(1, "another encoder")).ok());
  REQUIRE(ContentsFor(store, *item, reader).empty());
  store.Forget(reader, KeyNumber(2));
  REQUIRE(ContentsFor(store, *item, reader) == std::vector<Key>{KeyNumber(2)});
}

// Returns the memory in use, as the allocator counts it.
std::size_t UsedBytes() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

TEST_CASE("a store counts at least the memory that its contents take, of each kind") {
  const std::size_t before = UsedBytes();
  ContentStore store({.unused_capacity_bytes = std::size_t{1} << 30});
  for (int i = 0; i < 20000; ++i) {
    REQUIRE(store.Put(EmbeddingNumber(i, "an encoder with a name of its own")).ok());
  }
  for (int i = 0; i < 5000; ++i) {
    REQUIRE(store.Put(CatalogOf(30000 + i, {KeyNumber(i), KeyNumber(i + 1)})).ok());
  }
  for (int i = 0; i < 5000; ++i) {
    REQUIRE(store
                .Put({.key = KeyNumber(40000 + i),
                      .body = Overlay{.base = KeyNumber(30000),
                                      .removed = {0},
                                      .appended = {KeyNumber(i)}}})
                .ok());
  }
  for (int i = 0; i < 5000; ++i) REQUIRE(store.Put(ChunkNumber(50000 + i, 200)).ok());
  const std::size_t used = UsedBytes() - std::min(before, UsedBytes());
  INFO("used " << used << " counted " << store.bytes());
  REQUIRE(used <= store.bytes());
}

TEST_CASE("an embedding is replaced by a larger one only where there is room") {
  const std::size_t bytes = EmbeddingNumber(0).bytes();
  const std::size_t capacity = 2 * bytes + 100;
  ContentStore store({.capacity_bytes = capacity, .unused_capacity_bytes = capacity});
  const auto item = ItemNumber(1);
  item->keys = ContentKeys({KeyNumber(0)});
  const auto other = ItemNumber(2);
  other->keys = ContentKeys({KeyNumber(1)});
  for (int i = 0; i < 2; ++i) REQUIRE(store.Put(EmbeddingNumber(i)).ok());
  REQUIRE(store.Acquire(*item).ok());
  REQUIRE(store.Acquire(*other).ok());
  const Content larger = EmbeddingNumber(0, std::string(200, 'e'));
  REQUIRE(absl::IsResourceExhausted(store.Put(Content(larger))));
  REQUIRE(store.bytes() == 2 * bytes);
  store.Release(*other);
  REQUIRE(store.Put(Content(larger)).ok());
  REQUIRE_FALSE(store.Contains(KeyNumber(1)));
  REQUIRE(store.bytes() == larger.bytes());
  REQUIRE(store.unused_bytes() == 0);
  store.Release(*item);
  REQUIRE(store.unused_bytes() == larger.bytes());
}

TEST_CASE("uses are what items hold, whatever the order of putting, acquiring and releasing") {
  runtime::Random random(11);
  const std::size_t bytes = EmbeddingNumber(0).bytes();
  ContentStore store({.capacity_bytes = 1 << 30, .unused_capacity_bytes = 4 * bytes});
  std::vector<std::shared_ptr<Item>> held;
  for (int i = 0; i < 5000; ++i) {
    const int choice = static_cast<int>(random.Below(3));
    if (choice == 0) {
      REQUIRE(store.Put(EmbeddingNumber(static_cast<int>(random.Below(30)))).ok());
    } else if (choice == 1) {
      auto item = ItemNumber(1);
      std::vector<Key> keys;
      for (int k = 0; k < 3; ++k) {
        keys.push_back(KeyNumber(static_cast<int>(random.Below(30))));
      }
      item->keys = ContentKeys(std::move(keys));
      if (store.Acquire(*item).ok()) held.push_back(std::move(item));
    } else if (!held.empty()) {
      const std::size_t at = random.Below(held.size());
      store.Release(*held[at]);
      held.erase(held.begin() + static_cast<std::ptrdiff_t>(at));
    }
    std::set<Key> used;
    for (const auto& item : held) {
      used.insert(item->keys->contents.begin(), item->keys->contents.end());
    }
    for (const Key& key : used) REQUIRE(store.Contains(key));
    REQUIRE(store.bytes() - store.unused_bytes() == used.size() * bytes);
    REQUIRE(store.unused_bytes() <= 5 * bytes);
  }
}

}  // namespace
}  // namespace shoal::replay
