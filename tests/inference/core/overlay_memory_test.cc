// SPDX-License-Identifier: Apache-2.0
#include <malloc.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "inference/core/catalog_store.h"
#include "platform/runtime/random.h"
#include "rl/model/policy.h"

namespace shoal::inference {
namespace {

constexpr int kBaseCandidates = 2000;
constexpr std::size_t kStoreBytes = std::size_t{8} << 20;
constexpr std::size_t kCacheBytes = std::size_t{1} << 20;

// Returns the memory in use, as the allocator counts it.
std::size_t UsedBytes() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

model::PolicySpec Spec() {
  model::PolicySpec spec;
  spec.observation_size = 1;
  spec.embedding_size = 64;
  spec.projection_size = 32;
  spec.hidden = {16};
  spec.value_hidden = {16};
  return spec;
}

// A store, a policy that acts on its tables, and texts with made-up embeddings.
class OverlayChurn {
 public:
  OverlayChurn() {
    for (int i = 0; i < kBaseCandidates; ++i) base_.candidates.push_back(NewContent());
    base_.key = KeyOf(base_);
    REQUIRE(store_.Add(base_).ok());
    REQUIRE(Act(base_.key));
  }

  // Runs one environment's episode: it appends three candidates, removes one, and acts.
  bool Episode() {
    CandidateList overlay;
    overlay.base = base_.key;
    overlay.removed = {static_cast<std::uint32_t>(contents_made_ % kBaseCandidates)};
    for (int i = 0; i < 3; ++i) overlay.candidates.push_back(NewContent());
    overlay.key = KeyOf(overlay);
    return store_.Add(overlay).ok() && Act(overlay.key);
  }

  std::size_t counted_bytes() const {
    return store_.bytes() + similarities_.bytes() + contents_.bytes();
  }
  const CatalogStore& store() const { return store_; }
  std::size_t similarity_bytes() const { return similarities_.bytes(); }

 private:
  content::ContentKey NewContent() {
    const auto size = static_cast<std::size_t>(spec_.embedding_size);
    std::vector<std::uint16_t> values(size);
    for (std::uint16_t& value : values) {
      value = runtime::ToHalf(static_cast<float>(random_.Normal()));
    }
    const content::ContentKey key = content::KeyOf("text " + std::to_string(contents_made_++));
    contents_.Insert(key, values);
    return key;
  }

  bool Act(const content::ContentKey& list) {
    const auto resolved = store_.Resolve(list);
    if (!resolved.ok() || resolved->candidates == nullptr) return false;
    model::PolicyInputs inputs;
    inputs.rows = 1;
    inputs.observation = {0.5F};
    inputs.contents.assign(static_cast<std::size_t>(spec_.content_count() * spec_.embedding_size),
                           runtime::ToHalf(0.25F));
    inputs.goal_keys.assign(16, static_cast<std::uint8_t>(contents_made_ % 5));
    if (spec_.past_requests) {
      inputs.past_requests.assign(static_cast<std::size_t>(spec_.embedding_size), 0.0F);
    }
    inputs.core_state.assign(static_cast<std::size_t>(spec_.core_state_size()), 0.0F);
    inputs.first = {1};
    inputs.tables = {resolved->candidates->table};
    inputs.table = {0};
    inputs.choice = {model::Choice::kSample};
    inputs.draw = {random_.Uniform()};
    return policy_->Act(inputs, similarities_).ok();
  }

  const model::PolicySpec spec_ = Spec();
  runtime::Random random_{1};
  int contents_made_ = 0;
  embedding::EmbeddingStore contents_{"test", 64, kCacheBytes};
  CatalogStore store_{contents_,
                      [](const runtime::Tensor& embeddings, std::span<const std::uint32_t> removed,
                         std::shared_ptr<const model::CandidateTable> base) {
                        return model::CandidateTable::Create(embeddings, removed, std::move(base));
                      },
                      kStoreBytes};
  model::SimilarityCache similarities_{kCacheBytes};
  CandidateList base_;
  const std::shared_ptr<const model::Policy> policy_ =
      model::Policy::FromSafetensors(spec_, model::InitialParameters(spec_, 1).value(), nullptr)
          .value();
};

TEST_CASE("ten thousand overlays of a large catalog stay within the store's bytes") {
  OverlayChurn churn;
  for (int i = 0; i < 100; ++i) REQUIRE(churn.Episode());
  const std::size_t used_before = UsedBytes();
  const std::size_t counted_before = churn.counted_bytes();
  for (int i = 0; i < 10'000; ++i) REQUIRE(churn.Episode());
  REQUIRE(churn.store().bytes() <= kStoreBytes);
  REQUIRE(churn.store().bytes() > kStoreBytes / 2);
  REQUIRE(churn.similarity_bytes() <= kCacheBytes);
  const std::size_t used = UsedBytes() - std::min(used_before, UsedBytes());
  const std::size_t counted = churn.counted_bytes() - counted_before;
  INFO("used " << used << " counted " << counted);
  REQUIRE(used <= kStoreBytes + 2 * kCacheBytes);
  REQUIRE(used <= counted + counted / 8);
}

}  // namespace
}  // namespace shoal::inference
