// SPDX-License-Identifier: Apache-2.0
#include "text/embedding/encoder_source.h"

#include <string_view>

namespace shoal::embedding {

bool EncoderSource::has_gpt2() const {
  constexpr std::string_view kBoth = "both:";
  const std::string_view model =
      std::string_view(encoder).substr(encoder.starts_with(kBoth) ? kBoth.size() : 0);
  if (!adapter_folder().empty()) return false;
  return encoder != "lexical" && model != "sentence" && !model.starts_with("sentence:");
}

std::string EncoderSource::adapter_folder() const {
  constexpr std::string_view kTuned = "tuned";
  if (encoder == kTuned) return encoder_models + "/tuned";
  if (!encoder.starts_with(kTuned) || encoder[kTuned.size()] != ':') return "";
  return encoder.substr(kTuned.size() + 1);
}

void EncoderSource::Visit(runtime::Visitor& visitor) {
  visitor.Knob(
      "encoder", encoder,
      {.help = "what makes vectors of texts: lexical; gpt2:<preset or folder>; sentence or "
               "sentence:<folder>; state or state:<folder>; both, both:<preset or folder>, "
               "both:sentence, both:state or one of these with a :<folder>, lexical and another "
               "side by side; tuned or tuned:<folder>, an adapter by `encoder tune` beside what it "
               "was trained on"});
  visitor.Knob("body_encoder", body_encoder,
               {.help = "what makes vectors of the bodies of responses, with the same values; "
                        "empty: encoder. policy.body_size says how long they are"});
  visitor.Knob(
      "encoder_table", encoder_table,
      {.help = "the lexical encoder's table, by `encoder lexical fit`; tuned has its own"});
  visitor.Knob("encoder_models", encoder_models,
               {.help = "folder with a preset's config.json, model.safetensors and tokenizer in "
                        "<preset>/"});
  visitor.Knob("encoder_sentences", encoder_sentences,
               {.help = "folder of the sentence encoder: config.json, model.safetensors and "
                        "tokenizer.json or vocab.txt"});
  visitor.Knob(
      "encoder_device", encoder_device,
      {.help = "where the language model computes: auto, cpu, cuda or cuda:<n>; auto and cuda "
               "give each process its share of the machine's GPUs"});
  visitor.Knob("encoder_precision", encoder_precision,
               {.help = "numbers in which the language model computes; bfloat16 takes less time "
                        "where the device multiplies them faster, and makes vectors of another "
                        "version, which a state encoder or an adapter has to be trained on",
                .choices = {"float32", "bfloat16"}});
}

void EmbeddingCacheOptions::Visit(runtime::Visitor& visitor) {
  visitor.Knob("encoder_chunk_cache_bytes", encoder_chunk_cache_bytes,
               {.help = "vectors of parts of texts that the language model made, in memory",
                .unit = "bytes",
                .min = 0,
                .max = 1e12});
  visitor.Knob("encoder_cache", encoder_cache,
               {.help = "SQLite file that keeps them over restarts; processes of a machine may "
                        "share it; none: no file; empty: embeddings.sqlite in the run's folder"});
  visitor.Knob(
      "encoder_cache_bytes", encoder_cache_bytes,
      {.help = "its size; past it the oldest leave", .unit = "bytes", .min = 65536, .max = 1e13});
}

EmbeddingCacheOptions EmbeddingCacheOptions::In(const std::string& run_folder) const {
  EmbeddingCacheOptions options = *this;
  if (options.encoder_cache.empty()) options.encoder_cache = run_folder + "/embeddings.sqlite";
  return options;
}

}  // namespace shoal::embedding
