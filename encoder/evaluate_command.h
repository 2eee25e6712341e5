// SPDX-License-Identifier: Apache-2.0
// `encoder evaluate`: how well an encoder finds, for a goal's sentence, a request on the way to the
// goal among all requests of a service.
//
// For each capture and each goal that applies to it, episodes are drawn. A request of the catalog
// is relevant when it is on a shortest way from the episode's start to the goal (retrieval_task.h);
// an episode without one is not counted. Scores are means over a goal's episodes, then over the
// goals of a capture, then over captures. With --held-out, encoders are compared on captures from
// which an adapter has learned nothing (held_out_evaluation.h).
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "encoder/action.h"
#include "encoder/held_out_evaluation.h"
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
  // A file of people's own sentences (said_sentence.h), which take the place of the phrasings;
  // empty for none.
  std::string said;
  // A file of people's own sentences by goal (own_phrasings.h), which take the place of the
  // evaluation's phrasings; goals without any are left out. Empty for none.
  std::string phrasings;
  // Where its `held_out` is not empty, EvaluateHeldOut runs instead, with what the options above
  // share with it. `captures` are then those to learn from.
  HeldOutOptions held_out;
};

// Prints a table with a row for each capture, and a last line that begins with "result". Returns
// INVALID_ARGUMENT for no capture and for `phrasings` beside `said` or the split "train", and the
// errors of what it loads.
absl::Status Evaluate(const EvaluateOptions& options, std::ostream& out);

void AddEvaluateCommand(CLI::App& app, Action& action);

}  // namespace shoal::encoder
