// SPDX-License-Identifier: Apache-2.0
#include "platform/content/content_key.h"

#include <catch2/catch.hpp>
#include <string>
#include <unordered_set>
#include <vector>

namespace shoal::content {
namespace {

TEST_CASE("A key is the first half of the text's SHA-256") {
  REQUIRE(KeyOf("abc").ToHex() == "ba7816bf8f01cfea414140de5dae2223");
  REQUIRE(Sha256Hex("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST_CASE("The empty text has the zero key, every other text has another") {
  REQUIRE(KeyOf("").IsZero());
  REQUIRE_FALSE(KeyOf(" ").IsZero());
  REQUIRE(KeyOf("a") != KeyOf("b"));
}

TEST_CASE("A key survives its bytes and its hexadecimal digits") {
  const ContentKey key = KeyOf("some text");
  REQUIRE(ContentKey::FromBytes(key.AsBytes()).value() == key);
  REQUIRE(ContentKey::FromHex(key.ToHex()).value() == key);
}

TEST_CASE("Bytes of another length and digits that are none are refused by name") {
  const auto short_bytes = ContentKey::FromBytes(std::string_view("abc"));
  REQUIRE(short_bytes.status().code() == absl::StatusCode::kInvalidArgument);
  REQUIRE(std::string(short_bytes.status().message()).find("3 bytes") != std::string::npos);
  REQUIRE(ContentKey::FromHex("00").status().code() == absl::StatusCode::kInvalidArgument);
  REQUIRE_FALSE(ContentKey::FromHex("zz7816bf8f01cfea414140de5dae2223").ok());
}

TEST_CASE("A list survives its bytes, and one whose last key is cut short is refused") {
  const std::vector<ContentKey> keys = {KeyOf("a"), KeyOf("b"), KeyOf("a")};
  const std::string bytes(AsBytes(keys));
  REQUIRE(bytes == std::string(keys[0].AsBytes()) + std::string(keys[1].AsBytes()) +
                       std::string(keys[2].AsBytes()));
  REQUIRE(KeysFromBytes(bytes).value() == keys);
  REQUIRE(KeysFromBytes("").value().empty());
  const auto cut = KeysFromBytes(bytes.substr(1));
  REQUIRE(cut.status().code() == absl::StatusCode::kInvalidArgument);
  REQUIRE(std::string(cut.status().message()).find("47 bytes") != std::string::npos);
}

TEST_CASE("The key of a list depends on its order") {
  const std::vector<ContentKey> forth = {KeyOf("a"), KeyOf("b")};
  const std::vector<ContentKey> back = {KeyOf("b"), KeyOf("a")};
  REQUIRE(KeyOf(forth) != KeyOf(back));
  REQUIRE(KeyOf(forth) == KeyOf(std::vector<ContentKey>(forth)));
}

TEST_CASE("Keys are elements of hashed and of ordered containers") {
  std::unordered_set<ContentKey> keys;
  for (int i = 0; i < 1000; ++i) keys.insert(KeyOf(std::to_string(i)));
  REQUIRE(keys.size() == 1000);
  REQUIRE((KeyOf("a") < KeyOf("b")) != (KeyOf("b") < KeyOf("a")));
}

}  // namespace
}  // namespace shoal::content
