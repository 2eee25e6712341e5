// SPDX-License-Identifier: Apache-2.0
#include "inference/core/catalog_store.h"

#include <catch2/catch.hpp>

namespace shoal::inference {
namespace {

using content::ContentKey;

ContentKey Key(int number) { return content::KeyOf("text " + std::to_string(number)); }

CandidateList Catalog(const std::vector<int>& numbers) {
  CandidateList list;
  for (const int number : numbers) list.candidates.push_back(Key(number));
  list.key = KeyOf(list);
  return list;
}

CandidateList Overlay(const ContentKey& base, std::vector<std::uint32_t> removed,
                      const std::vector<int>& appended) {
  CandidateList list = Catalog(appended);
  list.base = base;
  list.removed = std::move(removed);
  list.key = KeyOf(list);
  return list;
}

struct CatalogStoreFixture {
  void Embed(const std::vector<int>& numbers) {
    for (const int number : numbers) {
      const std::vector<std::uint16_t> values = {static_cast<std::uint16_t>(number), 0};
      contents.Insert(Key(number), values);
    }
  }
  embedding::EmbeddingStore contents{"test", 2, 1 << 20};
  int made = 0;
  runtime::Shape shape;
  std::vector<std::uint32_t> removed;
  CatalogStore store{contents, [this](const runtime::Tensor& embeddings,
                                      std::span<const std::uint32_t> out, const auto&) {
                       ++made;
                       shape = embeddings.shape();
                       removed.assign(out.begin(), out.end());
                       return std::shared_ptr<const model::CandidateTable>();
                     }};
};

TEST_CASE("A list that does not match its key is refused by name") {
  CatalogStoreFixture fixture;
  CandidateList list = Catalog({1, 2});
  std::swap(list.candidates[0], list.candidates[1]);
  const absl::Status added = fixture.store.Add(list);
  REQUIRE(absl::IsInvalidArgument(added));
  REQUIRE(runtime::Message(added).find(list.key.ToHex()) != std::string::npos);
}

TEST_CASE("An unknown catalog is named, and so are contents that are not embedded yet") {
  CatalogStoreFixture fixture;
  const CandidateList list = Catalog({1, 2, 3});
  REQUIRE(fixture.store.Resolve(list.key)->missing_list == list.key);
  REQUIRE(fixture.store.Add(list).ok());
  fixture.Embed({2});
  const auto partial = fixture.store.Resolve(list.key);
  REQUIRE(!partial->missing_list);
  REQUIRE(partial->missing_contents == std::vector<ContentKey>{Key(1), Key(3)});
}

TEST_CASE("A table is made once") {
  CatalogStoreFixture fixture;
  const CandidateList list = Catalog({1, 2});
  REQUIRE(fixture.store.Add(list).ok());
  fixture.Embed({1, 2});
  const auto first = fixture.store.Resolve(list.key);
  const auto second = fixture.store.Resolve(list.key);
  REQUIRE(first->candidates->count == 2);
  REQUIRE(first->candidates == second->candidates);
  REQUIRE(fixture.made == 1);
}

TEST_CASE("An overlay appends to its base and takes from it") {
  CatalogStoreFixture fixture;
  const CandidateList base = Catalog({1, 2});
  const CandidateList overlay = Overlay(base.key, {0}, {3});
  REQUIRE(fixture.store.Add(overlay).ok());
  REQUIRE(fixture.store.Resolve(overlay.key)->missing_list == base.key);
  REQUIRE(fixture.store.Add(base).ok());
  fixture.Embed({1, 2, 3});
  const auto resolved = fixture.store.Resolve(overlay.key);
  REQUIRE(resolved->candidates->count == 3);
  REQUIRE(fixture.made == 2);
  REQUIRE(fixture.shape == runtime::Shape{1, 2});
  REQUIRE(fixture.removed == std::vector<std::uint32_t>{0});
  REQUIRE(resolved->candidates->base == fixture.store.Resolve(base.key)->candidates);
}

TEST_CASE("An overlay that removes what is not there is refused") {
  CatalogStoreFixture fixture;
  const CandidateList base = Catalog({1, 2});
  REQUIRE(fixture.store.Add(base).ok());
  fixture.Embed({1, 2});
  const CandidateList beyond = Overlay(base.key, {2}, {});
  REQUIRE(fixture.store.Add(beyond).ok());
  REQUIRE(absl::IsInvalidArgument(fixture.store.Resolve(beyond.key).status()));
  REQUIRE(!fixture.store.Add(Overlay(base.key, {1, 1}, {})).ok());
}

struct SmallFixture : CatalogStoreFixture {
  explicit SmallFixture(std::size_t max_bytes)
      : small(
            contents,
            [](const runtime::Tensor&, std::span<const std::uint32_t>, const auto&) {
              return std::shared_ptr<const model::CandidateTable>();
            },
            max_bytes) {}
  // Adds many lists of one candidate each, which nobody resolves.
  void Flood() {
    for (int number = 1000; number < 1100; ++number) {
      REQUIRE(small.Add(Catalog({number})).ok());
    }
  }
  CatalogStore small;
};

TEST_CASE("Lists past the bytes leave, the least recently used first, and the newest stays") {
  SmallFixture fixture(1000);
  const CandidateList used = Catalog({1});
  const CandidateList unused = Catalog({2});
  REQUIRE(fixture.small.Add(unused).ok());
  REQUIRE(fixture.small.Add(used).ok());
  REQUIRE(fixture.small.Add(Catalog({3})).ok());
  REQUIRE(fixture.small.Resolve(used.key)->missing_contents.size() == 1);
  REQUIRE(fixture.small.Add(Catalog({4})).ok());
  REQUIRE(fixture.small.Find(used.key));
  REQUIRE_FALSE(fixture.small.Find(unused.key));
  fixture.Flood();
  REQUIRE_FALSE(fixture.small.Find(used.key));
  REQUIRE(fixture.small.bytes() <= 1000);
  const CandidateList large = Catalog(std::vector<int>(500, 7));
  REQUIRE(fixture.small.Add(large).ok());
  REQUIRE(fixture.small.Find(large.key));
  REQUIRE(fixture.small.Add(Catalog({8})).ok());
  REQUIRE_FALSE(fixture.small.Find(large.key));
  REQUIRE(fixture.small.bytes() <= 1000);
}

TEST_CASE("Tables count as bytes, and one that somebody holds stays with its list") {
  SmallFixture fixture(1000);
  const CandidateList list = Catalog({1, 2});
  fixture.Embed({1, 2});
  REQUIRE(fixture.small.Add(list).ok());
  const std::size_t without = fixture.small.bytes();
  auto resolved = fixture.small.Resolve(list.key);
  REQUIRE(fixture.small.bytes() > without);
  fixture.Flood();
  REQUIRE(fixture.small.Find(list.key));
  REQUIRE(fixture.small.Resolve(list.key)->candidates == resolved->candidates);
  resolved = CatalogStore::Resolution();
  fixture.Flood();
  fixture.Flood();
  REQUIRE_FALSE(fixture.small.Find(list.key));
}

}  // namespace
}  // namespace shoal::inference
