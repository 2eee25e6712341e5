// SPDX-License-Identifier: Apache-2.0
// Which encoder a run uses, and how much is kept of what it made: knobs of more than one process.
//
// Processes that share a run must agree on EncoderSource, or their embeddings have other versions;
// EmbeddingCacheOptions are each one's own.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/config.h"

namespace shoal::embedding {

struct EncoderSource {
  // "lexical"; "gpt2:<preset or folder>"; "both:<preset or folder>", lexical first; "both":
  // with preset tiny.
  std::string encoder = "lexical";
  // Of the lexical part (tokens/lexical_encoder.h).
  std::string encoder_table = "data/encoder/lexical.idf";
  // Preset P's folder is <encoder_models>/P.
  std::string encoder_models = "data/encoder";
  // As language::Gpt2Options::device.
  std::string encoder_device = "cpu";

  void Visit(runtime::Visitor& visitor);
};

struct EmbeddingCacheOptions {
  // Of segments' vectors in memory.
  std::int64_t encoder_chunk_cache_bytes = std::int64_t{256} << 20;
  // SQLite file (embedding_file.h), shared by processes of a machine; empty: none.
  std::string encoder_cache = "";
  std::int64_t encoder_cache_bytes = std::int64_t{1} << 30;

  void Visit(runtime::Visitor& visitor);
};

}  // namespace shoal::embedding
