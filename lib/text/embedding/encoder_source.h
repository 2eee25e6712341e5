// SPDX-License-Identifier: Apache-2.0
// The knobs that several processes share: which encoder a run uses, and how many of its vectors are
// cached.
//
// Processes that share a run must agree on EncoderSource, or their embeddings have different
// versions. Each process has its own EmbeddingCacheOptions.
#pragma once

#include <cstdint>
#include <string>

#include "platform/runtime/config.h"

namespace shoal::embedding {

struct EncoderSource {
  // "lexical"; "gpt2:<preset or folder>"; "sentence:<folder>", or "sentence" for the folder of
  // encoder_sentences; "state:<folder>", or "state" for <encoder_models>/state; "both:" with what
  // follows "gpt2:" or with one of the sentence and state encoders (the lexical vector first);
  // "both" (with GPT-2's preset tiny); "tuned:<folder>", an adapter by `encoder tune` on top of the
  // encoder that it names, or "tuned" for the one that ships in <encoder_models>/tuned.
  std::string encoder = "lexical";
  // The encoder of responses' bodies, with the same values; empty: `encoder`. policy.body_size
  // should be the length of its vectors.
  std::string body_encoder = "";
  // The table of the lexical part (lexical/lexical_encoder.h). A tuned encoder has its own.
  std::string encoder_table = "data/encoder/lexical.idf";
  // The folder of presets: preset P is in <encoder_models>/P.
  std::string encoder_models = "data/encoder";
  // The folder of the sentence encoder (`deploy/install.sh install_minilm`).
  std::string encoder_sentences = ".deps/minilm";
  // The device, as in rl/model/compute_device.h.
  std::string encoder_device = "cpu";
  // In which numbers the language model's matrices and attention compute: "float32" or "bfloat16".
  // Versions of encoders tell it, so a state encoder and an adapter go only with the precision that
  // they were trained on.
  std::string encoder_precision = "float32";
  // This is not a knob; run.deterministic sets it. The language model then takes each sequence by
  // itself, which is slower. With one thread of torch, a text's bits then depend on nothing else.
  bool batch_independent = false;

  // True where bodies have an encoder of their own.
  bool has_body_encoder() const { return !body_encoder.empty() && body_encoder != encoder; }
  // False for lexical vectors alone, which cost only microseconds for each text.
  bool has_language_model() const {
    return encoder != "lexical" || (has_body_encoder() && body_encoder != "lexical");
  }
  // True where a GPT-2's vectors are part of those of goals and candidates. They lie close
  // together, so they tell goals and candidates apart badly; those of a sentence encoder tell them
  // apart well.
  bool has_gpt2() const;

  // The folder of the adapter (adapter.h) of a tuned encoder; empty for another encoder.
  std::string adapter_folder() const;

  void Visit(runtime::Visitor& visitor);
};

struct EmbeddingCacheOptions {
  // The size of the cache of segment vectors.
  std::int64_t encoder_chunk_cache_bytes = std::int64_t{256} << 20;
  // The SQLite file (embedding_file.h), which processes of one machine share. It must not be on a
  // network file system. Empty or "none" means no file.
  std::string encoder_cache = "";
  std::int64_t encoder_cache_bytes = std::int64_t{1} << 30;

  void Visit(runtime::Visitor& visitor);
  // Returns a copy that uses embeddings.sqlite in the run's folder where encoder_cache is empty.
  EmbeddingCacheOptions In(const std::string& run_folder) const;
};

}  // namespace shoal::embedding
