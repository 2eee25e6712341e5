// SPDX-License-Identifier: Apache-2.0
// Builds a dataset from captures.
//
// Equal captures, tokenizer, schema and options give equal files, byte for byte. The dataset is
// held in memory until it is written: four bytes for each token and twelve for each span.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "platform/content/canonical_json.h"
#include "platform/runtime/status.h"
#include "text/dataset/manifest.h"

namespace shoal::dataset {

struct BuildOptions {
  // Archives or folders of any layout (redfish/capture/capture_import.h); chunks follow their
  // order.
  std::vector<std::string> captures = {};
  // A tokenizer.json, or a folder with it (text/bpe/tokenizer_json.h).
  std::string tokenizer = {};
  // The schema that gives the methods of resources for which a capture records none.
  std::string schema = "data/schema/redfish.schema.zst";
  // The output folder. It is created when missing; a dataset in it is replaced, other files stay.
  std::string output = {};
  // These two are Chunker::Options.
  std::int32_t chunk_tokens = 1024;
  std::int32_t overlap = 128;
  // Whether each chunk begins with its resource's request line.
  bool prompt = true;
  // Whether only the first of several chunks with the same tokens is kept.
  bool distinct = true;
  // Whether schemas and registries become chunks, too.
  bool definitions = false;
  // 0 keeps the order; any other seed shuffles the chunks.
  std::uint64_t seed = 0;
  content::VolatileNames volatile_names = content::DefaultVolatileNames();
  // SPDX names by capture; the entry under "" is for captures without their own. They take
  // precedence over the first line of a capture's own file LICENSE.
  std::map<std::string, std::string> licences = {};
};

struct BuildProgress {
  // The capture that is being read, the number of its resources that are done, and their total.
  const std::string& capture;
  std::size_t done = 0;
  std::size_t resources = 0;
  // The chunks and tokens so far, of all captures.
  std::size_t chunks = 0;
  std::int64_t tokens = 0;
};

// It is called after each resource; it may be empty.
using BuildObserver = std::function<void(const BuildProgress&)>;

// Returns the manifest that was written. INVALID_ARGUMENT for: no captures, two captures of one
// name, a licence for an unknown capture, bad options (Chunker), captures without a chunk.
// Otherwise returns the errors of ImportCapture, LoadTokenizer, Schema::Load, Chunker::Cut (naming
// capture and URI) and WriteFileAtomically.
absl::StatusOr<Manifest> BuildDataset(const BuildOptions& options, const BuildObserver& observer);

}  // namespace shoal::dataset
