// SPDX-License-Identifier: Apache-2.0
#include "learner/cloning/demonstration_set.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>

#include "learner/unrolls/batch_builder.h"
#include "platform/runtime/log.h"
#include "platform/runtime/tensor.h"
#include "platform/transport/wire_tensor.h"
#include "rl/algorithms/minibatch_items.h"
#include "rl/demonstrations/demonstration_file.h"
#include "text/embedding/make_text_encoder.h"

namespace shoal::learner {
namespace {

using demonstrations::DemonstrationFile;

// The number of texts in one call of the encoder.
constexpr int kSlice = 256;

absl::Status Embed(const proto::DemonstrationChunk& all, const tokens::TextEncoder& encoder,
                   ContentTable& contents) {
  for (int begin = 0; begin < all.contents_size(); begin += kSlice) {
    const int end = std::min(begin + kSlice, all.contents_size());
    proto::Embeddings embeddings;
    embeddings.set_encoder_version(encoder.version());
    std::vector<std::string_view> texts;
    for (int i = begin; i < end; ++i) {
      embeddings.mutable_keys()->append(all.contents(i).key());
      texts.emplace_back(all.contents(i).text());
    }
    SHOAL_ASSIGN_OR_RETURN(const runtime::Tensor vectors, encoder.Encode(texts));
    transport::ToWire(vectors, *embeddings.mutable_vectors());
    contents.AddEmbeddings(embeddings);
  }
  for (const proto::Catalog& catalog : all.catalogs()) contents.AddCatalog(catalog);
  for (const proto::Overlay& overlay : all.overlays()) contents.AddOverlay(overlay);
  return absl::OkStatus();
}

void AddZeros(const std::string& name, std::int64_t size, proto::Unroll& unroll) {
  proto::NamedTensor& column = *unroll.add_unroll_columns();
  column.set_name(name);
  transport::ToWire(runtime::Tensor(runtime::DType::kFloat32, {size}), *column.mutable_tensor());
}

// Adds what the recorder cannot know: the encoder, and the zero memory before the episode's first
// row.
proto::Unroll Complete(const proto::Unroll& recorded, const model::PolicySpec& spec,
                       const std::string& encoder_version) {
  proto::Unroll unroll = recorded;
  unroll.set_encoder_version(encoder_version);
  if (spec.past_requests) AddZeros("past_requests", spec.embedding_size, unroll);
  if (spec.has_core()) AddZeros("core/state", spec.core_state_size(), unroll);
  return unroll;
}

absl::StatusOr<DecodedUnroll> Decode(const DemonstrationFile& file, int index,
                                     const UnrollDecoder& decoder, const model::PolicySpec& spec,
                                     const std::string& encoder_version) {
  auto decoded =
      decoder.Decode(Complete(file.all.demonstrations(index).unroll(), spec, encoder_version));
  if (decoded.ok() && decoded->steps > 0) return decoded;
  const absl::Status why =
      decoded.ok() ? runtime::InvalidArgument("no row has an action") : decoded.status();
  return runtime::Annotate(
      runtime::Annotate(why, NameOf(file, index)),
      "offset " + std::to_string(file.offsets[static_cast<std::size_t>(index)]));
}

}  // namespace

DemonstrationSet::DemonstrationSet(const DemonstrationSetOptions& options, model::PolicySpec spec)
    : options_(options), spec_(std::move(spec)) {}

absl::Status DemonstrationSet::CheckActions(const proto::ActionSpec& action) const {
  const std::string file = options_.path + ": demonstrates ";
  if (action.has_candidates()) {
    if (spec_.has_candidates()) return absl::OkStatus();
    return runtime::FailedPrecondition(file + "candidates, policy.head is " + spec_.head);
  }
  if (spec_.head != "discrete") {
    return runtime::FailedPrecondition(file + "discrete actions, policy.head is " + spec_.head);
  }
  if (std::int64_t{action.discrete().count()} == spec_.action_count) return absl::OkStatus();
  return runtime::FailedPrecondition(file + std::to_string(action.discrete().count()) +
                                     " actions, policy.action_count is " +
                                     std::to_string(spec_.action_count));
}

absl::Status DemonstrationSet::EmbedTexts(const proto::DemonstrationChunk& all,
                                          ContentTable& contents) {
  SHOAL_ASSIGN_OR_RETURN(
      const auto encoder,
      embedding::MakeTextEncoder(options_.encoder, options_.embedding_cache, nullptr));
  SHOAL_RETURN_IF_ERROR(
      embedding::CheckSizes(*encoder, "the encoder", spec_.embedding_size, spec_.body_size));
  encoder_version_ = encoder->version();
  return Embed(all, *encoder, contents);
}

absl::StatusOr<std::unique_ptr<DemonstrationSet>> DemonstrationSet::Load(
    const DemonstrationSetOptions& options, const model::PolicySpec& spec, ContentTable& contents) {
  SHOAL_ASSIGN_OR_RETURN(const DemonstrationFile file,
                         demonstrations::ReadDemonstrations(options.path));
  auto set = std::unique_ptr<DemonstrationSet>(new DemonstrationSet(options, spec));
  SHOAL_RETURN_IF_ERROR(set->CheckActions(file.all.header().spec().action()));
  if (file.all.demonstrations_size() == 0) {
    return runtime::FailedPrecondition(options.path + ": holds no demonstrations");
  }
  if (spec.has_candidates()) SHOAL_RETURN_IF_ERROR(set->EmbedTexts(file.all, contents));
  const UnrollDecoder decoder(spec, contents);
  for (int i = 0; i < file.all.demonstrations_size(); ++i) {
    auto decoded = Decode(file, i, decoder, spec, set->encoder_version_);
    if (!decoded.ok()) return runtime::Annotate(decoded.status(), options.path);
    set->unrolls_.push_back(*std::move(decoded));
  }
  spdlog::info("event=demonstrations file={} count={} texts={} encoder={}",
               runtime::Quoted(options.path), set->size(), file.all.contents_size(),
               set->encoder_version_);
  return set;
}

algorithms::UnrollBatch DemonstrationSet::Batch(std::int64_t number, std::int64_t rank,
                                                std::int64_t ranks) const {
  const std::uint64_t first = static_cast<std::uint64_t>(number) * options_.per_batch;
  std::vector<std::int64_t> order;
  std::optional<std::uint64_t> pass;
  std::vector<DecodedUnroll> share;
  for (std::size_t i = static_cast<std::size_t>(rank); i < options_.per_batch;
       i += static_cast<std::size_t>(ranks)) {
    const std::uint64_t place = first + i;
    if (pass != place / unrolls_.size()) {
      pass = place / unrolls_.size();
      order.resize(unrolls_.size());
      std::iota(order.begin(), order.end(), 0);
      order = algorithms::Shuffled(std::move(order), options_.seed, "demonstrations", *pass);
    }
    share.push_back(
        unrolls_[static_cast<std::size_t>(order[static_cast<std::size_t>(place % order.size())])]);
  }
  return BuildBatch(spec_, share, {}, /*importance_exponent=*/0);
}

}  // namespace shoal::learner
