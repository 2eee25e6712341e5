// SPDX-License-Identifier: Apache-2.0
// Changes a text before it is split into words: replacements and lower case, in the given order, as
// the `normalizer` of a tokenizer.json says.
//
// Training offers SplitCamelCase and Lowercase, so that "AssetTag" and "asset tag" share their
// tokens; decoding does not undo them. Immutable; thread-safe, with one Scratch for each thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "platform/runtime/status.h"
#include "text/bpe/pattern.h"

namespace shoal::tokens {

// Matches where SplitCamelCase inserts a space: before a capital after a small letter or digit, and
// before the last of several capitals when a small letter follows ("HTTPPort" becomes "HTTP Port").
inline constexpr std::string_view kCamelCaseBoundary =
    "(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])";

class Normalizer {
 public:
  struct Step {
    // Every match is replaced by `content`. If null, every capital becomes its small letter
    // instead.
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

  // Replaces `normalized` by the normalised `text`. Returns the errors of Pattern::FindAll.
  absl::Status Apply(std::string_view text, Pattern::Scratch& patterns, Scratch& scratch,
                     std::string& normalized) const;

 private:
  std::vector<Step> steps_;
};

}  // namespace shoal::tokens
