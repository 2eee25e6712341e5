// SPDX-License-Identifier: Apache-2.0
// What is done to a text before it is split into words: replacements and small letters, in the
// order given, as the `normalizer` of a tokenizer.json says.
//
// SplitCamelCase and Lowercase are what training offers, so that "AssetTag" and "asset tag" share
// their tokens; what they do is not undone by decoding. Immutable; thread-safe, with one Scratch a
// thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "platform/runtime/status.h"
#include "text/bpe/pattern.h"

namespace shoal::tokens {

// A space before a capital after a small letter or digit, and before the last capital of several
// when a small letter follows: "HTTPPort" becomes "HTTP Port".
inline constexpr std::string_view kCamelCaseBoundary =
    "(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])";

class Normalizer {
 public:
  struct Step {
    // Every match becomes `content`. nullptr: every capital becomes its small letter.
    std::shared_ptr<const Pattern> pattern;
    std::string content;
  };

  struct Scratch {
    std::vector<TextRange> matches;
    std::string before;
  };

  Normalizer() = default;
  explicit Normalizer(std::vector<Step> steps) : steps_(std::move(steps)) {}

  static Step SplitCamelCase();
  static Step Lowercase() { return {}; }

  bool empty() const { return steps_.empty(); }
  const std::vector<Step>& steps() const { return steps_; }

  // Replaces `normalized` by what becomes of `text`. Errors: of Pattern::FindAll.
  absl::Status Apply(std::string_view text, Pattern::Scratch& patterns, Scratch& scratch,
                     std::string& normalized) const;

 private:
  std::vector<Step> steps_;
};

}  // namespace shoal::tokens
