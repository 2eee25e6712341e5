// SPDX-License-Identifier: Apache-2.0
#include "replay/wire.h"

#include <catch2/catch.hpp>

#include "tests/replay/messages.h"

namespace shoal::replay {
namespace {

TEST_CASE("an item is checked field by field and keeps its payload when refused") {
  const auto refuse = [](proto::Item item, const std::string& what) {
    const std::size_t payload = item.payload().size();
    const auto parsed = FromProto(item, 1000);
    REQUIRE(absl::IsInvalidArgument(parsed.status()));
    REQUIRE(runtime::Message(parsed.status()).find(what) != std::string::npos);
    REQUIRE(item.payload().size() == payload);
  };
  proto::Item item = ItemOf(1);
  item.clear_id();
  refuse(item, "id");
  item = ItemOf(1);
  item.clear_payload();
  refuse(item, "payload");
  refuse(ItemOf(1, 0, 2000), "1000");
  item = ItemOf(1);
  item.add_content_keys("short");
  refuse(item, "content_keys");
  item = ItemOf(1);
  item.add_catalog_keys(std::string(17, 'k'));
  refuse(item, "catalog_keys");
  item = ItemOf(1, 5);
  item.mutable_newest_version()->set_step(4);
  refuse(item, "version");
  item = ItemOf(1);
  item.set_steps(3);
  item.set_uncounted_steps(4);
  refuse(item, "further steps");
}

TEST_CASE("embeddings must be whole FLOAT16 rows, one a key") {
  const std::vector<std::string> keys = {KeyBytes("a"), KeyBytes("b")};
  REQUIRE(FromProto(EmbeddingsOf(keys))->size() == 2);
  const auto refused = [&keys](const std::function<void(proto::Embeddings&)>& change) {
    proto::Embeddings embeddings = EmbeddingsOf(keys);
    change(embeddings);
    return absl::IsInvalidArgument(FromProto(embeddings).status());
  };
  REQUIRE(refused([](auto& e) { e.mutable_keys()->pop_back(); }));
  REQUIRE(refused([](auto& e) { e.mutable_keys()->resize(16); }));
  REQUIRE(refused([](auto& e) { e.mutable_vectors()->set_dtype(proto::FLOAT32); }));
  REQUIRE(refused([](auto& e) { e.mutable_vectors()->mutable_data()->pop_back(); }));
  REQUIRE(refused([](auto& e) { e.mutable_vectors()->set_shape(1, -4); }));
  REQUIRE(refused([](auto& e) { e.mutable_vectors()->add_shape(1); }));
}

TEST_CASE("a catalog and an overlay whose key is not their hash are refused") {
  proto::Catalog catalog = CatalogOf({KeyBytes("a"), KeyBytes("b")});
  REQUIRE(FromProto(catalog).ok());
  catalog.mutable_candidate_keys()->append(KeyBytes("c"));
  REQUIRE(absl::IsInvalidArgument(FromProto(catalog).status()));
  proto::Overlay overlay = OverlayOf(KeyBytes("base"), KeyBytes("c"));
  REQUIRE(FromProto(overlay).ok());
  overlay.set_removed(0, 0);
  REQUIRE(absl::IsInvalidArgument(FromProto(overlay).status()));
}

TEST_CASE("a batch goes out contents first, in messages of bounded size, and comes back equal") {
  SampleBatch batch;
  std::vector<std::string> keys;
  for (int i = 0; i < 300; ++i) keys.push_back(KeyBytes(std::to_string(i)));
  std::vector<Content> embeddings = *FromProto(EmbeddingsOf(keys, 4096));
  for (Content& content : embeddings) {
    batch.contents.push_back(std::make_shared<const Content>(std::move(content)));
  }
  const proto::Catalog catalog = CatalogOf(keys);
  batch.contents.push_back(std::make_shared<const Content>(*FromProto(catalog)));
  const proto::Overlay overlay = OverlayOf(catalog.key(), keys[0]);
  batch.contents.push_back(std::make_shared<const Content>(*FromProto(overlay)));
  proto::Item item = ItemOf(7, 3);
  item.add_content_keys(keys[0]);
  item.add_catalog_keys(catalog.key());
  proto::Item copy = item;
  batch.samples.push_back({.item = *FromProto(copy, 1000), .table_size = 9, .times_sampled = 2});

  const std::vector<proto::SampleReply> replies = ToReplies(batch);
  REQUIRE(replies.size() >= 3);
  int vectors = 0;
  for (const auto& reply : replies) {
    REQUIRE(reply.ByteSizeLong() < 2 * kMessageBytes);
    for (const auto& part : reply.embeddings()) {
      REQUIRE(Check(part).ok());
      vectors += static_cast<int>(part.vectors().shape(0));
    }
  }
  REQUIRE(vectors == 300);
  const proto::SampleReply& last = replies.back();
  REQUIRE(last.catalogs(0).SerializeAsString() == catalog.SerializeAsString());
  REQUIRE(last.overlays(0).SerializeAsString() == overlay.SerializeAsString());
  item.clear_table();
  REQUIRE(last.items(0).item().SerializeAsString() == item.SerializeAsString());
  REQUIRE(last.items(0).table_size() == 9);
  REQUIRE(last.items(0).times_sampled() == 2);
}

}  // namespace
}  // namespace shoal::replay
