// SPDX-License-Identifier: Apache-2.0
// A text as weighted parts of weighted runs of words: what its structure says about it.
//
// - A candidate, a JSON object with the texts `method` and `uri`: parts method, type, action, body,
//   host (which member of a fleet), name and uri, by the weights of lexical_encoder.h.
// - Another JSON object, a resource's body: one part; each leaf is a run, its key's words and its
//   value's, weighted 1 / depth, so that the state of the resource outweighs what hangs below it.
//   Links, annotations and lists of allowed values are left out.
// - All else, also text that starts like JSON and is none: one part, one run.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace shoal::tokens {

struct Run {
  float weight = 1;
  std::vector<std::string> words;
};

struct Part {
  float weight = 1;
  std::vector<Run> runs;
};

// At most about `word_limit` words a part; nesting past 32 levels is left out.
std::vector<Part> SplitIntoParts(std::string_view text, std::size_t word_limit);

}  // namespace shoal::tokens
