// SPDX-License-Identifier: Apache-2.0
#include "text/embedding/state_encoder.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "text/embedding/model_version.h"
#include "text/embedding/unit_rows.h"
#include "text/language/state_pooler.h"

namespace shoal::embedding {
namespace {

// A part of the version. Raise it whenever the same text would get another vector.
constexpr int kStateAlgorithm = 1;
// The bytes of text whose hidden states are in memory at once; one text may exceed it.
constexpr std::size_t kCallBytes = std::size_t{128} << 10;

std::string StateVersion(const language::StateParameters& parameters) {
  const std::string stated = std::to_string(kStateAlgorithm) + " " + parameters.config.ToJson();
  return ModelVersion("state", stated, parameters.flat);
}

}  // namespace

struct StateEncoder::State {
  std::unique_ptr<const LanguageStates> base;
  std::unique_ptr<const language::StatePooler> pooler;
  std::string version;
};

StateEncoder::StateEncoder(std::unique_ptr<const State> state) : state_(std::move(state)) {}
StateEncoder::~StateEncoder() = default;

absl::StatusOr<std::unique_ptr<StateEncoder>> StateEncoder::Create(
    std::unique_ptr<const LanguageStates> states, const language::StateParameters& parameters,
    std::int64_t slice_tokens) {
  const language::StateConfig& config = parameters.config;
  if (config.base_version != states->version() || config.width != states->width()) {
    return runtime::FailedPrecondition("the state encoder was trained on " + config.base + " of " +
                                       config.base_version + ", and that is " + states->version() +
                                       " now");
  }
  auto state = std::make_unique<State>();
  SHOAL_ASSIGN_OR_RETURN(state->pooler,
                         language::StatePooler::Create(parameters, {.slice_tokens = slice_tokens}));
  state->version = StateVersion(parameters);
  state->base = std::move(states);
  return std::unique_ptr<StateEncoder>(new StateEncoder(std::move(state)));
}

const std::string& StateEncoder::version() const { return state_->version; }
std::int64_t StateEncoder::dimension() const { return state_->pooler->config().latent; }

absl::StatusOr<runtime::Tensor> StateEncoder::Encode(
    std::span<const std::string_view> texts) const {
  const auto size = static_cast<std::size_t>(dimension());
  runtime::Tensor vectors(runtime::DType::kFloat16,
                          {static_cast<std::int64_t>(texts.size()), dimension()});
  std::span<std::uint16_t> out = MutableHalves(vectors);
  while (!texts.empty()) {
    std::size_t count = 1;
    for (std::size_t bytes = texts[0].size(); count < texts.size(); ++count) {
      bytes += texts[count].size();
      if (bytes > kCallBytes) break;
    }
    SHOAL_ASSIGN_OR_RETURN(const language::HiddenTexts hidden,
                           state_->base->Of(texts.first(count)));
    SHOAL_ASSIGN_OR_RETURN(const runtime::Tensor latents, state_->pooler->Latents(hidden));
    std::ranges::transform(latents.values<float>(), out.begin(), runtime::ToHalf);
    texts = texts.subspan(count);
    out = out.subspan(count * size);
  }
  return vectors;
}

}  // namespace shoal::embedding
