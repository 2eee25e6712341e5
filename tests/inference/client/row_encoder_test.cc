// SPDX-License-Identifier: Apache-2.0
#include "inference/client/row_encoder.h"

#include <catch2/catch.hpp>

#include "platform/content/overlay_key.h"

namespace shoal::inference::client {
namespace {

proto::EnvironmentSpec Spec() {
  proto::EnvironmentSpec spec;
  spec.add_content_fields("body");
  return spec;
}

// Texts that go with a row whose body is `body`.
std::vector<std::string> TextsWith(RowEncoder& encoder, const std::string& body) {
  Row row;
  row.contents = {{.key = content::KeyOf(body), .text = std::make_shared<const std::string>(body)}};
  const std::vector<const Row*> rows = {&row};
  std::vector<std::string> texts;
  for (const proto::ActRequest& message : encoder.Encode(rows)) {
    for (const proto::Content& content : message.contents()) texts.push_back(content.text());
  }
  return texts;
}

TEST_CASE("A content goes once, or again when it was forgotten") {
  RowEncoder encoder(Spec());
  REQUIRE(TextsWith(encoder, "a") == std::vector<std::string>{"a"});
  REQUIRE(TextsWith(encoder, "a").empty());
  encoder.ForgetContent(std::string(content::KeyOf("a").AsBytes()));
  REQUIRE(TextsWith(encoder, "a") == std::vector<std::string>{"a"});
}

TEST_CASE("The memory of what a stream has carried is bounded, and contents go once more") {
  RowEncoder encoder(Spec(), 4);
  for (const char* body : {"a", "b", "c", "d", "e"}) REQUIRE(TextsWith(encoder, body).size() == 1);
  REQUIRE(TextsWith(encoder, "e") == std::vector<std::string>{"e"});
  REQUIRE(TextsWith(encoder, "a") == std::vector<std::string>{"a"});
  REQUIRE(TextsWith(encoder, "e").empty());
}

ContentReference Content(const std::string& text) {
  return {.key = content::KeyOf(text), .text = std::make_shared<const std::string>(text)};
}

std::vector<proto::ActRequest> Encode(RowEncoder& encoder,
                                      std::shared_ptr<const CandidateList> list) {
  Row row;
  row.contents.resize(1);
  row.catalog = std::move(list);
  const std::vector<const Row*> rows = {&row};
  return encoder.Encode(rows);
}

TEST_CASE("An overlay goes after its catalog, which goes once, with the texts that it appends") {
  RowEncoder encoder(Spec());
  const auto base = std::make_shared<const CandidateList>(std::vector{Content("a"), Content("b")});
  const auto overlay = std::make_shared<const CandidateList>(base, std::vector<std::uint32_t>{1},
                                                             std::vector{Content("c")});
  REQUIRE(overlay->size() == 3);
  REQUIRE(*overlay->at(1).text == "b");
  REQUIRE(*overlay->at(2).text == "c");
  const proto::ActRequest first = Encode(encoder, overlay).at(0);
  REQUIRE(first.catalogs_size() == 1);
  REQUIRE(first.contents_size() == 3);
  REQUIRE(first.overlays_size() == 1);
  const std::vector<content::ContentKey> appended = {content::KeyOf("c")};
  const content::ContentKey key =
      content::OverlayKey(base->key(), std::vector<std::uint32_t>{1}, appended);
  REQUIRE(first.overlays(0).key() == key.AsBytes());
  REQUIRE(first.overlays(0).base() == base->key().AsBytes());
  REQUIRE(first.overlays(0).removed(0) == 1);
  REQUIRE(first.rows().catalog_keys(0) == key.AsBytes());
  const auto other = std::make_shared<const CandidateList>(base, std::vector<std::uint32_t>{},
                                                           std::vector{Content("d")});
  const proto::ActRequest second = Encode(encoder, other).at(0);
  REQUIRE(second.catalogs_size() == 0);
  REQUIRE(second.overlays_size() == 1);
  encoder.ForgetCatalog(std::string(base->key().AsBytes()));
  encoder.ForgetCatalog(std::string(other->key().AsBytes()));
  REQUIRE(Encode(encoder, other).at(0).catalogs_size() == 1);
}

TEST_CASE("Overlays of the same content have the same key, whoever made them") {
  const auto base = std::make_shared<const CandidateList>(std::vector{Content("a"), Content("b")});
  const auto again = std::make_shared<const CandidateList>(std::vector{Content("a"), Content("b")});
  const std::vector<std::uint32_t> removed = {0};
  const CandidateList one(base, removed, {Content("c")});
  REQUIRE(one.key() == CandidateList(again, removed, {Content("c")}).key());
  REQUIRE(one.key() != CandidateList(base, {}, {Content("c")}).key());
  REQUIRE(one.key() != base->key());
}

}  // namespace
}  // namespace shoal::inference::client
