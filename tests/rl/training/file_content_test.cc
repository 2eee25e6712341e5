// SPDX-License-Identifier: Apache-2.0
#include "rl/training/file_content.h"

#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "platform/runtime/random.h"
#include "rl/model/digest.h"
#include "rl/training/digest_beside.h"

namespace shoal::training {
namespace {

// Returns the same bytes in pieces of other lengths.
FileContent Cut(const std::string& bytes, runtime::Random& random) {
  FileContent content;
  const FileContent whole = bytes;
  for (std::uint64_t place = 0; place < whole.size();) {
    const std::uint64_t count = 1 + random.Below(whole.size() - place);
    content.Append(whole, place, count);
    place += count;
  }
  return content;
}

TEST_CASE("contents are equal when their bytes are, however they are cut") {
  runtime::Random random(1);
  const std::string text = "one two three";
  for (int round = 0; round < 20; ++round) {
    REQUIRE(Cut(text, random) == text);
    REQUIRE(Cut(text, random) != "one two thref");
    REQUIRE(Cut(text, random) != "one two");
  }
  REQUIRE(FileContent() == "");
  REQUIRE(FileContent("").pieces().empty());
}

TEST_CASE("a part of a content is that of its bytes, and shares them") {
  runtime::Random random(2);
  const std::string text = "0123456789";
  for (std::size_t begin = 0; begin <= text.size(); ++begin) {
    for (std::size_t count = 0; begin + count <= text.size(); ++count) {
      const FileContent whole = Cut(text, random);
      FileContent part = "x";
      part.Append(whole, begin, count);
      REQUIRE(part.size() == 1 + count);
      REQUIRE(part == "x" + text.substr(begin, count));
    }
  }
  const FileContent whole = text;
  FileContent part;
  part.Append(whole, 3, 4);
  REQUIRE(part.pieces()[0].bytes.data() == whole.pieces()[0].bytes.data() + 3);
  REQUIRE(part.Joined().bytes.data() == part.pieces()[0].bytes.data());
}

TEST_CASE("a content keeps what its pieces lie in") {
  auto owner = std::make_shared<const std::string>("kept");
  const std::weak_ptr<const std::string> watch = owner;
  FileContent content;
  content.Append({*owner, owner});
  owner = nullptr;
  const FileContent copy = content;
  content = {};
  REQUIRE(copy == "kept");
  REQUIRE_FALSE(watch.expired());
}

TEST_CASE("a digest is that of all bytes, whoever hashes them and however they are cut") {
  // FIPS 180-2, appendices B.1 and B.3.
  REQUIRE(model::HexSha256("abc") ==
          "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  REQUIRE(model::HexSha256(std::string(1'000'000, 'a')) ==
          "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  runtime::Random random(3);
  for (const std::size_t size : {std::size_t{0}, std::size_t{3}, std::size_t{3} << 20}) {
    std::string bytes(size, '\0');
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i * i >> 5);
    const FileDigest expected{size, model::HexSha256(bytes)};
    const FileContent content = Cut(bytes, random);
    REQUIRE(DigestOf(content) == expected);
    DigestBeside beside(size);
    for (const runtime::SharedBytes& piece : content.pieces()) beside.Add(piece);
    REQUIRE(beside.Finish() == expected);
  }
}

TEST_CASE("a digest that nobody asks for keeps no bytes") {
  auto owner = std::make_shared<const std::string>(std::size_t{8} << 20, 'x');
  const std::weak_ptr<const std::string> watch = owner;
  {
    DigestBeside beside(owner->size());
    for (int i = 0; i < 10; ++i) beside.Add({*owner, owner});
    owner = nullptr;
  }
  REQUIRE(watch.expired());
}

}  // namespace
}  // namespace shoal::training
