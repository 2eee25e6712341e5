// SPDX-License-Identifier: Apache-2.0
#include "encoder/token_choice.h"

#include <algorithm>
#include <charconv>

namespace shoal::encoder {
namespace {

std::vector<std::string_view> SplitAt(std::string_view text, char mark) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(mark);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

void ChooseRandomSpans(std::vector<std::uint8_t>& mask, runtime::Random& draws) {
  const auto wanted = static_cast<std::size_t>(kRandomShare * static_cast<double>(mask.size())) + 1;
  for (std::size_t covered = 0; covered < wanted;) {
    const auto begin = static_cast<std::size_t>(draws.Below(mask.size()));
    const auto length = static_cast<std::size_t>(1 + draws.Below(kLongestRandomSpan));
    const std::size_t end = std::min(mask.size(), begin + length);
    std::fill(mask.begin() + static_cast<std::ptrdiff_t>(begin),
              mask.begin() + static_cast<std::ptrdiff_t>(end), std::uint8_t{1});
    covered += end - begin;
  }
}

absl::StatusOr<Curriculum::Stage> ParseStage(std::string_view text) {
  Curriculum::Stage stage;
  const std::size_t colon = text.find(':');
  std::string_view names = text;
  if (colon != std::string_view::npos) {
    const char* const end = text.data() + colon;
    const auto read = std::from_chars(text.data(), end, stage.from);
    if (read.ec != std::errc() || read.ptr != end || !(stage.from >= 0 && stage.from <= 1)) {
      return runtime::InvalidArgument("curriculum: '" + std::string(text.substr(0, colon)) +
                                      "' is no part of a run from 0 to 1");
    }
    names = text.substr(colon + 1);
  }
  stage.name = names;
  SHOAL_ASSIGN_OR_RETURN(stage.choice, TokenChoice::Parse(names));
  return stage;
}

}  // namespace

absl::StatusOr<TokenChoice> TokenChoice::Parse(std::string_view text) {
  TokenChoice choice;
  for (const std::string_view name : SplitAt(text, '+')) {
    if (name == "all") {
      choice.all = true;
    } else if (name == "random") {
      choice.random = true;
    } else {
      SHOAL_ASSIGN_OR_RETURN(const dataset::SpanKind kind, dataset::ParseSpanKind(name));
      choice.kinds |= 1U << static_cast<unsigned>(kind);
    }
  }
  return choice;
}

std::vector<std::uint8_t> TokenChoice::Mask(const Chunk& chunk, runtime::Random& draws) const {
  std::vector<std::uint8_t> mask(chunk.tokens.size(), all ? 1 : 0);
  if (all || mask.empty()) return mask;
  for (const dataset::Span& span : chunk.spans) {
    if ((kinds >> static_cast<unsigned>(span.kind) & 1U) == 0) continue;
    for (std::size_t i = span.begin; i < std::min<std::size_t>(span.end, mask.size()); ++i) {
      mask[i] = 1;
    }
  }
  if (random) ChooseRandomSpans(mask, draws);
  return mask;
}

absl::StatusOr<Curriculum> Curriculum::Parse(std::string_view text) {
  Curriculum curriculum;
  for (const std::string_view part : SplitAt(text, ',')) {
    SHOAL_ASSIGN_OR_RETURN(Stage stage, ParseStage(part));
    const bool first = curriculum.stages_.empty();
    if (first ? stage.from != 0 : stage.from <= curriculum.stages_.back().from) {
      return runtime::InvalidArgument("curriculum: stage '" + std::string(part) +
                                      (first ? "' is the first and does not begin at 0"
                                             : "' does not begin after the one before it"));
    }
    curriculum.stages_.push_back(std::move(stage));
  }
  return curriculum;
}

const Curriculum::Stage& Curriculum::At(double done) const {
  const auto after = std::find_if(stages_.begin() + 1, stages_.end(),
                                  [&](const Stage& stage) { return stage.from > done; });
  return *(after - 1);
}

}  // namespace shoal::encoder
