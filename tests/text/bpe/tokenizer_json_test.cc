// SPDX-License-Identifier: Apache-2.0
#include "text/bpe/tokenizer_json.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/text/bpe/tokenizers.h"

namespace shoal::tokens {
namespace {

using nlohmann::json;
using Texts = std::vector<std::string>;

// A tokenizer of the bytes, "ab" and "abc".
json SmallDocument() {
  static const json kDocument = [] {
    const auto tokenizer = TrainedOn({"abc,abc,abc,ab"}, {.vocabulary_size = 259});
    return json::parse(TokenizerJson(*tokenizer));
  }();
  return kDocument;
}

std::string ErrorOf(const json& document) {
  const auto parsed = ParseTokenizerJson(document.dump(), "some.json");
  REQUIRE(absl::IsInvalidArgument(parsed.status()));
  return std::string(parsed.status().message());
}

TokenizerPointer Parsed(const json& document) {
  const auto parsed = ParseTokenizerJson(document.dump(), "some.json");
  INFO(parsed.status().message());
  REQUIRE(parsed.ok());
  return *parsed;
}

TEST_CASE("merges are read as strings and as pairs", "[tokenizer_json]") {
  json document = SmallDocument();
  const auto pairs = Parsed(document);
  for (json& merge : document["model"]["merges"]) {
    merge = merge[0].get<std::string>() + " " + merge[1].get<std::string>();
  }
  document["model"]["merges"].insert(document["model"]["merges"].begin(), "#version: 0.2");
  REQUIRE(Parsed(document)->fingerprint() == pairs->fingerprint());
}

TEST_CASE("members that may be missing are", "[tokenizer_json]") {
  json document = SmallDocument();
  const std::string fingerprint = Parsed(document)->fingerprint();
  for (const char* name : {"version", "truncation", "padding", "post_processor", "normalizer"}) {
    document.erase(name);
  }
  for (const char* name : {"type", "dropout", "byte_fallback", "ignore_merges", "unk_token"}) {
    document["model"].erase(name);
  }
  REQUIRE(Parsed(document)->fingerprint() == fingerprint);
  document["post_processor"] = {{"type", "Sequence"},
                                {"processors", {{{"type", "ByteLevel"}, {"trim_offsets", false}}}}};
  REQUIRE(Parsed(document)->fingerprint() == fingerprint);
}

TEST_CASE("a word that is a token is that token when merges are ignored", "[tokenizer_json]") {
  json document = SmallDocument();
  document["model"]["vocab"]["cab"] = 259;
  REQUIRE(TokensOf(*Parsed(document), "cab") == Texts{"c", "ab"});
  document["model"]["ignore_merges"] = true;
  REQUIRE(TokensOf(*Parsed(document), "cab abc") == Texts{"cab", "Ġ", "abc"});
}

TEST_CASE("a prefix space and words by other expressions", "[tokenizer_json]") {
  json document = SmallDocument();
  document["pre_tokenizer"]["add_prefix_space"] = true;
  REQUIRE(TokensOf(*Parsed(document), "ab") == Texts{"Ġ", "ab"});
  REQUIRE(TokensOf(*Parsed(document), " ab") == Texts{"Ġ", "ab"});
  document["pre_tokenizer"] = json::parse(R"({"type":"Sequence","pretokenizers":[
      {"type":"Split","pattern":{"Regex":"b"},"behavior":"Removed","invert":false},
      {"type":"ByteLevel","add_prefix_space":false,"use_regex":false}]})");
  REQUIRE(TokensOf(*Parsed(document), "abcab") == Texts{"a", "c", "a"});
  document["pre_tokenizer"]["pretokenizers"][0]["invert"] = true;
  REQUIRE(TokensOf(*Parsed(document), "abcab") == Texts{"b", "b"});
  document["pre_tokenizer"]["pretokenizers"][0]["behavior"] = "Isolated";
  REQUIRE(TokensOf(*Parsed(document), "abcab") == Texts{"a", "b", "c", "a", "b"});
}

TEST_CASE("what is written is read as the same tokenizer", "[tokenizer_json]") {
  json document = SmallDocument();
  document["normalizer"] = json::parse(R"({"type":"Sequence","normalizers":[
      {"type":"Replace","pattern":{"String":"\""},"content":"\u0001"},
      {"type":"Replace","pattern":{"Regex":"\\s{2,}"},"content":""},{"type":"Lowercase"}]})");
  document["added_tokens"].push_back({{"id", 259}, {"content", "Oem\n"}, {"rstrip", true}});
  const auto tokenizer = Parsed(document);
  const std::string written = TokenizerJson(*tokenizer);
  const auto again = ParseTokenizerJson(written, "again");
  REQUIRE(again.ok());
  REQUIRE(TokenizerJson(**again) == written);
  REQUIRE((*again)->added_tokens() == tokenizer->added_tokens());
  REQUIRE(TokensOf(**again, "A\"  B") == Texts{"a", "ā", "b"});
}

// Applies a JSON Patch to the small document. The error must contain `expected`.
void RequireError(const std::string& patch, const std::string& expected) {
  const std::string error = ErrorOf(SmallDocument().patch(json::parse(patch)));
  INFO(patch << " gave " << error);
  REQUIRE(error.starts_with("some.json: "));
  REQUIRE(error.find(expected) != std::string::npos);
}

TEST_CASE("what is not supported is named by its JSON Pointer", "[tokenizer_json]") {
  const std::string replace = R"([{"op":"replace","path":)";
  RequireError(replace + R"("/model/type","value":"Unigram"}])", "/model/type is \"Unigram\"");
  RequireError(replace + R"("/model/byte_fallback","value":true}])",
               "/model/byte_fallback is true");
  RequireError(replace + R"("/model/dropout","value":0.1}])", "/model/dropout is");
  RequireError(replace + R"("/model/end_of_word_suffix","value":"</w>"}])",
               "/model/end_of_word_suffix is not supported");
  RequireError(replace + R"("/truncation","value":{}}])", "/truncation is not null");
  RequireError(replace + R"("/padding","value":{}}])", "/padding is not null");
  RequireError(replace + R"("/version","value":"2.0"}])", "/version is \"2.0\"");
  RequireError(replace + R"("/normalizer","value":{"type":"NFC"}}])", "/normalizer is of type NFC");
  RequireError(
      replace +
          R"("/normalizer","value":{"type":"Sequence","normalizers":[{"type":"Lowercase"},{"type":"NFC"}]}}])",
      "/normalizer/normalizers/1 is of type NFC");
  RequireError(
      replace +
          R"("/normalizer","value":{"type":"Replace","pattern":{"Regex":"\\w"},"content":""}}])",
      "/normalizer/pattern/Regex cannot be used");
  RequireError(replace + R"("/pre_tokenizer","value":null}])", "/pre_tokenizer is no object");
  RequireError(replace + R"("/pre_tokenizer","value":{"type":"Whitespace"}}])",
               "/pre_tokenizer is of type Whitespace");
  RequireError(replace + R"("/pre_tokenizer","value":{"type":"Sequence","pretokenizers":[]}}])",
               "/pre_tokenizer has no ByteLevel");
  RequireError(replace + R"("/post_processor","value":{"type":"TemplateProcessing"}}])",
               "/post_processor is of type TemplateProcessing");
  RequireError(replace + R"("/decoder","value":{"type":"WordPiece"}}])", "/decoder is of type");
  RequireError(R"([{"op":"add","path":"/extra","value":1}])", "/extra is no member");
}

TEST_CASE("what contradicts itself is named", "[tokenizer_json]") {
  const std::string replace = R"([{"op":"replace","path":)";
  RequireError(replace + R"("/model/merges/0","value":["a","zz"]}])",
               "/model/merges/0 needs \"zz\"");
  RequireError(replace + R"("/model/merges/1","value":"a b c"}])", "/model/merges/1 is not two");
  RequireError(replace + R"("/model/merges/1","value":7}])", "/model/merges/1 is neither");
  RequireError(replace + R"("/model/vocab/abc","value":0}])", "/model/vocab/abc has the id of");
  RequireError(replace + R"("/model/vocab/abc","value":1.5}])", "/model/vocab/abc is no whole");
  RequireError(replace + R"("/model/vocab/abc","value":4000000000}])", "/model/vocab/abc is no id");
  RequireError(
      R"([{"op":"remove","path":"/model/vocab/q"},{"op":"replace","path":"/model/merges","value":[]}])",
      "byte 113, written \"q\", is no token");
  RequireError(replace + R"("/added_tokens/0/id","value":300}])", "has id 300, but");
  RequireError(R"([{"op":"copy","from":"/added_tokens/0","path":"/added_tokens/1"}])",
               "stands twice");
  RequireError(replace + R"("/added_tokens/0/special","value":1}])",
               "/added_tokens/0/special is neither");
  RequireError(replace + R"("/model","value":[]}])", "/model is no object");
}

TEST_CASE("what is no JSON is named with its byte", "[tokenizer_json]") {
  const auto error = [](const std::string& text) {
    return std::string(ParseTokenizerJson(text, "x.json").status().message());
  };
  REQUIRE(error("{\"model\":}").find("x.json: is no JSON at byte 10") != std::string::npos);
  REQUIRE(error("").find("is no JSON at byte 1") != std::string::npos);
  REQUIRE(error("[]").find("the document is no object") != std::string::npos);
  REQUIRE(error(std::string(100'000, '[')).find("nests deeper") != std::string::npos);
  REQUIRE(error("{\"model\":\"\xFF\"}").find("is no JSON at byte") != std::string::npos);
}

}  // namespace
}  // namespace shoal::tokens
