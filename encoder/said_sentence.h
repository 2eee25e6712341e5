// SPDX-License-Identifier: Apache-2.0
// Sentences in people's own words, each with the capture it is about, the goal that it asks for and
// the goal's values.
//
// A file has one sentence a line, in four columns with tabs between them: the capture, the goal,
// the values as a JSON object, the sentence. Empty lines and lines that begin with "#" are
// comments. The goal "-" stands for a sentence that asks for no goal.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "platform/runtime/status.h"

namespace shoal::encoder {

struct SaidSentence {
  std::string capture;
  std::string goal;
  nlohmann::json values;
  std::string text;
};

// Returns the sentences that ask for a goal, in the file's order. Returns NOT_FOUND, or
// INVALID_ARGUMENT naming the file and the line that has no four columns or no object.
absl::StatusOr<std::vector<SaidSentence>> ReadSaidSentences(const std::string& path);

}  // namespace shoal::encoder
