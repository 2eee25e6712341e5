// SPDX-License-Identifier: Apache-2.0
#include "encoder/batch_stream.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

#include "platform/runtime/check.h"
#include "platform/runtime/random.h"

namespace shoal::encoder {

BatchStream::BatchStream(std::vector<Chunk> chunks, std::uint64_t seed, const Position& position)
    : chunks_(std::move(chunks)),
      order_seed_(runtime::DeriveSeed(seed, "order of texts")),
      span_seed_(runtime::DeriveSeed(seed, "random spans")),
      position_(position) {
  SHOAL_CHECK(!chunks_.empty());
  BeginEpoch();
}

void BatchStream::BeginEpoch() {
  order_.resize(chunks_.size());
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  runtime::Random draws(order_seed_, static_cast<std::uint64_t>(position_.epoch));
  runtime::Shuffle(std::span(order_), draws);
}

double BatchStream::epochs() const {
  return static_cast<double>(position_.epoch) +
         static_cast<double>(position_.chunk) / static_cast<double>(chunks_.size());
}

std::vector<BatchStream::Item> BatchStream::Next(const TokenChoice& loss, std::int64_t tokens) {
  std::vector<Item> items;
  std::int64_t taken = 0;
  for (std::size_t seen = 0; seen < chunks_.size(); ++seen) {
    const std::size_t number = order_[static_cast<std::size_t>(position_.chunk)];
    const Chunk& chunk = chunks_[number];
    const auto size = static_cast<std::int64_t>(chunk.tokens.size());
    if (!items.empty() && taken + size > tokens) break;
    runtime::Random draws(span_seed_, static_cast<std::uint64_t>(position_.epoch) << 40 |
                                          static_cast<std::uint64_t>(number));
    Item item{chunk, loss.Mask(chunk, draws)};
    // The first token of a text is never a target.
    item.targets[0] = 0;
    const bool counts =
        std::find(item.targets.begin(), item.targets.end(), 1) != item.targets.end();
    if (counts) {
      taken += size;
      items.push_back(std::move(item));
    }
    if (++position_.chunk < static_cast<std::int64_t>(chunks_.size())) continue;
    position_ = {position_.epoch + 1, 0};
    BeginEpoch();
    if (!items.empty()) break;
  }
  return items;
}

std::int64_t TokensOf(const std::vector<BatchStream::Item>& items) {
  std::int64_t tokens = 0;
  for (const auto& item : items) tokens += static_cast<std::int64_t>(item.chunk.tokens.size());
  return tokens;
}

language::WeightedBatch PartOf(const std::vector<BatchStream::Item>& items, std::int64_t rank,
                               std::int64_t ranks, const TokenChoice& attention) {
  SHOAL_CHECK(!attention.random);
  language::WeightedBatch batch;
  std::vector<std::uint8_t> attended;
  runtime::Random no_draws(0);
  for (auto i = static_cast<std::size_t>(rank); i < items.size();
       i += static_cast<std::size_t>(ranks)) {
    batch.tokens.Append(items[i].chunk.tokens);
    for (const std::uint8_t counts : items[i].targets) {
      batch.weights.push_back(static_cast<float>(counts));
    }
    if (attention.all) continue;
    const auto mask = attention.Mask(items[i].chunk, no_draws);
    attended.insert(attended.end(), mask.begin(), mask.end());
  }
  batch.tokens.attended = std::move(attended);
  return batch;
}

}  // namespace shoal::encoder
