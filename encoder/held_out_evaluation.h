// SPDX-License-Identifier: Apache-2.0
// `encoder evaluate --held-out`: how well encoders find requests on captures from which nothing was
// learned.
//
// For each held-out capture and each seed an adapter is tuned on the other captures (tuning.h).
// Then encoders are measured on the held-out one, with the phrasings of the evaluation: the lexical
// one, those that the base consists of, the base without adapter, and the tuned one, all with a
// table of the lexical part that was fitted without the capture. Neither the capture's texts nor
// these phrasings take part in the tuning.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "encoder/tuning.h"
#include "platform/runtime/status.h"

namespace shoal::encoder {

struct HeldOutOptions {
  // Its `hold_out` are further captures to leave out each time, such as others of the same vendor;
  // its `output` and `trainer.seed` are not used.
  TuningOptions tuning;
  std::vector<std::string> held_out;
  // Adapters are trained with the seeds 1 to `seeds`. At least 1.
  std::int64_t seeds = 3;
  // The folder of the adapters, one for each capture and seed.
  std::string work = "runs/held-out";
  // A file of people's own sentences (said_sentence.h), which are measured beside; empty for none.
  std::string said;
  // A file of people's own sentences by goal (own_phrasings.h), which are measured beside; empty
  // for none.
  std::string phrasings;
  // Of the evaluation's episodes.
  std::int64_t episodes = 20;
  std::uint64_t seed = 1;
  // Also print a row for each goal.
  bool by_goal = false;
};

// Prints a table with a row for each capture and encoder, where a tuned encoder's figures are means
// over the seeds and the last column is the standard deviation of MRR over them, and a last line
// that begins with "result" and has the means over the captures as <sentences>_<encoder>_<score>,
// where the sentences are evaluation, own_words (of `phrasings`) or said, the encoder is lexical,
// sentence, both (for both:sentence) or tuned, and the score is top1, top5 or mrr. Returns
// INVALID_ARGUMENT for options out of range, and the errors of Tune.
absl::Status EvaluateHeldOut(const HeldOutOptions& options, std::ostream& out);

}  // namespace shoal::encoder
