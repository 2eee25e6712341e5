// SPDX-License-Identifier: Apache-2.0
#include "inference/client/row_encoder.h"

#include <catch2/catch.hpp>

#include "platform/content/overlay_key.h"
#include "platform/transport/wire_tensor.h"

namespace shoal::inference::client {
namespace {

proto::EnvironmentSpec Spec() {
  proto::EnvironmentSpec spec;
  spec.add_content_fields("body");
  return spec;
}

// Returns the texts that are sent with a row whose body is `body`.
std::vector<std::string> TextsWith(RowEncoder& encoder, const std::string& body) {
  Row row;
  row.contents = {ContentOf(body)};
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
  encoder.ForgetContent(content::KeyOf("a"));
  REQUIRE(TextsWith(encoder, "a") == std::vector<std::string>{"a"});
}

TEST_CASE("The memory of what a stream has carried is bounded, and contents go once more") {
  RowEncoder encoder(Spec(), 4);
  for (const char* body : {"a", "b", "c", "d", "e"}) REQUIRE(TextsWith(encoder, body).size() == 1);
  REQUIRE(TextsWith(encoder, "e") == std::vector<std::string>{"e"});
  REQUIRE(TextsWith(encoder, "a") == std::vector<std::string>{"a"});
  REQUIRE(TextsWith(encoder, "e").empty());
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
  const auto base =
      std::make_shared<const CandidateList>(std::vector{ContentOf("a"), ContentOf("b")});
  const auto overlay = std::make_shared<const CandidateList>(base, std::vector<std::uint32_t>{1},
                                                             std::vector{ContentOf("c")});
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
                                                           std::vector{ContentOf("d")});
  const proto::ActRequest second = Encode(encoder, other).at(0);
  REQUIRE(second.catalogs_size() == 0);
  REQUIRE(second.overlays_size() == 1);
  encoder.ForgetCatalog(base->key());
  encoder.ForgetCatalog(other->key());
  REQUIRE(Encode(encoder, other).at(0).catalogs_size() == 1);
}

TEST_CASE("Overlays of the same content have the same key, whoever made them") {
  const auto base =
      std::make_shared<const CandidateList>(std::vector{ContentOf("a"), ContentOf("b")});
  const auto again =
      std::make_shared<const CandidateList>(std::vector{ContentOf("a"), ContentOf("b")});
  const std::vector<std::uint32_t> removed = {0};
  const CandidateList one(base, removed, {ContentOf("c")});
  REQUIRE(one.key() == CandidateList(again, removed, {ContentOf("c")}).key());
  REQUIRE(one.key() != CandidateList(base, {}, {ContentOf("c")}).key());
  REQUIRE(one.key() != base->key());
}

TEST_CASE("Each observation goes in its dtype; what a row does not say goes as the default") {
  proto::EnvironmentSpec spec;
  const auto add = [](proto::ObservationSpec& to, const std::string& name, proto::DType dtype) {
    to.set_name(name);
    to.set_dtype(dtype);
    to.add_shape(2);
  };
  add(*spec.add_observations(), "pixels", proto::UINT8);
  add(*spec.add_observations(), "state", proto::FLOAT32);
  add(*spec.add_extras(), "seen", proto::UINT8);
  spec.mutable_action()->mutable_discrete()->set_count(3);
  RowEncoder encoder(spec);
  Row first;
  const auto bytes_of = [](std::string pixels, const std::vector<float>& state) {
    return pixels.append(reinterpret_cast<const char*>(state.data()), state.size() * sizeof(float));
  };
  first.observation = bytes_of("\x07\xff", {0.5F, -1});
  first.legal = {1, 0, 1};
  first.forced_action = 2;
  first.extras = "ab";
  first.policy_id = 4;
  Row second;
  second.observation = bytes_of(std::string("\0\1", 2), {2, 3});
  const Row third;
  const std::vector<const Row*> rows = {&first, &second, &third};
  const proto::Rows wire = encoder.Encode(rows).back().rows();
  REQUIRE(wire.observations_size() == 2);
  REQUIRE(wire.observations(0).tensor().dtype() == proto::UINT8);
  REQUIRE(wire.observations(0).tensor().data() == std::string("\x07\xff\0\1\0\0", 6));
  const auto state = transport::Copy(wire.observations(1).tensor(), "state");
  REQUIRE(state->shape() == runtime::Shape{3, 2});
  REQUIRE(state->values<float>()[1] == -1);
  REQUIRE(state->values<float>()[3] == 3);
  REQUIRE(state->values<float>()[5] == 0);
  REQUIRE(wire.extras(0).tensor().data() == std::string("ab\0\0\0\0", 6));
  REQUIRE(wire.legal().data() == std::string("\1\0\1\1\1\1\1\1\1", 9));
  const auto forced = transport::Copy(wire.forced_actions(), "forced_actions");
  REQUIRE(forced->values<std::int64_t>()[0] == 2);
  REQUIRE(forced->values<std::int64_t>()[1] == -1);
  REQUIRE(wire.policy_ids(0) == 4);
  REQUIRE(wire.policy_ids(1) == 0);
  REQUIRE(wire.group_ids_size() == 0);

  const std::vector<const Row*> plain = {&second};
  const proto::Rows defaults = encoder.Encode(plain).back().rows();
  REQUIRE_FALSE(defaults.has_legal());
  REQUIRE_FALSE(defaults.has_forced_actions());
  REQUIRE(defaults.policy_ids_size() == 0);
}

}  // namespace
}  // namespace shoal::inference::client
