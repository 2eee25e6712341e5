// SPDX-License-Identifier: Apache-2.0
// Makes a dataset of captures.
//
// Equal captures, tokenizer, schema and options give equal files, byte for byte. What is built is
// held in memory until it is written: four bytes a token and twelve a span.
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
  // Archives or folders, of any layout (redfish/capture_import.h); chunks are in their order.
  std::vector<std::string> captures = {};
  // tokenizer.json, or a folder with it (text/bpe/tokenizer_json.h).
  std::string tokenizer = {};
  // The methods of resources of which a capture says none.
  std::string schema = "data/schema/redfish.schema.zst";
  // A folder, made when it is missing; a dataset in it is replaced, anything else there stays.
  std::string output = {};
  // Chunker::Options.
  std::int32_t chunk_tokens = 1024;
  std::int32_t overlap = 128;
  // Each chunk begins with its resource's request line.
  bool prompt = true;
  // Only the first of several chunks with the same tokens is kept.
  bool distinct = true;
  // Schemas and registries become chunks too.
  bool definitions = false;
  // 0: in order; otherwise chunks are shuffled by it.
  std::uint64_t seed = 0;
  content::VolatileNames volatile_names = content::DefaultVolatileNames();
  // SPDX names by capture; the one under "" is of captures that are not named. They go before what
  // a capture's own file LICENSE says in its first line.
  std::map<std::string, std::string> licences = {};
};

struct BuildProgress {
  // The one that is being read, how many of its resources are done, and of how many.
  const std::string& capture;
  std::size_t done = 0;
  std::size_t resources = 0;
  // So far, of all captures.
  std::size_t chunks = 0;
  std::int64_t tokens = 0;
};

// Told after each resource; may be empty.
using BuildObserver = std::function<void(const BuildProgress&)>;

// Returns the manifest that was written. INVALID_ARGUMENT: no captures, two of one name, a licence
// of a capture that is none of them, options (Chunker), captures without a chunk. Otherwise of
// ImportCapture, LoadTokenizer, Schema::Load, Chunker::Cut (naming capture and URI) and
// WriteFileAtomically.
absl::StatusOr<Manifest> BuildDataset(const BuildOptions& options, const BuildObserver& observer);

}  // namespace shoal::dataset
