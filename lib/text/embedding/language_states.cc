// SPDX-License-Identifier: Apache-2.0
#include "text/embedding/language_states.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "platform/runtime/mutex.h"
#include "text/bpe/token_encoder.h"
#include "text/bpe/tokenizer_json.h"
#include "text/embedding/model_version.h"
#include "text/language/bert.h"
#include "text/language/bert_folder.h"
#include "text/language/gpt2.h"
#include "text/language/gpt2_folder.h"
#include "text/wordpiece/word_piece_files.h"

namespace shoal::embedding {
namespace {

// A part of the version. Raise it whenever the same text would get other states.
constexpr int kStatesAlgorithm = 1;
// "[CLS]" and "[SEP]" stand around every text of a BERT; a text without others is empty.
constexpr std::size_t kIdsAround = 2;

std::string StatesVersion(const char* kind, const std::string& fingerprint,
                          const std::string& config, std::int64_t layer, runtime::DType precision,
                          std::span<const float> flat) {
  const std::string stated = StatedPrecision(precision) + std::to_string(kStatesAlgorithm) +
                             " states " + std::to_string(layer) + " " + fingerprint + " " + config;
  return ModelVersion(kind, stated, flat);
}

// Returns the number of blocks before the states.
absl::StatusOr<std::int64_t> LayerOf(const std::string& folder, std::int64_t wanted,
                                     std::int64_t least, std::int64_t layers) {
  if (wanted == -1) return layers;
  if (wanted >= least && wanted <= layers) return wanted;
  return runtime::InvalidArgument(folder + ": there is no layer " + std::to_string(wanted) +
                                  " of hidden states, only " + std::to_string(least) + " to " +
                                  std::to_string(layers));
}

absl::Status CheckVocabulary(const std::string& folder, std::int64_t ids, std::int64_t known) {
  if (ids <= known) return absl::OkStatus();
  return runtime::InvalidArgument(folder + ": the tokenizer has " + std::to_string(ids) +
                                  " ids, the model " + std::to_string(known));
}

absl::StatusOr<language::HiddenTexts> Checked(absl::StatusOr<runtime::Tensor> states,
                                              std::vector<std::int64_t> starts) {
  if (!states.ok()) return states.status();
  if (!std::ranges::all_of(states->values<float>(), [](float x) { return std::isfinite(x); })) {
    return runtime::Internal("the model's hidden states are no finite numbers");
  }
  return language::HiddenTexts{*std::move(states), std::move(starts)};
}

class Gpt2States final : public LanguageStates {
 public:
  Gpt2States(std::shared_ptr<const tokens::Tokenizer> tokenizer,
             std::unique_ptr<const language::Gpt2> model, std::int64_t layer, std::string version)
      : model_(std::move(model)),
        layer_(layer),
        version_(std::move(version)),
        tokens_(std::move(tokenizer)) {}

  const std::string& version() const override { return version_; }
  std::int64_t layer() const override { return layer_; }
  std::int64_t width() const override { return model_->config().width; }

  absl::StatusOr<language::HiddenTexts> Of(std::span<const std::string_view> texts) const override {
    const auto positions = static_cast<std::size_t>(model_->config().positions);
    language::TokenBatch batch;
    std::vector<std::int64_t> starts = {0};
    std::vector<std::int32_t> ids;
    for (const std::string_view text : texts) {
      SHOAL_RETURN_IF_ERROR(Tokenize(text, ids));
      for (std::span<const std::int32_t> rest = ids; !rest.empty();) {
        const auto sequence = rest.first(std::min(positions, rest.size()));
        batch.Append(sequence);
        rest = rest.subspan(sequence.size());
      }
      starts.push_back(batch.tokens());
    }
    if (batch.tokens() == 0) {
      return language::HiddenTexts{runtime::Tensor(runtime::DType::kFloat32, {0, width()}),
                                   std::move(starts)};
    }
    return Checked(model_->HiddenStates(batch, layer_), std::move(starts));
  }

 private:
  absl::Status Tokenize(std::string_view text, std::vector<std::int32_t>& ids) const {
    ids.clear();
    const runtime::MutexLock lock(mutex_);
    return tokens_.Encode(text, ids);
  }

  const std::unique_ptr<const language::Gpt2> model_;
  const std::int64_t layer_;
  const std::string version_;
  mutable runtime::Mutex mutex_;
  mutable tokens::TokenEncoder tokens_ ABSL_GUARDED_BY(mutex_);
};

class BertStates final : public LanguageStates {
 public:
  BertStates(std::shared_ptr<const tokens::WordPieceTokenizer> tokenizer,
             std::unique_ptr<const language::Bert> model, std::string version)
      : tokenizer_(std::move(tokenizer)), model_(std::move(model)), version_(std::move(version)) {}

  const std::string& version() const override { return version_; }
  std::int64_t layer() const override { return model_->config().layers; }
  std::int64_t width() const override { return model_->config().width; }

  absl::StatusOr<language::HiddenTexts> Of(std::span<const std::string_view> texts) const override {
    const auto positions = static_cast<std::size_t>(model_->config().positions);
    language::TokenBatch batch;
    std::vector<std::int64_t> starts = {0};
    for (const std::string_view text : texts) {
      const auto ids = tokenizer_->Encode(text, positions);
      if (ids.size() > kIdsAround) batch.Append(ids);
      starts.push_back(batch.tokens());
    }
    if (batch.tokens() == 0) {
      return language::HiddenTexts{runtime::Tensor(runtime::DType::kFloat32, {0, width()}),
                                   std::move(starts)};
    }
    return Checked(model_->HiddenStates(batch), std::move(starts));
  }

 private:
  const std::shared_ptr<const tokens::WordPieceTokenizer> tokenizer_;
  const std::unique_ptr<const language::Bert> model_;
  const std::string version_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<const LanguageStates>> LanguageStates::OfGpt2(
    const std::string& folder, const LanguageStatesOptions& options) {
  SHOAL_ASSIGN_OR_RETURN(auto tokenizer, tokens::LoadTokenizer(folder));
  SHOAL_ASSIGN_OR_RETURN(const language::Gpt2Parameters parameters,
                         language::ReadGpt2Folder(folder));
  SHOAL_RETURN_IF_ERROR(
      CheckVocabulary(folder, tokenizer->size(), parameters.config.vocabulary_size));
  SHOAL_ASSIGN_OR_RETURN(const std::int64_t layer,
                         LayerOf(folder, options.layer, 0, parameters.config.layers));
  SHOAL_ASSIGN_OR_RETURN(auto model,
                         language::Gpt2::Create(parameters, nullptr,
                                                {.device = options.device,
                                                 .precision = options.precision,
                                                 .slice_tokens = options.slice_tokens}));
  std::string version = StatesVersion("gpt2", tokenizer->fingerprint(), parameters.config.ToJson(),
                                      layer, options.precision, parameters.flat);
  return std::unique_ptr<const LanguageStates>(
      new Gpt2States(std::move(tokenizer), std::move(model), layer, std::move(version)));
}

absl::StatusOr<std::unique_ptr<const LanguageStates>> LanguageStates::OfBert(
    const std::string& folder, const LanguageStatesOptions& options) {
  SHOAL_ASSIGN_OR_RETURN(auto tokenizer, tokens::LoadWordPieceFolder(folder));
  SHOAL_ASSIGN_OR_RETURN(const language::BertParameters parameters,
                         language::ReadBertFolder(folder));
  SHOAL_RETURN_IF_ERROR(
      CheckVocabulary(folder, tokenizer->size(), parameters.config.vocabulary_size));
  if (parameters.config.positions < static_cast<std::int64_t>(kIdsAround)) {
    return runtime::InvalidArgument(folder + ": the model has too few positions for any text");
  }
  SHOAL_ASSIGN_OR_RETURN(
      const std::int64_t layer,
      LayerOf(folder, options.layer, parameters.config.layers, parameters.config.layers));
  SHOAL_ASSIGN_OR_RETURN(
      auto model, language::Bert::Create(parameters, {.device = options.device,
                                                      .precision = options.precision,
                                                      .slice_tokens = options.slice_tokens}));
  std::string version = StatesVersion("bert", tokenizer->fingerprint(), parameters.config.ToJson(),
                                      layer, options.precision, parameters.flat);
  return std::unique_ptr<const LanguageStates>(
      new BertStates(std::move(tokenizer), std::move(model), std::move(version)));
}

}  // namespace shoal::embedding
