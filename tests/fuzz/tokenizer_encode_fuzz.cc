// SPDX-License-Identifier: Apache-2.0
// Fuzzes tokenizers with any bytes. Decoding must return the input, whatever words the encoder
// remembers, and every id must be a token.
//
// Input: one byte that chooses the tokenizer, then the text.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/bpe/pre_tokenizer.h"
#include "text/bpe/token_encoder.h"
#include "text/bpe/tokenizer_json.h"
#include "text/bpe/tokenizer_trainer.h"

namespace shoal::tokens {
namespace {

using TokenizerPointer = std::shared_ptr<const Tokenizer>;

void Require(bool condition) {
  if (!condition) std::abort();
}

// Returns the tokenizer with words split by PCRE2.
TokenizerPointer WithSplit(const Tokenizer& tokenizer) {
  Tokenizer::Parts parts;
  for (std::int32_t id = 0; id < tokenizer.vocabulary().size(); ++id) {
    parts.vocabulary.push_back(tokenizer.vocabulary().Text(id));
  }
  parts.merges = tokenizer.merges().rules();
  parts.added_tokens = tokenizer.added_tokens();
  parts.pre_tokenizer =
      PreTokenizer({.splits = {{Pattern::Compile(kGpt2Pattern).value()}}, .gpt2_words = false});
  return Tokenizer::Create(std::move(parts)).value();
}

std::deque<TokenEncoder> MakeEncoders() {
  // Reads files of the repository's root, where the fuzzer is started.
  const auto gpt2 = LoadTokenizer("data/gpt2").value();
  const auto extended = gpt2->Extend({{.content = "/redfish/v1"},
                                      {.content = "/redfish/v1/Systems", .single_word = true},
                                      {.content = "\":\""},
                                      {.content = "On", .single_word = true},
                                      {.content = "\xC3\xA9\xCC\x81"}});
  auto trainer = TokenizerTrainer::Create({.vocabulary_size = 400, .minimum_count = 1}).value();
  Require(trainer.AddText(R"({"@odata.id":"/redfish/v1/Systems","aaaa":"        "} größe)").ok());
  const auto trained = trainer.Train({}).value();
  std::deque<TokenEncoder> encoders;
  for (const TokenizerPointer& tokenizer : {gpt2, *extended, trained, WithSplit(*trained)}) {
    encoders.emplace_back(tokenizer, TokenEncoder::Options{.cached_words = 64});
  }
  return encoders;
}

void Run(std::string_view input) {
  static std::deque<TokenEncoder> encoders = MakeEncoders();
  if (input.empty()) return;
  TokenEncoder& encoder = encoders[static_cast<unsigned char>(input[0]) % encoders.size()];
  const std::string_view text = input.substr(1);
  std::vector<std::int32_t> ids;
  std::vector<std::int32_t> uncached;
  Require(encoder.Encode(text, ids).ok());
  Require(encoder.tokenizer().Encode(text, uncached).ok());
  Require(ids == uncached);
  Require(ids.size() <= text.size());
  const auto decoded = encoder.tokenizer().Decode(ids);
  Require(decoded.ok() && *decoded == text);
}

}  // namespace
}  // namespace shoal::tokens

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  shoal::tokens::Run({reinterpret_cast<const char*>(data), size});
  return 0;
}
