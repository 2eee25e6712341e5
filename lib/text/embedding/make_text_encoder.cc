// SPDX-License-Identifier: Apache-2.0
#include "text/embedding/make_text_encoder.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "text/embedding/adapter.h"
#include "text/embedding/chunked_encoder.h"
#include "text/embedding/embedding_file.h"
#include "text/embedding/gpt2_encoder.h"
#include "text/embedding/joined_encoder.h"
#include "text/embedding/sentence_encoder.h"
#include "text/embedding/splitting.h"
#include "text/embedding/stored_encoder.h"
#include "text/embedding/tuned_encoder.h"
#include "text/language/gpt2_config.h"
#include "text/language/gpt2_folder.h"
#include "text/lexical/lexical_encoder.h"

namespace shoal::embedding {
namespace {

using EncoderPointer = std::unique_ptr<tokens::TextEncoder>;

constexpr std::string_view kNoFile = "none";

// The parsed knob `encoder`.
struct EncoderParts {
  bool lexical = false;
  enum class Language : std::uint8_t { kNone, kGpt2, kSentence } language = Language::kNone;
  // A preset or a folder; empty for no GPT-2.
  std::string model;
};
using Language = EncoderParts::Language;

std::string InQuotes(std::string_view text) { return "'" + std::string(text) + "'"; }

absl::StatusOr<EncoderParts> ParseEncoder(const EncoderSource& source) {
  constexpr std::string_view kBoth = "both:";
  constexpr std::string_view kGpt2 = "gpt2:";
  constexpr std::string_view kSentence = "sentence:";
  if (source.encoder == "lexical") return EncoderParts{.lexical = true, .model = ""};
  std::string_view rest = source.encoder == "both" ? "both:tiny" : std::string_view(source.encoder);
  EncoderParts parts;
  if (rest.starts_with(kBoth)) {
    parts.lexical = true;
    rest.remove_prefix(kBoth.size());
  }
  if (rest == "sentence") {
    parts = {parts.lexical, Language::kSentence, source.encoder_sentences};
  } else if (rest.starts_with(kSentence)) {
    parts = {parts.lexical, Language::kSentence, std::string(rest.substr(kSentence.size()))};
  } else if (parts.lexical || rest.starts_with(kGpt2)) {
    parts.language = Language::kGpt2;
    parts.model = rest.substr(parts.lexical ? 0 : kGpt2.size());
  }
  if (parts.language != Language::kNone && !parts.model.empty()) return parts;
  return runtime::InvalidArgument(
      "encoder is " + InQuotes(source.encoder) +
      " and may be lexical, gpt2:<preset or folder>, sentence, sentence:<folder>, both, "
      "both:<preset or folder>, both:sentence, both:sentence:<folder>, tuned or tuned:<folder>");
}

bool HasWeights(const std::filesystem::path& folder) {
  std::error_code error;
  return std::filesystem::exists(folder / language::kConfigFile, error) &&
         std::filesystem::exists(folder / language::kWeightsFile, error);
}

// Describes what may replace a model whose files are missing.
std::string Alternatives(const std::string& models) {
  std::string presets;
  for (const std::string_view preset : language::Gpt2Config::PresetNames()) {
    if (HasWeights(std::filesystem::path(models) / preset)) presets += " " + std::string(preset);
  }
  return "give a folder that has them (gpt2:<folder>)" +
         (presets.empty() ? ", or use lexical"
                          : ", use a preset that has (" + presets.substr(1) + "), or lexical");
}

absl::StatusOr<std::string> ModelFolder(const EncoderSource& source, const std::string& model) {
  const bool preset = language::Gpt2Config::Preset(model).ok();
  const std::string folder =
      preset ? (std::filesystem::path(source.encoder_models) / model).string() : model;
  if (HasWeights(folder)) return folder;
  return runtime::NotFound("encoder is " + InQuotes(source.encoder) + ", but " + folder +
                           " does not have config.json and model.safetensors" +
                           (preset ? " of preset " + model + " (encoder_models)" : "") + ": " +
                           Alternatives(source.encoder_models));
}

absl::StatusOr<EncoderPointer> MakeLexical(const EncoderSource& source) {
  auto lexical = tokens::LexicalEncoder::Create(source.encoder_table);
  if (!lexical.ok()) return runtime::Annotate(lexical.status(), "encoder_table");
  return EncoderPointer(*std::move(lexical));
}

absl::StatusOr<EncoderPointer> MakeGpt2(const EncoderSource& source, const std::string& model) {
  SHOAL_ASSIGN_OR_RETURN(const std::string folder, ModelFolder(source, model));
  Gpt2EncoderOptions options{.device = source.encoder_device};
  if (source.batch_independent) options.slice_tokens = 1;
  return Gpt2Encoder::Create(folder, options);
}

absl::StatusOr<EncoderPointer> MakeSentence(const EncoderSource& source,
                                            const std::string& folder) {
  if (!HasWeights(folder)) {
    return runtime::NotFound(folder +
                             " does not have config.json and model.safetensors: give a folder that "
                             "has them (sentence:<folder>, encoder_sentences), fetch "
                             "all-MiniLM-L6-v2 (deploy/install.sh install_minilm), or use lexical");
  }
  SentenceEncoderOptions options{.device = source.encoder_device};
  if (source.batch_independent) options.slice_tokens = 1;
  return SentenceEncoder::Create(folder, options);
}

absl::StatusOr<EncoderPointer> MakeLanguage(const EncoderSource& source, const EncoderParts& parts,
                                            const EmbeddingCacheOptions& caches,
                                            runtime::Metrics* metrics) {
  const bool sentence = parts.language == Language::kSentence;
  auto made = sentence ? MakeSentence(source, parts.model) : MakeGpt2(source, parts.model);
  if (!made.ok()) {
    if (absl::IsNotFound(made.status()) && !sentence) return made.status();
    return runtime::Annotate(made.status(), "encoder is " + InQuotes(source.encoder) +
                                                " on encoder_device " +
                                                InQuotes(source.encoder_device));
  }
  EncoderPointer inner = *std::move(made);
  if (!caches.encoder_cache.empty() && caches.encoder_cache != kNoFile) {
    auto file = EmbeddingFile::Open(
        {.path = caches.encoder_cache, .max_bytes = caches.encoder_cache_bytes}, metrics);
    if (!file.ok()) return runtime::Annotate(file.status(), "encoder_cache");
    inner = std::make_unique<StoredEncoder>(std::move(inner), *std::move(file));
  }
  const ChunkedEncoderOptions options{
      .splitting = sentence ? PhraseSplitting() : SegmentSplitting(),
      .cache_bytes = static_cast<std::size_t>(caches.encoder_chunk_cache_bytes)};
  return std::make_unique<ChunkedEncoder>(std::move(inner), options, metrics);
}

absl::StatusOr<EncoderPointer> MakeTuned(const EncoderSource& source, const std::string& folder,
                                         const EmbeddingCacheOptions& caches,
                                         runtime::Metrics* metrics) {
  std::error_code error;
  if (!std::filesystem::exists(std::filesystem::path(folder) / kAdapterFile, error)) {
    return runtime::NotFound(folder + " does not have " + kAdapterFile +
                             ": give a folder that `encoder tune` wrote (tuned:<folder>), or use "
                             "both:sentence or lexical");
  }
  SHOAL_ASSIGN_OR_RETURN(AdapterParameters adapter, ReadAdapter(folder));
  EncoderSource base = source;
  base.encoder = adapter.base;
  base.encoder_table = folder + "/" + kAdapterTable;
  SHOAL_ASSIGN_OR_RETURN(EncoderPointer encoder, MakeTextEncoder(base, caches, metrics));
  SHOAL_ASSIGN_OR_RETURN(EncoderPointer tuned,
                         TunedEncoder::Create(std::move(encoder), std::move(adapter)));
  return tuned;
}

}  // namespace

absl::StatusOr<std::unique_ptr<tokens::TextEncoder>> MakeTextEncoder(
    const EncoderSource& source, const EmbeddingCacheOptions& caches, runtime::Metrics* metrics) {
  if (const std::string folder = source.adapter_folder(); !folder.empty()) {
    auto tuned = MakeTuned(source, folder, caches, metrics);
    if (tuned.ok()) return tuned;
    return runtime::Annotate(tuned.status(), "encoder is " + InQuotes(source.encoder));
  }
  SHOAL_ASSIGN_OR_RETURN(const EncoderParts parts, ParseEncoder(source));
  EncoderPointer lexical;
  if (parts.lexical) {
    SHOAL_ASSIGN_OR_RETURN(lexical, MakeLexical(source));
    if (parts.language == Language::kNone) return lexical;
  }
  SHOAL_ASSIGN_OR_RETURN(EncoderPointer language, MakeLanguage(source, parts, caches, metrics));
  if (!parts.lexical) return language;
  return std::make_unique<JoinedEncoder>(std::move(lexical), std::move(language));
}

}  // namespace shoal::embedding
