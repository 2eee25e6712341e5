// SPDX-License-Identifier: Apache-2.0
// Splits a text by its structure into weighted parts of weighted runs of words.
//
// - A candidate, which is a JSON object with the texts `method` and `uri`, has the parts method,
//   type, action, body, host (a member of a fleet), name and uri, weighted as in lexical_encoder.h.
// - A choice, which is a JSON object with nothing but the text `choice`, is one part with one run,
//   in which function words count: what a value means is often told by the "from" or "to" before
//   it.
// - A goal (text_object.h) has two parts: its sentence, and for each value in it the nearest words
//   before and after it, each of them one word with the place of the value: "second after
//   operator". The words of a sentence alone do not tell which of two names goes with which.
// - Another JSON object, such as a resource's body, is one part. Each leaf is a run of the words of
//   its key and its value, weighted 1 / depth, so that the state of the resource outweighs nested
//   details. Members with "@" in their names, such as links and annotations, are left out.
// - Anything else, including malformed JSON, is one part with one run.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace shoal::tokens {

struct Run {
  float weight = 1;
  std::vector<std::string> words;
  // Whether function words are features too.
  bool counts_function_words = false;
  // Whether pairs of its words and the letters in them are features too.
  bool counts_pairs_and_grams = true;
};

struct Part {
  float weight = 1;
  std::vector<Run> runs;
};

// Returns at most about `word_limit` words for each part. JSON nested deeper than 32 levels is left
// out.
std::vector<Part> SplitIntoParts(std::string_view text, std::size_t word_limit);

}  // namespace shoal::tokens
