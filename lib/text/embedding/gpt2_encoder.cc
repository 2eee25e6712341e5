// SPDX-License-Identifier: Apache-2.0
#include "text/embedding/gpt2_encoder.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "platform/runtime/mutex.h"
#include "text/bpe/token_encoder.h"
#include "text/bpe/tokenizer_json.h"
#include "text/embedding/model_version.h"
#include "text/embedding/unit_rows.h"
#include "text/language/gpt2.h"
#include "text/language/gpt2_folder.h"

namespace shoal::embedding {
namespace {

// A part of the version. Raise it whenever the same text would get another vector.
constexpr int kAlgorithm = 1;
// The tokens in one call of the model; one text may exceed it. It bounds the memory of results.
constexpr std::int64_t kCallTokens = std::int64_t{1} << 15;

std::string VersionOf(const language::Gpt2Parameters& parameters,
                      const tokens::Tokenizer& tokenizer, runtime::DType precision) {
  const std::string stated = std::to_string(kAlgorithm) + " " + std::string(Name(precision)) + " " +
                             tokenizer.fingerprint() + " " + parameters.config.ToJson();
  return ModelVersion("gpt2", stated, parameters.flat);
}

// The sequences of several texts, and the text that each belongs to.
struct OwnedSequences {
  language::TokenBatch batch;
  std::vector<language::TokenRange> ranges;
  std::vector<std::size_t> owners;

  void Add(std::size_t owner, std::span<const std::int32_t> ids, std::size_t positions) {
    while (!ids.empty()) {
      const auto sequence = ids.first(std::min(positions, ids.size()));
      const std::int64_t begin = batch.tokens();
      batch.Append(sequence);
      ranges.push_back({begin, batch.tokens()});
      owners.push_back(owner);
      ids = ids.subspan(sequence.size());
    }
  }
};

}  // namespace

struct Gpt2Encoder::State {
  State(std::shared_ptr<const tokens::Tokenizer> tokenizer) : tokens(std::move(tokenizer)) {}

  absl::Status Tokenize(std::string_view text, std::vector<std::int32_t>& ids) {
    ids.clear();
    const runtime::MutexLock lock(mutex);
    return tokens.Encode(text, ids);
  }

  // Adds the sums of the hidden states to the rows of their texts.
  absl::Status AddSums(const OwnedSequences& sequences, std::span<float> sums) const;

  std::unique_ptr<const language::Gpt2> model;
  std::string version;
  runtime::Mutex mutex;
  tokens::TokenEncoder tokens ABSL_GUARDED_BY(mutex);
};

absl::Status Gpt2Encoder::State::AddSums(const OwnedSequences& sequences,
                                         std::span<float> sums) const {
  if (sequences.owners.empty()) return absl::OkStatus();
  SHOAL_ASSIGN_OR_RETURN(const runtime::Tensor means,
                         model->Embed(sequences.batch, sequences.ranges, {}));
  const auto width = static_cast<std::size_t>(model->config().width);
  const std::span<const float> values = means.values<float>();
  for (std::size_t row = 0; row < sequences.owners.size(); ++row) {
    const auto length = static_cast<float>(sequences.ranges[row].end - sequences.ranges[row].begin);
    const std::size_t owner = sequences.owners[row];
    for (std::size_t i = 0; i < width; ++i) {
      const float value = values[row * width + i];
      if (!std::isfinite(value)) {
        return runtime::Internal("the model's hidden states are no finite numbers");
      }
      sums[owner * width + i] += length * value;
    }
  }
  return absl::OkStatus();
}

Gpt2Encoder::Gpt2Encoder(std::unique_ptr<State> state) : state_(std::move(state)) {}
Gpt2Encoder::~Gpt2Encoder() = default;

absl::StatusOr<std::unique_ptr<Gpt2Encoder>> Gpt2Encoder::Create(
    const std::string& folder, const Gpt2EncoderOptions& options) {
  SHOAL_ASSIGN_OR_RETURN(auto tokenizer, tokens::LoadTokenizer(folder));
  SHOAL_ASSIGN_OR_RETURN(const language::Gpt2Parameters parameters,
                         language::ReadGpt2Folder(folder));
  if (tokenizer->size() > parameters.config.vocabulary_size) {
    return runtime::InvalidArgument(folder + ": the tokenizer has " +
                                    std::to_string(tokenizer->size()) + " ids, the model " +
                                    std::to_string(parameters.config.vocabulary_size));
  }
  auto state = std::make_unique<State>(tokenizer);
  SHOAL_ASSIGN_OR_RETURN(state->model,
                         language::Gpt2::Create(parameters, nullptr,
                                                {.device = options.device,
                                                 .precision = options.precision,
                                                 .slice_tokens = options.slice_tokens}));
  state->version = VersionOf(parameters, *tokenizer, options.precision);
  return std::unique_ptr<Gpt2Encoder>(new Gpt2Encoder(std::move(state)));
}

const std::string& Gpt2Encoder::version() const { return state_->version; }
std::int64_t Gpt2Encoder::dimension() const { return state_->model->config().width; }

absl::StatusOr<runtime::Tensor> Gpt2Encoder::Encode(std::span<const std::string_view> texts) const {
  const auto width = static_cast<std::size_t>(dimension());
  const auto positions = static_cast<std::size_t>(state_->model->config().positions);
  std::vector<float> sums(texts.size() * width);
  std::vector<std::int32_t> ids;
  OwnedSequences sequences;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    SHOAL_RETURN_IF_ERROR(state_->Tokenize(texts[i], ids));
    sequences.Add(i, ids, positions);
    if (sequences.batch.tokens() < kCallTokens) continue;
    SHOAL_RETURN_IF_ERROR(state_->AddSums(sequences, sums));
    sequences = OwnedSequences();
  }
  SHOAL_RETURN_IF_ERROR(state_->AddSums(sequences, sums));
  runtime::Tensor vectors(runtime::DType::kFloat16,
                          {static_cast<std::int64_t>(texts.size()), dimension()});
  const std::span<std::uint16_t> out = MutableHalves(vectors);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    WriteUnit(std::span(sums).subspan(i * width, width), out.subspan(i * width, width));
  }
  return vectors;
}

}  // namespace shoal::embedding
