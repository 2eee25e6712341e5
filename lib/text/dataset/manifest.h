// SPDX-License-Identifier: Apache-2.0
// What a dataset holds and was made from: manifest.json of its folder.
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
  // 64 hexadecimal digits, of redfish::Capture::digest().
  std::string digest = {};
  // What it may be used under; empty when nobody said.
  std::string licence = {};
  // Those that became chunks, and those that were no part of the dataset by choice.
  std::int64_t resources = 0;
  std::int64_t left_out = 0;
  std::int64_t chunks = 0;
  // Chunks that the dataset had already, from here or elsewhere, and does not have twice.
  std::int64_t repeated = 0;
  // Tokens of its chunks.
  std::int64_t tokens = 0;
};

struct FileRecord {
  std::uint64_t bytes = 0;
  // 64 hexadecimal digits.
  std::string sha256 = {};
};

struct Manifest {
  // No chunk has more tokens.
  std::int32_t chunk_tokens = 0;
  // Tokens of a resource's body that a chunk shares with the one before it.
  std::int32_t overlap = 0;
  // Each chunk begins with its resource's request line.
  bool prompt = true;
  // No two chunks have the same tokens.
  bool distinct = true;
  // Schemas and registries are in it.
  bool definitions = false;
  // 0: chunks are in the order of captures and URIs; otherwise shuffled by it.
  std::uint64_t seed = 0;
  // content::kCanonicaliserVersion of the texts.
  std::string canonicaliser = {};
  // Members that were dropped from the texts; in order.
  std::vector<std::string> volatile_names = {};
  std::string tokenizer_fingerprint = {};
  std::int32_t vocabulary_size = 0;
  std::int64_t chunks = 0;
  std::int64_t tokens = 0;
  // By kind.
  std::array<std::int64_t, kSpanKinds> spans = {};
  // At least one; names are unique.
  std::vector<SourceCapture> captures = {};
  // kChunksFile and kTokenizerFile.
  std::map<std::string, FileRecord, std::less<>> files = {};

  // Distinct, in order; without the empty one.
  std::vector<std::string> Licences() const;

  std::string ToJson() const;
  // DATA_LOSS naming the byte that is no JSON, or the JSON Pointer of what is wrong.
  static absl::StatusOr<Manifest> Parse(std::string_view text);
};

}  // namespace shoal::dataset
