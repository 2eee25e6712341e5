// SPDX-License-Identifier: Apache-2.0
// A small map on top of frozen vectors that brings a goal's sentence near to the requests that
// reach the goal.
//
// It has two affine maps, one for sentences and one for requests, both from the D numbers of a base
// encoder to K numbers. Sentences and requests are different kinds of text, so each has a map of
// its own (as the two encoders of Karpukhin et al., "Dense Passage Retrieval for Open-Domain
// Question Answering", EMNLP 2020). `encoder tune` trains them. An adapter belongs to one version
// of its base: on other vectors it means nothing.
//
// On disk an adapter is a folder with adapter.safetensors and, where the base has a lexical part,
// lexical.idf, the table of that part. The file holds the maps as float16 and in its metadata
// `base` (the knob's value), `base_version`, `size`, `base_share` and `captures`.
//
// Immutable; thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "platform/runtime/status.h"

namespace shoal::embedding {

inline constexpr const char* kAdapterFile = "adapter.safetensors";
inline constexpr const char* kAdapterTable = "lexical.idf";

// y = x weights + bias, for rows x of D numbers.
struct AffineMap {
  std::vector<float> weights;  // [D, K]
  std::vector<float> bias;     // [K]
};

struct AdapterParameters {
  // "lexical", "sentence" or "both:sentence": which encoder makes the vectors that are mapped.
  std::string base;
  std::string base_version;
  std::int64_t base_size = 0;  // D
  std::int64_t size = 0;       // K
  // The share of the base's vectors in the cosine of two texts (tuned_encoder.h), within 0 and 1.
  double base_share = 0;
  // The names of the captures that it was trained on.
  std::vector<std::string> captures;
  AffineMap sentences;
  AffineMap requests;
};

// Returns INVALID_ARGUMENT for an unknown base, sizes that are not within 1 and 65,536, a share
// outside 0 and 1, maps of other sizes than stated, and numbers that are not finite.
absl::Status Validate(const AdapterParameters& parameters);

// Writes kAdapterFile into `folder`, which is made where it is missing. A number is rounded to half
// precision. Returns the errors of Validate and of runtime::WriteFileAtomically.
absl::Status WriteAdapter(const std::string& folder, const AdapterParameters& parameters);
// Returns NOT_FOUND when the file is missing, else INVALID_ARGUMENT or DATA_LOSS naming it.
absl::StatusOr<AdapterParameters> ReadAdapter(const std::string& folder);

// Writes K numbers, scaled to length 1, to `out`. A row of zeros stays zeros. REQUIRES: `row` has D
// numbers, `out` K.
void Apply(const AffineMap& map, std::span<const float> row, std::span<float> out);

}  // namespace shoal::embedding
