// SPDX-License-Identifier: Apache-2.0
#include "inference/client/row_encoder.h"

#include <catch2/catch.hpp>

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

}  // namespace
}  // namespace shoal::inference::client
