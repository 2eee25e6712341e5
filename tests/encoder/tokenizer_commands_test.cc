// SPDX-License-Identifier: Apache-2.0
#include "encoder/tokenizer_commands.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include "tests/doubles/temporary_folder.h"
#include "tests/encoder/printed.h"

namespace shoal::encoder {
namespace {

constexpr char kTokenizedCapture[] = "data/captures/dmtf-catfish.tar.xz";

std::string BytesOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_CASE("a vocabulary trained twice on a capture is the same file, and encodes it",
          "[tokenizer]") {
  const doubles::TemporaryFolder folder;
  const std::string text = folder.Write("text", "größe \xFF {\"AssetTag\":\"asset tag\"}");
  std::string first;
  for (const char* name : {"a/tokenizer.json", "b/tokenizer.json"}) {
    std::ostringstream out;
    const TrainTokenizerOptions options{.captures = {kTokenizedCapture},
                                        .texts = {text},
                                        .output = folder.At(name),
                                        .vocabulary_size = 1000};
    REQUIRE(TrainTokenizer(options, out).ok());
    REQUIRE(Contains(out.str(), "dmtf-catfish.tar.xz: texts="));
    REQUIRE(Contains(out.str(), "tokens=900 of 1000"));
    REQUIRE(Contains(LastLine(out), "tokens=1000 added=1 fingerprint="));
    if (first.empty()) first = BytesOf(folder.At(name));
    REQUIRE_FALSE(first.empty());
    REQUIRE(BytesOf(folder.At(name)) == first);
  }
  std::ostringstream out;
  REQUIRE(EncodeText({.tokenizer = folder.At("a"), .file = text}, out).ok());
  REQUIRE(Contains(LastLine(out), "decoded=same"));
}

TEST_CASE("a vocabulary is extended by the names in a capture, the same each time", "[tokenizer]") {
  const doubles::TemporaryFolder folder;
  std::string first;
  for (const char* name : {"a.json", "b.json"}) {
    std::ostringstream out;
    const ExtendTokenizerOptions options{.captures = {kTokenizedCapture},
                                         .output = folder.At(name),
                                         .minimum_count = 3,
                                         .limit = 100};
    REQUIRE(ExtendTokenizer(options, out).ok());
    REQUIRE(Contains(out.str(), "structure="));
    REQUIRE(Contains(out.str(), "uri="));
    if (first.empty()) first = BytesOf(folder.At(name));
    REQUIRE(BytesOf(folder.At(name)) == first);
  }
  std::ostringstream shown;
  REQUIRE(ShowTokenizer({.tokenizer = folder.At("a.json"), .ids = {0, 50257}, .added = true}, shown)
              .ok());
  REQUIRE(Contains(shown.str(), "      0 \"!\"\n"));
  REQUIRE(Contains(shown.str(), "\"<|endoftext|>\""));
  REQUIRE(Contains(shown.str(), "\"#"));
  REQUIRE(Contains(LastLine(shown), "merges=50000"));
}

TEST_CASE("a text's tokens are printed", "[tokenizer]") {
  std::ostringstream out;
  REQUIRE(EncodeText({.text = "Hello, world!"}, out).ok());
  REQUIRE(Contains(out.str(), "  15496 \"Hello\"\n"));
  REQUIRE(Contains(out.str(), "    995 \"Ġworld\"\n"));
  REQUIRE(LastLine(out) == "bytes=13 ids=4 decoded=same");
}

TEST_CASE("a normaliser is named, and what it does is not undone", "[tokenizer]") {
  const doubles::TemporaryFolder folder;
  const std::string path = folder.At("t.json");
  std::ostringstream out;
  REQUIRE(TrainTokenizer({.texts = {folder.Write("x", "asset tag")},
                          .output = path,
                          .vocabulary_size = 300,
                          .split_camel_case = true,
                          .lower_case = true},
                         out)
              .ok());
  std::ostringstream shown;
  REQUIRE(ShowTokenizer({.tokenizer = path}, shown).ok());
  REQUIRE(Contains(shown.str(), "normalizer: lower case\n"));
  std::ostringstream encoded;
  REQUIRE(EncodeText({.tokenizer = path, .text = "AssetTag"}, encoded).ok());
  REQUIRE(Contains(LastLine(encoded), "decoded=other"));
}

TEST_CASE("what is missing or makes no sense is named by the tokenizer's commands", "[tokenizer]") {
  std::ostringstream out;
  REQUIRE(absl::IsInvalidArgument(TrainTokenizer({.output = "/tmp/x"}, out)));
  REQUIRE(absl::IsInvalidArgument(ExtendTokenizer({.output = "/tmp/x"}, out)));
  REQUIRE(absl::IsInvalidArgument(
      TrainTokenizer({.texts = {"README.md"}, .output = "/tmp/x", .vocabulary_size = 7}, out)));
  REQUIRE(absl::IsInvalidArgument(EncodeText({.text = "a", .file = "README.md"}, out)));
  const auto names = [](const absl::Status& status, const std::string& part) {
    return Contains(std::string(status.message()), part);
  };
  REQUIRE(
      names(TrainTokenizer({.captures = {"none.tar.xz"}, .output = "/tmp/x"}, out), "none.tar"));
  REQUIRE(names(TrainTokenizer({.texts = {"none.txt"}, .output = "/tmp/x"}, out), "none.txt"));
  REQUIRE(names(ShowTokenizer({.tokenizer = "none.json"}, out), "none.json"));
  REQUIRE(names(ShowTokenizer({.ids = {60000}}, out), "60000 is no token"));
  REQUIRE(names(EncodeText({.tokenizer = "README.md", .text = "a"}, out), "README.md: is no JSON"));
}

}  // namespace
}  // namespace shoal::encoder
