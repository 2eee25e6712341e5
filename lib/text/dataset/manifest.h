// SPDX-License-Identifier: Apache-2.0
// The manifest of a dataset, manifest.json in its folder: what the dataset holds and its sources.
//
//   {"format": "shoal-dataset/1", "chunk_tokens": 1024, "overlap": 128, "prompt": true,
//    "distinct": true, "definitions": false, "seed": 0, "canonicaliser": "rfc8785/1",
//    "volatile": ["@odata.etag"],
//    "tokenizer": {"fingerprint": "...", "vocabulary_size": 50257},
//    "chunks": 2, "tokens": 1500, "spans": {"response": 2, "actions": 1},
//    "captures": [{"name": "dell-r750", "digest": "...", "licence": "MIT", "resources": 1,
//                  "left_out": 0, "chunks": 2, "repeated": 0, "tokens": 1500}],
//    "files": {"chunks.bin": {"bytes": 6100, "sha256": "..."}, "tokenizer.json": {...}}}
//
// Plain values, not thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "platform/runtime/status.h"
#include "text/dataset/span.h"

namespace shoal::dataset {

inline constexpr std::string_view kManifestFile = "manifest.json";
inline constexpr std::string_view kChunksFile = "chunks.bin";
inline constexpr std::string_view kTokenizerFile = "tokenizer.json";

struct SourceCapture {
  std::string name = {};
  // 64 hexadecimal digits, from redfish::Capture::digest().
  std::string digest = {};
  // The licence of the capture; empty when unknown.
  std::string licence = {};
  // The numbers of resources that became chunks, and of those that were left out by choice.
  std::int64_t resources = 0;
  std::int64_t left_out = 0;
  std::int64_t chunks = 0;
  // The number of chunks that were dropped because the dataset already has them.
  std::int64_t repeated = 0;
  // The number of tokens of its chunks.
  std::int64_t tokens = 0;
};

struct FileRecord {
  std::uint64_t bytes = 0;
  // 64 hexadecimal digits.
  std::string sha256 = {};
};

struct Manifest {
  // The maximum number of tokens in a chunk.
  std::int32_t chunk_tokens = 0;
  // The number of body tokens that a chunk shares with the previous one.
  std::int32_t overlap = 0;
  // Whether each chunk begins with its resource's request line.
  bool prompt = true;
  // Whether no two chunks have the same tokens.
  bool distinct = true;
  // Whether it includes schemas and registries.
  bool definitions = false;
  // With 0, chunks are in the order of captures and URIs; any other seed has shuffled them.
  std::uint64_t seed = 0;
  // The content::kCanonicaliserVersion of the texts.
  std::string canonicaliser = {};
  // The members that were dropped from the texts; sorted.
  std::vector<std::string> volatile_names = {};
  std::string tokenizer_fingerprint = {};
  std::int32_t vocabulary_size = 0;
  std::int64_t chunks = 0;
  std::int64_t tokens = 0;
  // The number of spans of each kind.
  std::array<std::int64_t, kSpanKinds> spans = {};
  // At least one; names are unique.
  std::vector<SourceCapture> captures = {};
  // The records of kChunksFile and kTokenizerFile.
  std::map<std::string, FileRecord, std::less<>> files = {};

  // Returns the distinct licences in order, without the empty one.
  std::vector<std::string> Licences() const;

  std::string ToJson() const;
  // DATA_LOSS names the byte that is not JSON, or the JSON Pointer of what is wrong.
  static absl::StatusOr<Manifest> Parse(std::string_view text);
};

}  // namespace shoal::dataset
