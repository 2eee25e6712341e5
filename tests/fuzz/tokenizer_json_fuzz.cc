// SPDX-License-Identifier: Apache-2.0
// Fuzzes the reader of tokenizer.json. A document must be refused with the file's name, or be a
// tokenizer that encodes and that is unchanged when it is written and read again.
//
// Input: a document, or a JSON Merge Patch (RFC 7396), which is applied to a small complete
// document.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "platform/content/nesting.h"
#include "text/bpe/tokenizer_json.h"
#include "text/bpe/tokenizer_trainer.h"

namespace shoal::tokens {
namespace {

using nlohmann::json;

void Require(bool condition) {
  if (!condition) std::abort();
}

json SmallDocument() {
  auto trainer = TokenizerTrainer::Create({.vocabulary_size = 262, .minimum_count = 1}).value();
  Require(trainer.AddText("Systems Systems sys \"On\"").ok());
  return json::parse(TokenizerJson(*trainer.Train({}).value()));
}

void RunDocument(std::string_view document) {
  const auto tokenizer = ParseTokenizerJson(document, "file");
  if (!tokenizer.ok()) {
    Require(absl::IsInvalidArgument(tokenizer.status()));
    Require(std::string(tokenizer.status().message()).starts_with("file: "));
    return;
  }
  const std::string written = TokenizerJson(**tokenizer);
  const auto again = ParseTokenizerJson(written, "again");
  Require(again.ok() && TokenizerJson(**again) == written);
  for (const std::string_view text : {"Systems On <|endoftext|> x\xFF 12", "  \n\n\xC3\xA9'll"}) {
    std::vector<std::int32_t> ids;
    const absl::Status status = (*tokenizer)->Encode(text, ids);
    Require(status.ok() || absl::IsResourceExhausted(status));
    Require((*tokenizer)->Decode(ids).ok());
  }
}

void Run(std::string_view input) {
  static const json kDocument = SmallDocument();
  RunDocument(input);
  if (content::NestsDeeperThan(input, content::kMaximumNesting)) return;
  const json patch = json::parse(input, nullptr, /*allow_exceptions=*/false);
  if (!patch.is_object()) return;
  json document = kDocument;
  document.merge_patch(patch);
  RunDocument(document.dump());
}

}  // namespace
}  // namespace shoal::tokens

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  shoal::tokens::Run({reinterpret_cast<const char*>(data), size});
  return 0;
}
