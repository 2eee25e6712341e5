// SPDX-License-Identifier: Apache-2.0
#include "text/embedding/make_text_encoder.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "text/embedding/chunked_encoder.h"
#include "text/embedding/embedding_file.h"
#include "text/embedding/gpt2_encoder.h"
#include "text/embedding/joined_encoder.h"
#include "text/embedding/stored_encoder.h"
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
  // A preset or a folder; empty for no language model.
  std::string model;
};

std::string InQuotes(std::string_view text) { return "'" + std::string(text) + "'"; }

absl::StatusOr<EncoderParts> ParseEncoder(const std::string& encoder) {
  if (encoder == "lexical") return EncoderParts{.lexical = true, .model = ""};
  if (encoder == "both") return EncoderParts{.lexical = true, .model = "tiny"};
  for (const std::string_view prefix : {"gpt2:", "both:"}) {
    if (encoder.starts_with(prefix) && encoder.size() > prefix.size()) {
      return EncoderParts{.lexical = prefix == "both:", .model = encoder.substr(prefix.size())};
    }
  }
  return runtime::InvalidArgument("encoder is " + InQuotes(encoder) +
                                  " and may be lexical, gpt2:<preset or folder>, both or "
                                  "both:<preset or folder>");
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

absl::StatusOr<EncoderPointer> MakeLanguage(const EncoderSource& source, const std::string& model,
                                            const EmbeddingCacheOptions& caches,
                                            runtime::Metrics* metrics) {
  SHOAL_ASSIGN_OR_RETURN(const std::string folder, ModelFolder(source, model));
  Gpt2EncoderOptions model_options{.device = source.encoder_device};
  if (source.batch_independent) model_options.slice_tokens = 1;
  auto gpt2 = Gpt2Encoder::Create(folder, model_options);
  if (!gpt2.ok()) {
    return runtime::Annotate(gpt2.status(), "encoder is " + InQuotes(source.encoder) +
                                                " on encoder_device " +
                                                InQuotes(source.encoder_device));
  }
  EncoderPointer inner = *std::move(gpt2);
  if (!caches.encoder_cache.empty() && caches.encoder_cache != kNoFile) {
    auto file = EmbeddingFile::Open(
        {.path = caches.encoder_cache, .max_bytes = caches.encoder_cache_bytes}, metrics);
    if (!file.ok()) return runtime::Annotate(file.status(), "encoder_cache");
    inner = std::make_unique<StoredEncoder>(std::move(inner), *std::move(file));
  }
  const ChunkedEncoderOptions options{
      .cache_bytes = static_cast<std::size_t>(caches.encoder_chunk_cache_bytes)};
  return std::make_unique<ChunkedEncoder>(std::move(inner), options, metrics);
}

}  // namespace

absl::StatusOr<std::unique_ptr<tokens::TextEncoder>> MakeTextEncoder(
    const EncoderSource& source, const EmbeddingCacheOptions& caches, runtime::Metrics* metrics) {
  SHOAL_ASSIGN_OR_RETURN(const EncoderParts parts, ParseEncoder(source.encoder));
  EncoderPointer lexical;
  if (parts.lexical) {
    SHOAL_ASSIGN_OR_RETURN(lexical, MakeLexical(source));
    if (parts.model.empty()) return lexical;
  }
  SHOAL_ASSIGN_OR_RETURN(EncoderPointer language,
                         MakeLanguage(source, parts.model, caches, metrics));
  if (!parts.lexical) return language;
  return std::make_unique<JoinedEncoder>(std::move(lexical), std::move(language));
}

}  // namespace shoal::embedding
