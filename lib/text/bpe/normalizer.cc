// SPDX-License-Identifier: Apache-2.0
#include "text/bpe/normalizer.h"

#include "text/bpe/code_points.h"

namespace shoal::tokens {
namespace {

void AppendReplaced(std::string_view text, const std::vector<TextRange>& matches,
                    std::string_view content, std::string& result) {
  std::size_t done = 0;
  for (const TextRange& match : matches) {
    result.append(text.substr(done, match.begin - done)).append(content);
    done = match.end;
  }
  result.append(text.substr(done));
}

}  // namespace

Normalizer::Step Normalizer::SplitCamelCase() {
  return {Pattern::Compile(kCamelCaseBoundary).value(), " "};
}

absl::Status Normalizer::Apply(std::string_view text, Pattern::Scratch& patterns, Scratch& scratch,
                               std::string& normalized) const {
  normalized.assign(text);
  for (const Step& step : steps_) {
    scratch.before.swap(normalized);
    normalized.clear();
    if (step.pattern != nullptr) {
      SHOAL_RETURN_IF_ERROR(step.pattern->FindAll(scratch.before, patterns, scratch.matches));
      AppendReplaced(scratch.before, scratch.matches, step.content, normalized);
    } else {
      AppendLowered(scratch.before, normalized);
    }
  }
  return absl::OkStatus();
}

}  // namespace shoal::tokens
