// SPDX-License-Identifier: Apache-2.0
#include "text/embedding/sentence_encoder.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "text/embedding/model_version.h"
#include "text/embedding/unit_rows.h"
#include "text/language/bert.h"
#include "text/language/bert_folder.h"
#include "text/wordpiece/word_piece_files.h"

namespace shoal::embedding {
namespace {

// A part of the version. Raise it whenever the same text would get another vector.
constexpr int kSentenceAlgorithm = 1;
// The tokens in one call of the model; one text may exceed it. It bounds the memory of results.
constexpr std::int64_t kTokensOfCall = std::int64_t{1} << 15;
// "[CLS]" and "[SEP]" stand around every text.
constexpr std::size_t kTokensAround = 2;

std::string SentenceVersion(const language::BertParameters& parameters,
                            const tokens::WordPieceTokenizer& tokenizer, runtime::DType precision) {
  const std::string stated = StatedPrecision(precision) + std::to_string(kSentenceAlgorithm) + " " +
                             tokenizer.fingerprint() + " " + parameters.config.ToJson();
  return ModelVersion("bert", stated, parameters.flat);
}

}  // namespace

struct SentenceEncoder::State {
  // Writes the vectors of `batch` into the rows that own its sequences.
  absl::Status WriteVectors(const language::TokenBatch& batch, std::span<const std::size_t> owners,
                            std::span<std::uint16_t> out) const;

  std::shared_ptr<const tokens::WordPieceTokenizer> tokenizer;
  std::unique_ptr<const language::Bert> model;
  std::size_t max_tokens = 0;
  std::string version;
};

absl::Status SentenceEncoder::State::WriteVectors(const language::TokenBatch& batch,
                                                  std::span<const std::size_t> owners,
                                                  std::span<std::uint16_t> out) const {
  SHOAL_ASSIGN_OR_RETURN(const runtime::Tensor means, model->Means(batch));
  const std::span<const float> values = means.values<float>();
  if (!std::ranges::all_of(values, [](float x) { return std::isfinite(x); })) {
    return runtime::Internal("the model's hidden states are no finite numbers");
  }
  const auto width = static_cast<std::size_t>(model->config().width);
  for (std::size_t i = 0; i < owners.size(); ++i) {
    WriteUnit(values.subspan(i * width, width), out.subspan(owners[i] * width, width));
  }
  return absl::OkStatus();
}

SentenceEncoder::SentenceEncoder(std::unique_ptr<const State> state) : state_(std::move(state)) {}
SentenceEncoder::~SentenceEncoder() = default;

absl::StatusOr<std::unique_ptr<SentenceEncoder>> SentenceEncoder::Create(
    const std::string& folder, const SentenceEncoderOptions& options) {
  auto state = std::make_unique<State>();
  SHOAL_ASSIGN_OR_RETURN(state->tokenizer, tokens::LoadWordPieceFolder(folder));
  SHOAL_ASSIGN_OR_RETURN(const language::BertParameters parameters,
                         language::ReadBertFolder(folder));
  const language::BertConfig& config = parameters.config;
  if (state->tokenizer->size() > config.vocabulary_size) {
    return runtime::InvalidArgument(folder + ": the tokenizer has " +
                                    std::to_string(state->tokenizer->size()) + " ids, the model " +
                                    std::to_string(config.vocabulary_size));
  }
  state->max_tokens = std::min(kMaxTokens, static_cast<std::size_t>(config.positions));
  if (state->max_tokens < kTokensAround) {
    return runtime::InvalidArgument(folder + ": the model has too few positions for any text");
  }
  SHOAL_ASSIGN_OR_RETURN(
      state->model, language::Bert::Create(parameters, {.device = options.device,
                                                        .precision = options.precision,
                                                        .slice_tokens = options.slice_tokens}));
  state->version = SentenceVersion(parameters, *state->tokenizer, options.precision);
  return std::unique_ptr<SentenceEncoder>(new SentenceEncoder(std::move(state)));
}

const std::string& SentenceEncoder::version() const { return state_->version; }
std::int64_t SentenceEncoder::dimension() const { return state_->model->config().width; }

absl::StatusOr<runtime::Tensor> SentenceEncoder::Encode(
    std::span<const std::string_view> texts) const {
  runtime::Tensor vectors(runtime::DType::kFloat16,
                          {static_cast<std::int64_t>(texts.size()), dimension()});
  const std::span<std::uint16_t> out = MutableHalves(vectors);
  language::TokenBatch batch;
  std::vector<std::size_t> owners;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const auto ids = state_->tokenizer->Encode(texts[i], state_->max_tokens);
    if (ids.size() > kTokensAround) {
      batch.Append(ids);
      owners.push_back(i);
    }
    if (owners.empty() || (i + 1 < texts.size() && batch.tokens() < kTokensOfCall)) continue;
    SHOAL_RETURN_IF_ERROR(state_->WriteVectors(batch, owners, out));
    batch = language::TokenBatch();
    owners.clear();
  }
  return vectors;
}

}  // namespace shoal::embedding
