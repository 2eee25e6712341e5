// SPDX-License-Identifier: Apache-2.0
// Makes an adapter from captures: draws sentences and requests, encodes them with the base, trains,
// and writes the adapter's folder.
//
// It learns from the phrasings of training alone, on the captures that are not held out, on
// variants of these (redfish/capture/variant.h) and on what DMTF's schema says about their
// requests. Nothing of a held-out capture is read: the table of the lexical part is fitted on the
// others, too.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "encoder/adapter_trainer.h"
#include "platform/runtime/status.h"
#include "redfish/goals/goal.h"
#include "redfish/schema/schema.h"
#include "text/embedding/encoder_source.h"

namespace shoal::encoder {

struct TuningOptions {
  // `encoder` is the base: "lexical", "sentence" or "both:sentence".
  embedding::EncoderSource source = {.encoder = "both:sentence"};
  embedding::EmbeddingCacheOptions cache;
  // Names, archives or folders (redfish/capture/capture_path.h); empty for all of <data>/captures.
  std::vector<std::string> captures;
  // Captures that are left out, with their variants.
  std::vector<std::string> hold_out;
  // The folder with captures/ and goals/.
  std::string data = "data";
  std::string schema = "data/schema/redfish.schema.zst";
  // DMTF's documents of JSON Schema; empty for none.
  std::string descriptions = "data/schema/json-schema.tar.xz";
  // The variants of each capture, beside itself. A capture that is a variant has none.
  std::int64_t variants = 2;
  // The sentences of each goal on each capture; half as many on a variant.
  std::int64_t episodes = 30;
  // The share of the base's vectors in the cosines of the tuned encoder.
  double base_share = 0.15;
  AdapterTrainerOptions trainer;
  // The folder to write.
  std::string output;

  // Returns INVALID_ARGUMENT naming the option that is out of range.
  absl::Status Validate() const;
};

// Returns the captures to learn from. Returns INVALID_ARGUMENT when a held-out capture is none of
// them, or when nothing is left.
absl::StatusOr<std::vector<std::string>> CapturesToTuneOn(const TuningOptions& options);

// Prints what it does, line by line. The folder gets the files of text/embedding/adapter.h; files
// of these names are replaced. Returns INVALID_ARGUMENT for bad options, the errors of what it
// reads, encodes and writes, and those of TrainAdapter.
absl::Status Tune(const TuningOptions& options, std::ostream& out);

}  // namespace shoal::encoder
