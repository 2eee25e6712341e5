// SPDX-License-Identifier: Apache-2.0
#include "text/embedding/stored_encoder.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/doubles/temporary_folder.h"
#include "tests/text/embedding/counting_encoder.h"

namespace shoal::embedding {
namespace {

std::shared_ptr<EmbeddingFile> OpenIn(const doubles::TemporaryFolder& folder) {
  return EmbeddingFile::Open({.path = folder.At("vectors.sqlite")}, nullptr).value();
}

TEST_CASE("after a restart the same bits come out of the file, and nothing is encoded") {
  const doubles::TemporaryFolder folder;
  Calls calls;
  const std::vector<std::string> texts = {"one", "two", "", "one", "three"};
  std::vector<std::byte> before;
  {
    const StoredEncoder encoder(std::make_unique<CountingEncoder>(calls), OpenIn(folder));
    const runtime::Tensor vectors = EncodeAll(encoder, texts);
    before.assign(vectors.bytes().begin(), vectors.bytes().end());
    REQUIRE(calls.texts == std::vector<std::vector<std::string>>{{"one", "two", "three"}});
  }
  const StoredEncoder encoder(std::make_unique<CountingEncoder>(calls), OpenIn(folder));
  REQUIRE(std::ranges::equal(EncodeAll(encoder, texts).bytes(), before));
  REQUIRE(calls.texts.size() == 1);
  const CountingEncoder oracle(calls);
  const runtime::Tensor more = EncodeAll(encoder, {"four", "two"});
  REQUIRE(RowOf(more, 0) == oracle.VectorOf("four"));
  REQUIRE(RowOf(more, 1) == oracle.VectorOf("two"));
  REQUIRE(calls.texts.back() == std::vector<std::string>{"four"});
}

TEST_CASE("another version or dimension encodes anew") {
  const doubles::TemporaryFolder folder;
  Calls calls;
  const auto file = OpenIn(folder);
  EncodeAll(StoredEncoder(std::make_unique<CountingEncoder>(calls, 16, "a"), file), {"text"});
  EncodeAll(StoredEncoder(std::make_unique<CountingEncoder>(calls, 16, "b"), file), {"text"});
  EncodeAll(StoredEncoder(std::make_unique<CountingEncoder>(calls, 8, "b"), file), {"text"});
  REQUIRE(calls.count() == 3);
  EncodeAll(StoredEncoder(std::make_unique<CountingEncoder>(calls, 16, "b"), file), {"text"});
  REQUIRE(calls.count() == 3);
}

TEST_CASE("an error of the encoder is passed on, and nothing of it is kept") {
  const doubles::TemporaryFolder folder;
  Calls calls;
  auto counting = std::make_unique<CountingEncoder>(calls);
  CountingEncoder& inner = *counting;
  const StoredEncoder encoder(std::move(counting), OpenIn(folder));
  const std::vector<std::string_view> texts = {"text"};
  inner.fails = true;
  REQUIRE(runtime::Message(encoder.Encode(texts).status()) == "made to fail");
  inner.fails = false;
  inner.wrong_shape = true;
  REQUIRE(absl::IsInternal(encoder.Encode(texts).status()));
  inner.wrong_shape = false;
  REQUIRE(RowOf(encoder.Encode(texts).value(), 0) == inner.VectorOf("text"));
  REQUIRE(calls.count() == 3);
}

}  // namespace
}  // namespace shoal::embedding
