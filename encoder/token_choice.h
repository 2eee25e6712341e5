// SPDX-License-Identifier: Apache-2.0
// Chooses the tokens of a text that count as targets, or that may be attended to, and how that
// changes during a run.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "platform/runtime/random.h"
#include "platform/runtime/status.h"
#include "text/dataset/span.h"

namespace shoal::encoder {

// A text as a model takes it, borrowed.
struct Chunk {
  std::span<const std::int32_t> tokens;
  std::span<const dataset::Span> spans;
};

// Random spans cover at least this share of a text's tokens, and none is longer than this many.
inline constexpr double kRandomShare = 0.15;
inline constexpr std::uint64_t kLongestRandomSpan = 16;

// A set of tokens: the union of the parts that are named.
struct TokenChoice {
  bool all = false;
  // Random spans, sampled anew for each text and epoch.
  bool random = false;
  // Bit i chooses the spans of the kind with number i.
  std::uint32_t kinds = 0;

  // Parses names joined by '+': "all", "random", and those of dataset::ParseSpanKind, as in
  // "actions+target". Returns INVALID_ARGUMENT naming the one that is unknown.
  static absl::StatusOr<TokenChoice> Parse(std::string_view text);

  // Returns [tokens], 1 for each token that is chosen, else 0. The part of a span past the text's
  // end is ignored.
  std::vector<std::uint8_t> Mask(const Chunk& chunk, runtime::Random& draws) const;

  friend bool operator==(const TokenChoice&, const TokenChoice&) = default;
};

// A TokenChoice for each part of a run.
class Curriculum {
 public:
  struct Stage {
    // How much of the run is over when the stage begins, 0 to 1.
    double from = 0;
    // The stage's choice as it was written.
    std::string name;
    TokenChoice choice;
  };

  // Parses "all", or stages in order as in "0:all,0.5:actions+target,0.9:random", the first from 0.
  // Returns INVALID_ARGUMENT naming the stage that makes no sense.
  static absl::StatusOr<Curriculum> Parse(std::string_view text);

  // Returns the stage at `done`, which is how much of the run is over, from 0 on.
  const Stage& At(double done) const;
  const Stage& last() const { return stages_.back(); }

 private:
  std::vector<Stage> stages_;
};

}  // namespace shoal::encoder
