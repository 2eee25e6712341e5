// SPDX-License-Identifier: Apache-2.0
#include "inference/core/unroll_builder.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "platform/runtime/check.h"

namespace shoal::inference {

std::optional<Unroll> UnrollBuilder::SetOutcome(float reward, std::uint8_t flags) {
  if (actions_.empty()) return std::nullopt;
  rewards_.back() = reward;
  flags_.back() = static_cast<std::uint8_t>(flags_.back() | (flags & (kTerminated | kTruncated)));
  const bool lost = (flags & kTruncated) != 0 && (flags & kFinal) == 0;
  const bool full = size() >= cut_.max_rows;
  const bool complete =
      (flags & kTerminated) != 0 ? (full || cut_.by_episode) : (lost && cut_.by_episode);
  if (!complete) return std::nullopt;
  PushZeros();
  return Finish();
}

std::optional<Unroll> UnrollBuilder::Append(const Row& row, const Step& step) {
  const bool final_row = (row.flags() & kFinal) != 0;
  if (!actions_.empty() && layout_ != row.block->layout && *layout_ != *row.block->layout) Clear();
  if (actions_.empty()) {
    if (!final_row) Begin(row, step);
    return std::nullopt;
  }
  const bool bootstraps = size() >= cut_.max_rows || (final_row && cut_.by_episode);
  Push(row, step);
  if (!bootstraps) return std::nullopt;
  Unroll unroll = Finish();
  if (!final_row) Begin(row, step);
  return unroll;
}

void UnrollBuilder::Clear() {
  observations_.clear();
  contents_.clear();
  catalogs_.clear();
  legal_.clear();
  actions_.clear();
  log_probabilities_.clear();
  values_.clear();
  rewards_.clear();
  flags_.clear();
  forced_.clear();
  versions_.clear();
  episodes_.clear();
  extras_.clear();
  used_catalogs_.clear();
}

void UnrollBuilder::Begin(const Row& row, const Step& step) {
  Clear();
  layout_ = row.block->layout;
  environment_ = row.environment();
  incarnation_ = row.incarnation();
  first_sequence_ = row.sequence();
  group_ = row.block->groups.empty() ? std::nullopt : std::optional(row.block->groups[row.index]);
  core_state_.assign(step.core_state.begin(), step.core_state.end());
  past_requests_.assign(step.past_requests.begin(), step.past_requests.end());
  Push(row, step);
}

void UnrollBuilder::Push(const Row& row, const Step& step) {
  PushBytes(row);
  if (shape_.candidates) catalogs_.push_back(CatalogIndex(row));
  PushLegal(row);
  actions_.push_back(step.action);
  log_probabilities_.push_back(step.log_probability);
  values_.push_back(step.value);
  rewards_.push_back(0);
  flags_.push_back(row.flags() & (kFirst | kFinal));
  forced_.push_back(step.forced ? 1 : 0);
  versions_.push_back(step.version);
  episodes_.push_back(static_cast<std::int64_t>(row.episode()));
}

void UnrollBuilder::PushBytes(const Row& row) {
  const RowBlock& block = *row.block;
  const auto slice = [&row](auto& to, const auto& from, std::size_t width) {
    const auto begin = from.begin() + static_cast<std::ptrdiff_t>(row.index * width);
    to.insert(to.end(), begin, begin + static_cast<std::ptrdiff_t>(width));
  };
  slice(observations_, block.observations, layout_->observation_bytes);
  slice(contents_, block.content_keys, shape_.content_count);
  slice(extras_, block.extras, layout_->extras_bytes);
}

std::int32_t UnrollBuilder::CatalogIndex(const Row& row) {
  const auto& candidates = row.block->candidates[row.index];
  for (std::size_t i = 0; i < used_catalogs_.size(); ++i) {
    if (used_catalogs_[i]->key == candidates->key) return static_cast<std::int32_t>(i);
  }
  used_catalogs_.push_back(candidates);
  return static_cast<std::int32_t>(used_catalogs_.size() - 1);
}

void UnrollBuilder::PushLegal(const Row& row) {
  if (shape_.candidates) return;
  const std::vector<std::uint8_t>& legal = row.block->legal;
  if (legal.empty() && legal_.empty()) return;
  const std::size_t n = shape_.action_count;
  legal_.resize(actions_.size() * n, 1);
  if (legal.empty()) {
    legal_.resize(legal_.size() + n, 1);
  } else {
    const auto begin = legal.begin() + static_cast<std::ptrdiff_t>(row.index * n);
    legal_.insert(legal_.end(), begin, begin + static_cast<std::ptrdiff_t>(n));
  }
}

void UnrollBuilder::PushZeros() {
  observations_.resize(observations_.size() + layout_->observation_bytes);
  contents_.resize(contents_.size() + shape_.content_count);
  extras_.resize(extras_.size() + layout_->extras_bytes);
  if (shape_.candidates) catalogs_.push_back(0);
  if (!legal_.empty()) legal_.resize(legal_.size() + shape_.action_count, 1);
  actions_.push_back(-1);
  log_probabilities_.push_back(0);
  values_.push_back(0);
  rewards_.push_back(0);
  flags_.push_back(0);
  forced_.push_back(0);
  versions_.push_back(versions_.back());
  episodes_.push_back(0);
}

Unroll UnrollBuilder::Finish() {
  SHOAL_CHECK(actions_.size() >= 2);
  const auto rows = static_cast<std::int64_t>(actions_.size());
  Unroll unroll;
  unroll.environment = environment_;
  unroll.incarnation = incarnation_;
  unroll.first_sequence = first_sequence_;
  unroll.length = static_cast<std::uint32_t>(rows - 1);
  AddObservations(unroll, rows);
  AddContents(unroll, rows);
  AddActions(unroll, rows);
  AddEnvironment(unroll, rows);
  AddUnrollColumns(unroll);
  Summarise(unroll);
  Clear();
  return unroll;
}

}  // namespace shoal::inference
