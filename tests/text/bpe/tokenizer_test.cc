// SPDX-License-Identifier: Apache-2.0
#include "text/bpe/tokenizer.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "platform/runtime/random.h"
#include "platform/runtime/thread.h"
#include "tests/doubles/temporary_folder.h"
#include "tests/text/bpe/tokenizers.h"
#include "text/bpe/token_encoder.h"
#include "text/bpe/tokenizer_json.h"

namespace shoal::tokens {
namespace {

using Texts = std::vector<std::string>;

TEST_CASE("GPT-2's ids of a greeting", "[tokenizer]") {
  REQUIRE(Gpt2()->size() == 50257);
  REQUIRE(IdsOf(*Gpt2(), "Hello, world!") == Ids{15496, 11, 995, 0});
  REQUIRE(IdsOf(*Gpt2(), "").empty());
  REQUIRE(TokensOf(*Gpt2(), "a<|endoftext|> b") == Texts{"a", "<|endoftext|>", "Ġb"});
  REQUIRE(Gpt2()->IdOf(kEndOfText) == 50256);
  REQUIRE(Gpt2()->TokenBytes(995) == " world");
  REQUIRE(Gpt2()->TokenText(995) == "Ġworld");
  REQUIRE(Gpt2()->TokenText(50257).empty());
  REQUIRE_FALSE(Gpt2()->IdOf("no such token").has_value());
}

TEST_CASE("any bytes come back as they were", "[tokenizer]") {
  runtime::Random random(5);
  TokenEncoder encoder(Gpt2(), {.cached_words = 16});
  for (int round = 0; round < 3000; ++round) {
    std::string text;
    const std::uint64_t size = random.Below(60);
    const bool few = random.Below(2) == 0;
    while (text.size() < size) {
      text.push_back(few ? "aA1 '\n{\"\xC3\xA9"[random.Below(10)]
                         : static_cast<char>(random.Below(256)));
    }
    Ids ids;
    REQUIRE(encoder.Encode(text, ids).ok());
    REQUIRE(ids == IdsOf(*Gpt2(), text));
    REQUIRE(Gpt2()->Decode(ids).value() == text);
  }
}

TEST_CASE("ids are appended", "[tokenizer]") {
  Ids ids = {7};
  REQUIRE(Gpt2()->Encode("Hello", ids).ok());
  REQUIRE(ids == Ids{7, 15496});
}

TEST_CASE("an id that is no token is named", "[tokenizer]") {
  for (const std::int32_t id : {-1, 50257, 2'000'000'000}) {
    const Ids ids = {1, id};
    const auto text = Gpt2()->Decode(ids);
    REQUIRE(absl::IsInvalidArgument(text.status()));
    REQUIRE(std::string(text.status().message()).find(std::to_string(id) + " at 1") !=
            std::string::npos);
  }
}

TEST_CASE("the pair of files and what is saved of them are one tokenizer", "[tokenizer]") {
  const doubles::TemporaryFolder folder;
  const std::string path = folder.At("tokenizer.json");
  REQUIRE(SaveTokenizer(*Gpt2(), path).ok());
  const auto file = LoadTokenizer(path);
  REQUIRE(file.ok());
  REQUIRE((*file)->fingerprint() == Gpt2()->fingerprint());
  REQUIRE(TokenizerJson(**file) == TokenizerJson(*Gpt2()));
  const auto in_folder = LoadTokenizer(folder.path());
  REQUIRE(in_folder.ok());
  REQUIRE((*in_folder)->fingerprint() == Gpt2()->fingerprint());
  const auto pair = LoadTokenizer("data/gpt2");
  REQUIRE(pair.ok());
  REQUIRE((*pair)->fingerprint() == Gpt2()->fingerprint());
}

TEST_CASE("more tokens get the next ids, and the rest stays", "[tokenizer]") {
  const auto extended = Gpt2()->Extend({{.content = "/redfish/v1/Systems", .single_word = true},
                                        {.content = "the"},
                                        {.content = "\"x\":\""},
                                        {.content = "/redfish/v1/Systems"}});
  REQUIRE(extended.ok());
  const Tokenizer& tokenizer = **extended;
  REQUIRE(tokenizer.size() == 50259);
  REQUIRE(tokenizer.fingerprint() != Gpt2()->fingerprint());
  const std::string text = R"({"@odata.id":"/redfish/v1/Systems","x":"/redfish/v1/Systems2"} the)";
  const Ids ids = IdsOf(tokenizer, text);
  REQUIRE(std::count(ids.begin(), ids.end(), 50257) == 1);
  REQUIRE(std::count(ids.begin(), ids.end(), 50258) == 1);
  REQUIRE(tokenizer.Decode(ids).value() == text);
  REQUIRE(IdsOf(tokenizer, "Hello, world!") == Ids{15496, 11, 995, 0});
  const auto again = tokenizer.Extend({{.content = "\"x\":\""}, {.content = "#x"}});
  REQUIRE(again.ok());
  REQUIRE((*again)->size() == 50260);
  REQUIRE((*again)->TokenText(50259) == "#x");
}

TEST_CASE("threads share a tokenizer", "[tokenizer]") {
  const Texts texts = {"Hello, world!", R"({"AssetTag":null,"PowerState":"On"})", "größe 中文 😀"};
  std::vector<Ids> expected;
  for (const std::string& text : texts) expected.push_back(IdsOf(*Gpt2(), text));
  std::vector<int> wrong(4);
  {
    std::vector<runtime::Thread> threads;
    for (std::size_t i = 0; i < wrong.size(); ++i) {
      threads.emplace_back("encode", [&texts, &expected, &wrong, i] {
        TokenEncoder encoder(Gpt2());
        for (std::size_t round = 0; round < 200; ++round) {
          const std::size_t which = (round + i) % texts.size();
          Ids ids;
          Ids uncached;
          const bool same = encoder.Encode(texts[which], ids).ok() &&
                            Gpt2()->Encode(texts[which], uncached).ok() && ids == expected[which] &&
                            uncached == ids;
          if (!same) ++wrong[i];
        }
      });
    }
  }
  REQUIRE(wrong == std::vector<int>(4));
}

TEST_CASE("a megabyte of one letter, of spaces, of digits", "[tokenizer]") {
  TokenEncoder encoder(Gpt2());
  for (const char c : {'a', ' ', '0', '\xC3', '"'}) {
    const std::string text(std::size_t{1} << 20, c);
    Ids ids;
    REQUIRE(encoder.Encode(text, ids).ok());
    REQUIRE(Gpt2()->Decode(ids).value() == text);
  }
}

TEST_CASE("what is wrong with the pair of files is named with its place", "[tokenizer]") {
  const doubles::TemporaryFolder folder;
  const std::string merges = folder.Write("vocab.bpe", "#version: 0.2\na b\n");
  const auto error = [&](const std::string& vocabulary, const std::string& merges_path) {
    const std::string path = folder.Write("encoder.json", vocabulary);
    return std::string(LoadGpt2Files(path, merges_path).status().message());
  };
  const auto has = [](const std::string& text, const std::string& part) {
    INFO(text);
    return text.find(part) != std::string::npos;
  };
  REQUIRE(has(error("{\"a\":", merges), "encoder.json: is no JSON at byte"));
  REQUIRE(has(error("{\"a\":-1}", merges), "encoder.json: /a is no id"));
  REQUIRE(has(error("{\"a\":0,\"b\":0}", merges), "/b has the id of \"a\""));
  REQUIRE(has(error("{\"a\":70000}", merges), "/a is 70000, too far past"));
  REQUIRE(has(error("{\"a\":0,\"b\":1}", merges), "vocab.bpe: line 2 needs \"ab\""));
  REQUIRE(has(error("{\"a\":0}", folder.Write("bad.bpe", "a\n")), "bad.bpe: line 1 is not two"));
  REQUIRE(has(error("{\"a\":0}", folder.Write("none.bpe", "")), "byte 0, written \"Ā\", is no"));
  REQUIRE(has(error("{\"a\":0}", folder.At("missing.bpe")), "missing.bpe"));
  REQUIRE(absl::IsNotFound(LoadTokenizer(folder.At("missing")).status()));
}

}  // namespace
}  // namespace shoal::tokens
