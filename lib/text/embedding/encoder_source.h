// SPDX-License-Identifier: Apache-2.0
// Which encoder a run uses, and how much is kept of what it made: knobs of more than one process.
//
// Processes that share a run must agree on EncoderSource, or their embeddings have other versions;
// EmbeddingCacheOptions are each one's own.
#pragma once

#include <cstdint>
#include <string>

#include "platform/runtime/config.h"

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
  // Not a knob, run.deterministic sets it: the language model takes each sequence by itself, which
  // is slower, and with one thread of torch a text's bits depend on nothing else.
  bool batch_independent = false;

  // False for lexical vectors alone, which cost some microseconds a text.
  bool has_language_model() const { return encoder != "lexical"; }

  void Visit(runtime::Visitor& visitor);
};

struct EmbeddingCacheOptions {
  // Of segments' vectors in memory.
  std::int64_t encoder_chunk_cache_bytes = std::int64_t{256} << 20;
  // SQLite file (embedding_file.h), shared by processes of a machine; not on a network file system.
  // Empty or "none": no file.
  std::string encoder_cache = "";
  std::int64_t encoder_cache_bytes = std::int64_t{1} << 30;

  void Visit(runtime::Visitor& visitor);
  // With embeddings.sqlite in the run's folder where encoder_cache is empty.
  EmbeddingCacheOptions In(const std::string& run_folder) const;
};

}  // namespace shoal::embedding
