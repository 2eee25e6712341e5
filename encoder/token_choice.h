// SPDX-License-Identifier: Apache-2.0
// Which tokens of a text count as targets, or may be attended to, and how that changes while a
// model learns.
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

// A text as a model takes it. Borrowed.
struct Chunk {
  std::span<const std::int32_t> tokens;
  std::span<const dataset::Span> spans;
};

// Random spans cover at least this share of a text's tokens, and none is longer than this.
inline constexpr double kRandomShare = 0.15;
inline constexpr std::uint64_t kLongestRandomSpan = 16;

// A union of what is named.
struct TokenChoice {
  bool all = false;
  // Spans drawn anew for each text and epoch.
  bool random = false;
  // Bit i: spans of the kind with the number i.
  std::uint32_t kinds = 0;

  // Names joined by '+': "all", "random", and those of dataset::ParseSpanKind, as "actions+target".
  // INVALID_ARGUMENT naming the one that is unknown.
  static absl::StatusOr<TokenChoice> Parse(std::string_view text);

  // [tokens]: 1 for what is chosen, else 0. What a span holds past the text's end is passed over.
  std::vector<std::uint8_t> Mask(const Chunk& chunk, runtime::Random& draws) const;

  friend bool operator==(const TokenChoice&, const TokenChoice&) = default;
};

// A TokenChoice for each part of a run.
class Curriculum {
 public:
  struct Stage {
    // The part of the run after which it begins, 0 to 1.
    double from = 0;
    // As it was written.
    std::string name;
    TokenChoice choice;
  };

  // "all", or stages in order, "0:all,0.5:actions+target,0.9:random", the first from 0.
  // INVALID_ARGUMENT naming the stage that makes no sense.
  static absl::StatusOr<Curriculum> Parse(std::string_view text);

  // `done`: how much of the run is over, from 0 on.
  const Stage& At(double done) const;
  const Stage& last() const { return stages_.back(); }

 private:
  std::vector<Stage> stages_;
};

}  // namespace shoal::encoder
