// SPDX-License-Identifier: Apache-2.0
#include "text/bpe/pre_tokenizer.h"

namespace shoal::tokens {
namespace {

void Keep(std::string_view part, std::vector<std::string_view>& parts) {
  if (!part.empty()) parts.push_back(part);
}

}  // namespace

absl::Status PreTokenizer::SplitParts(std::string_view text, Pattern::Scratch& patterns,
                                      Scratch& scratch) const {
  scratch.parts.assign(1, text);
  for (const Split& split : options_.splits) {
    scratch.before.swap(scratch.parts);
    scratch.parts.clear();
    for (const std::string_view part : scratch.before) {
      SHOAL_RETURN_IF_ERROR(split.pattern->FindAll(part, patterns, scratch.matches));
      std::size_t done = 0;
      for (const TextRange& match : scratch.matches) {
        if (split.keeps != Split::Keeps::kMatches) {
          Keep(part.substr(done, match.begin - done), scratch.parts);
        }
        if (split.keeps != Split::Keeps::kRest) {
          Keep(part.substr(match.begin, match.end - match.begin), scratch.parts);
        }
        done = match.end;
      }
      if (split.keeps != Split::Keeps::kMatches) Keep(part.substr(done), scratch.parts);
    }
  }
  return absl::OkStatus();
}

}  // namespace shoal::tokens
