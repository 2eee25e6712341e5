// SPDX-License-Identifier: Apache-2.0
// `encoder evaluate-bodies`: what an encoder's vectors tell of the bodies of responses, measured on
// captures that nothing was fitted to.
//
// - values: for each property that both kinds of captures have, its two most frequent values are
//   put into bodies in turn, and a linear function fitted to the training captures says which one a
//   body holds (linear_probe.h). The mean share over properties; 0.5 is chance. A policy's
//   projection of the body is such a function.
// - twins: a body in two states that differ in one property; a view of one state, without some
//   other properties, is nearer to that state than to the other. The share; 0.5 is chance.
// - same: the nearest of all bodies of the capture to a body with one property changed is that
//   body. The share.
// - first/s and changed/s: bodies encoded in a second, the first time, and again after one property
//   changed, with the caches of a process that has seen the capture.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "encoder/action.h"
#include "encoder/capture_bodies.h"
#include "platform/runtime/status.h"
#include "text/embedding/encoder_source.h"
#include "text/lexical/text_encoder.h"

namespace shoal::encoder {

struct BodyEvaluationOptions {
  // Values of the knob `body_encoder`; the other knobs are those of `source`.
  std::vector<std::string> encoders;
  embedding::EncoderSource source;
  // Captures that probes are fitted to, and captures that are measured on.
  std::vector<std::string> training;
  std::vector<std::string> captures;
  std::string data = "data";
  // Properties that are probed at most, and the examples of each, for fitting and for measuring.
  std::int64_t properties = 24;
  std::int64_t examples = 160;
  // Bodies drawn for the other measures.
  std::int64_t bodies = 200;
  std::uint64_t seed = 1;
};

// Means over all captures, as at the head of this file.
struct BodyScore {
  std::int64_t properties = 0;
  double values = 0;
  double twins = 0;
  double same = 0;
  double first_per_second = 0;
  double changed_per_second = 0;
};

// Returns the errors of the encoder, and INVALID_ARGUMENT when no property is in both kinds of
// captures.
absl::StatusOr<BodyScore> ScoreBodies(const BodyEvaluationOptions& options,
                                      const tokens::TextEncoder& encoder,
                                      const std::vector<CaptureBodies>& training,
                                      const std::vector<CaptureBodies>& captures);

// Prints a table with a row for each encoder, and a line for each that begins with "result".
absl::Status EvaluateBodies(const BodyEvaluationOptions& options, std::ostream& out);

void AddEvaluateBodiesCommand(CLI::App& app, Action& action);

}  // namespace shoal::encoder
