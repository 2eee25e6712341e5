// SPDX-License-Identifier: Apache-2.0
// Compares ids with those of Hugging Face's tokenizers (tests/golden/tokenizer_golden.py).
#include <catch2/catch.hpp>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "redfish/capture/archive.h"
#include "tests/text/bpe/tokenizers.h"
#include "text/bpe/code_points.h"
#include "text/bpe/token_encoder.h"
#include "text/bpe/tokenizer_json.h"

namespace shoal::tokens {
namespace {

constexpr std::int32_t kTrainedSize = 1500;

using Files = std::map<std::string, std::string>;

const Files& Golden() {
  static const Files kFiles = [] {
    Files files;
    const auto archive = redfish::ReadArchive("tests/golden/tokenizer.tar.xz", "");
    REQUIRE(archive.ok());
    for (const redfish::ArchiveFile& file : archive->files) files[file.path] = file.bytes;
    return files;
  }();
  return kFiles;
}

std::uint32_t TakeNumber(std::string_view& bytes) {
  std::uint32_t number = 0;
  REQUIRE(bytes.size() >= sizeof(number));
  std::memcpy(&number, bytes.data(), sizeof(number));
  bytes.remove_prefix(sizeof(number));
  return number;
}

// Returns the texts that are UTF-8, or those that are not.
std::vector<std::string> GoldenTexts(bool well_formed) {
  std::vector<std::string> texts;
  std::string_view rest = Golden().at("texts");
  while (!rest.empty()) {
    const std::uint32_t size = TakeNumber(rest);
    const std::string_view text = rest.substr(0, size);
    if (IsWellFormed(text) == well_formed) texts.emplace_back(text);
    rest.remove_prefix(size);
  }
  return texts;
}

std::vector<Ids> GoldenIds(const std::string& file) {
  std::vector<Ids> all;
  std::string_view rest = Golden().at(file);
  while (!rest.empty()) {
    Ids ids(TakeNumber(rest));
    for (std::int32_t& id : ids) id = static_cast<std::int32_t>(TakeNumber(rest));
    all.push_back(std::move(ids));
  }
  return all;
}

TokenizerPointer GoldenTokenizer(const std::string& name) {
  const auto tokenizer = ParseTokenizerJson(Golden().at(name + ".json"), name);
  INFO(tokenizer.status().message());
  REQUIRE(tokenizer.ok());
  return *tokenizer;
}

// If `may_lack` is true, some texts have no expected ids, since the other tokenizer was not asked.
void RequireIds(const TokenizerPointer& tokenizer, const std::vector<std::string>& texts,
                const std::string& file, bool may_lack = false) {
  const std::vector<Ids> expected = GoldenIds(file);
  REQUIRE(texts.size() == expected.size());
  TokenEncoder encoder(tokenizer);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (may_lack && expected[i].empty()) continue;
    Ids ids;
    REQUIRE(encoder.Encode(texts[i], ids).ok());
    if (ids != expected[i]) {
      INFO(file << " text " << i << ": " << texts[i]);
      REQUIRE(ids == expected[i]);
    }
  }
}

void RequireRoundTrips(const TokenizerPointer& tokenizer, const std::vector<std::string>& texts) {
  TokenEncoder encoder(tokenizer);
  for (const std::string& text : texts) {
    Ids ids;
    REQUIRE(encoder.Encode(text, ids).ok());
    if (tokenizer->Decode(ids).value() != text) FAIL(text);
  }
}

TEST_CASE("ids of GPT-2's vocabulary are Hugging Face's on more than 5,000 texts", "[golden]") {
  const auto texts = GoldenTexts(true);
  REQUIRE(texts.size() >= 5000);
  RequireIds(Gpt2(), texts, "gpt2.ids");
  RequireRoundTrips(Gpt2(), texts);
}

TEST_CASE("what is no UTF-8 becomes what Hugging Face's model makes of its bytes", "[golden]") {
  const auto texts = GoldenTexts(false);
  REQUIRE(texts.size() >= 500);
  RequireIds(Gpt2(), texts, "gpt2.other.ids");
  RequireRoundTrips(Gpt2(), texts);
}

TEST_CASE("Hugging Face reads trained tokenizers back and gives the same ids", "[golden]") {
  const auto texts = GoldenTexts(true);
  RequireIds(GoldenTokenizer("trained"), texts, "trained.ids");
  RequireRoundTrips(GoldenTokenizer("trained"), texts);
  RequireIds(GoldenTokenizer("normalized"), texts, "normalized.ids");
}

TEST_CASE("tokenizers that Hugging Face wrote give its ids", "[golden]") {
  const auto texts = GoldenTexts(true);
  RequireIds(GoldenTokenizer("theirs"), texts, "theirs.ids");
  RequireIds(GoldenTokenizer("prefixed"), texts, "prefixed.ids");
  RequireIds(GoldenTokenizer("split"), texts, "split.ids", /*may_lack=*/true);
  RequireIds(GoldenTokenizer("flagged"), texts, "flagged.ids");
}

TEST_CASE("training makes the vocabulary and the merges that Hugging Face's makes", "[golden]") {
  const std::string& corpus = Golden().at("corpus");
  const auto trained = TrainedOn({corpus}, {.vocabulary_size = kTrainedSize});
  const auto theirs = GoldenTokenizer("theirs");
  REQUIRE(trained->fingerprint() == theirs->fingerprint());
  REQUIRE(TokenizerJson(*trained) == Golden().at("trained.json"));
  const auto normalized = TrainedOn(
      {corpus}, {.vocabulary_size = kTrainedSize, .split_camel_case = true, .lower_case = true});
  REQUIRE(TokenizerJson(*normalized) == Golden().at("normalized.json"));
}

}  // namespace
}  // namespace shoal::tokens
