// SPDX-License-Identifier: Apache-2.0
// Compares ids with those of Hugging Face's tokenizers (tests/golden/word_piece_golden.py).
#include <catch2/catch.hpp>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "redfish/capture/archive.h"
#include "tests/doubles/sentence_model.h"
#include "text/wordpiece/word_piece_files.h"

namespace shoal::tokens {
namespace {

constexpr std::size_t kMaximumIds = 256;

const std::map<std::string, std::string>& GoldenFiles() {
  static const std::map<std::string, std::string> kFiles = [] {
    std::map<std::string, std::string> files;
    const auto archive = redfish::ReadArchive("tests/golden/word_piece.tar.xz", "");
    REQUIRE(archive.ok());
    for (const redfish::ArchiveFile& file : archive->files) files[file.path] = file.bytes;
    return files;
  }();
  return kFiles;
}

std::uint32_t TakeWord(std::string_view& bytes) {
  std::uint32_t number = 0;
  REQUIRE(bytes.size() >= sizeof(number));
  std::memcpy(&number, bytes.data(), sizeof(number));
  bytes.remove_prefix(sizeof(number));
  return number;
}

// Returns the number of texts compared.
std::size_t RequireGoldenIds(const WordPieceTokenizer& tokenizer, const std::string& file) {
  std::string_view texts = GoldenFiles().at("texts");
  std::string_view expected = GoldenFiles().at(file);
  std::size_t compared = 0;
  for (; !texts.empty(); ++compared) {
    const std::uint32_t size = TakeWord(texts);
    const std::string_view text = texts.substr(0, size);
    texts.remove_prefix(size);
    std::vector<std::int32_t> theirs(TakeWord(expected));
    for (std::int32_t& id : theirs) id = static_cast<std::int32_t>(TakeWord(expected));
    const auto ours = tokenizer.Encode(text, kMaximumIds);
    if (ours == theirs) continue;
    INFO(file << " text " << compared << ": " << text);
    REQUIRE(ours == theirs);
  }
  REQUIRE(expected.empty());
  return compared;
}

TEST_CASE("ids of tokenizers that Hugging Face trained are its ids on more than 5,000 texts",
          "[golden]") {
  for (const std::string name : {"uncased", "cased"}) {
    const auto tokenizer = ParseWordPieceJson(GoldenFiles().at(name + ".json"), name);
    INFO(tokenizer.status().message());
    REQUIRE(tokenizer.ok());
    REQUIRE(RequireGoldenIds(**tokenizer, name + ".ids") >= 5000);
  }
}

TEST_CASE("ids of all-MiniLM-L6-v2 are Hugging Face's", "[golden]") {
  const auto folder = doubles::SentenceModel();
  if (!folder.has_value()) {
    WARN("all-MiniLM-L6-v2 is not here; deploy/install.sh install_minilm fetches it");
    return;
  }
  const auto tokenizer = LoadWordPieceFolder(*folder);
  REQUIRE(tokenizer.ok());
  REQUIRE((*tokenizer)->size() == 30522);
  RequireGoldenIds(**tokenizer, "minilm.ids");
}

}  // namespace
}  // namespace shoal::tokens
