// SPDX-License-Identifier: Apache-2.0
#include "text/embedding/make_text_encoder.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "rl/model/compute_device.h"
#include "text/embedding/adapter.h"
#include "text/embedding/body_encoder.h"
#include "text/embedding/chunked_encoder.h"
#include "text/embedding/embedding_file.h"
#include "text/embedding/gpt2_encoder.h"
#include "text/embedding/joined_encoder.h"
#include "text/embedding/sentence_encoder.h"
#include "text/embedding/splitting.h"
#include "text/embedding/state_encoder.h"
#include "text/embedding/stored_encoder.h"
#include "text/embedding/tuned_encoder.h"
#include "text/language/gpt2_config.h"
#include "text/language/gpt2_folder.h"
#include "text/language/state_folder.h"
#include "text/lexical/lexical_encoder.h"

namespace shoal::embedding {
namespace {

using EncoderPointer = std::unique_ptr<tokens::TextEncoder>;

constexpr std::string_view kNoFile = "none";

// The parsed knob `encoder`.
struct EncoderParts {
  bool lexical = false;
  enum class Language : std::uint8_t { kNone, kGpt2, kSentence, kState } language = Language::kNone;
  // A preset or a folder; empty for no language model.
  std::string model;
};
using Language = EncoderParts::Language;

std::string InQuotes(std::string_view text) { return "'" + std::string(text) + "'"; }

absl::StatusOr<EncoderParts> ParseEncoder(const EncoderSource& source) {
  constexpr std::string_view kBoth = "both:";
  constexpr std::string_view kGpt2 = "gpt2:";
  constexpr std::string_view kSentence = "sentence:";
  constexpr std::string_view kState = "state:";
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
  } else if (rest == "state") {
    parts = {parts.lexical, Language::kState, source.encoder_models + "/state"};
  } else if (rest.starts_with(kState)) {
    parts = {parts.lexical, Language::kState, std::string(rest.substr(kState.size()))};
  } else if (parts.lexical || rest.starts_with(kGpt2)) {
    parts.language = Language::kGpt2;
    parts.model = rest.substr(parts.lexical ? 0 : kGpt2.size());
  }
  if (parts.language != Language::kNone && !parts.model.empty()) return parts;
  return runtime::InvalidArgument(
      "encoder is " + InQuotes(source.encoder) +
      " and may be lexical, gpt2:<preset or folder>, sentence, sentence:<folder>, state, "
      "state:<folder>, both, both: with what follows gpt2:, sentence or state, tuned or "
      "tuned:<folder>");
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

absl::StatusOr<runtime::DType> PrecisionOf(const EncoderSource& source) {
  const auto precision = model::PrecisionNamed(source.encoder_precision);
  if (!precision.ok()) return runtime::Annotate(precision.status(), "encoder_precision");
  return *precision == model::Precision::kBfloat16 ? runtime::DType::kBFloat16
                                                   : runtime::DType::kFloat32;
}

absl::StatusOr<EncoderPointer> MakeGpt2(const EncoderSource& source, const std::string& model) {
  SHOAL_ASSIGN_OR_RETURN(const std::string folder, ModelFolder(source, model));
  SHOAL_ASSIGN_OR_RETURN(const runtime::DType precision, PrecisionOf(source));
  Gpt2EncoderOptions options{.device = source.encoder_device, .precision = precision};
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
  SHOAL_ASSIGN_OR_RETURN(const runtime::DType precision, PrecisionOf(source));
  SentenceEncoderOptions options{.device = source.encoder_device, .precision = precision};
  if (source.batch_independent) options.slice_tokens = 1;
  return SentenceEncoder::Create(folder, options);
}

absl::StatusOr<EncoderPointer> MakeState(const EncoderSource& source, const std::string& folder) {
  if (!HasWeights(folder)) {
    return runtime::NotFound(folder +
                             " does not have config.json and model.safetensors: give a folder that "
                             "`encoder train-state` wrote (state:<folder>), or use lexical");
  }
  SHOAL_ASSIGN_OR_RETURN(const language::StateParameters parameters,
                         language::ReadStateFolder(folder));
  auto states = MakeLanguageStates(source, parameters.config.base, parameters.config.layer);
  if (!states.ok()) return runtime::Annotate(states.status(), folder);
  return StateEncoder::Create(*std::move(states), parameters, source.batch_independent ? 1 : 4096);
}

absl::StatusOr<EncoderPointer> MakeInner(const EncoderSource& source, const EncoderParts& parts) {
  switch (parts.language) {
    case Language::kSentence:
      return MakeSentence(source, parts.model);
    case Language::kState:
      return MakeState(source, parts.model);
    case Language::kNone:
    case Language::kGpt2:
      break;
  }
  return MakeGpt2(source, parts.model);
}

absl::StatusOr<EncoderPointer> MakeLanguage(const EncoderSource& source, const EncoderParts& parts,
                                            const EmbeddingCacheOptions& caches,
                                            runtime::Metrics* metrics) {
  const bool sentence = parts.language == Language::kSentence;
  auto made = MakeInner(source, parts);
  if (!made.ok()) {
    if (absl::IsNotFound(made.status()) && parts.language == Language::kGpt2) return made.status();
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

absl::StatusOr<EncoderPointer> MakeOne(const EncoderSource& source,
                                       const EmbeddingCacheOptions& caches,
                                       runtime::Metrics* metrics);

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
  SHOAL_ASSIGN_OR_RETURN(EncoderPointer encoder, MakeOne(base, caches, metrics));
  SHOAL_ASSIGN_OR_RETURN(EncoderPointer tuned,
                         TunedEncoder::Create(std::move(encoder), std::move(adapter)));
  return tuned;
}

absl::StatusOr<EncoderPointer> MakeOne(const EncoderSource& source,
                                       const EmbeddingCacheOptions& caches,
                                       runtime::Metrics* metrics) {
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

}  // namespace

absl::StatusOr<EncoderSource> OnOwnDevice(EncoderSource source, std::int64_t number) {
  if (!source.has_language_model()) return source;
  SHOAL_ASSIGN_OR_RETURN(const model::ComputeDevice device,
                         model::FindComputeDevice(source.encoder_device, number));
  source.encoder_device = device.name;
  return source;
}

absl::Status CheckSizes(const tokens::TextEncoder& encoder, const std::string& knob,
                        std::int64_t embedding_size, std::int64_t body_size) {
  if (encoder.dimension() != embedding_size) {
    return runtime::FailedPrecondition("policy.embedding_size is " +
                                       std::to_string(embedding_size) + ", " + knob + " makes " +
                                       std::to_string(encoder.dimension()) + " numbers");
  }
  if (body_size == 0 || body_size == encoder.body_dimension()) return absl::OkStatus();
  return runtime::FailedPrecondition("policy.body_size is " + std::to_string(body_size) + ", " +
                                     knob + " makes " + std::to_string(encoder.body_dimension()) +
                                     " numbers of a response's body");
}

absl::StatusOr<std::unique_ptr<const LanguageStates>> MakeLanguageStates(
    const EncoderSource& source, const std::string& base, std::int64_t layer) {
  EncoderSource beneath = source;
  beneath.encoder = base;
  SHOAL_ASSIGN_OR_RETURN(const EncoderParts parts, ParseEncoder(beneath));
  SHOAL_ASSIGN_OR_RETURN(const runtime::DType precision, PrecisionOf(source));
  LanguageStatesOptions options{
      .device = source.encoder_device, .precision = precision, .layer = layer};
  if (source.batch_independent) options.slice_tokens = 1;
  if (!parts.lexical && parts.language == Language::kGpt2) {
    SHOAL_ASSIGN_OR_RETURN(const std::string folder, ModelFolder(beneath, parts.model));
    return LanguageStates::OfGpt2(folder, options);
  }
  if (!parts.lexical && parts.language == Language::kSentence) {
    return LanguageStates::OfBert(parts.model, options);
  }
  return runtime::InvalidArgument("base is " + InQuotes(base) +
                                  " and may be gpt2:<preset or folder>, sentence or "
                                  "sentence:<folder>");
}

absl::StatusOr<std::unique_ptr<tokens::TextEncoder>> MakeTextEncoder(
    const EncoderSource& source, const EmbeddingCacheOptions& caches, runtime::Metrics* metrics) {
  SHOAL_ASSIGN_OR_RETURN(EncoderPointer encoder, MakeOne(source, caches, metrics));
  if (!source.has_body_encoder()) return encoder;
  EncoderSource of_bodies = source;
  of_bodies.encoder = source.body_encoder;
  auto bodies = MakeOne(of_bodies, caches, metrics);
  if (!bodies.ok()) return runtime::Annotate(bodies.status(), "body_encoder");
  return std::make_unique<BodyEncoder>(std::move(encoder), *std::move(bodies));
}

}  // namespace shoal::embedding
