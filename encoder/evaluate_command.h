// SPDX-License-Identifier: Apache-2.0
// `encoder evaluate`: how well an encoder finds, for a goal's sentence, a request on the way to the
// goal among all requests of a service.
//
// For each capture and each goal that applies to it, episodes are drawn. A request of the catalog
// is relevant when the goal's expert sends it from the episode's start (expert_requests.h); an
// episode without one is not counted. Scores are means over a goal's episodes, then over the goals
// of a capture, then over captures.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "encoder/action.h"
#include "platform/runtime/status.h"
#include "text/embedding/encoder_source.h"

namespace shoal::encoder {

struct EvaluateOptions {
  embedding::EncoderSource source;
  // Names, archives or folders, as everywhere (redfish/capture/capture_path.h).
  std::vector<std::string> captures;
  // The folder with captures/ and goals/.
  std::string data = "data";
  std::string schema = "data/schema/redfish.schema.zst";
  // "train" or "evaluate": which phrasings are drawn.
  std::string split = "evaluate";
  // The episodes of each goal on each capture. At least 1.
  std::int64_t episodes = 20;
  std::uint64_t seed = 1;
  // Also print a row for each goal.
  bool by_goal = false;
};

// Prints a table with a row for each capture, and a last line that begins with "result".
absl::Status Evaluate(const EvaluateOptions& options, std::ostream& out);

void AddEvaluateCommand(CLI::App& app, Action& action);

}  // namespace shoal::encoder
