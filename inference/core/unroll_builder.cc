// SPDX-License-Identifier: Apache-2.0
#include "inference/core/unroll_builder.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <unordered_set>
#include <utility>

#include "platform/runtime/check.h"

namespace shoal::inference {
namespace {

template <typename T>
void DropFront(std::vector<T>& values, std::size_t count) {
  values.erase(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(count));
}

// Appends a row of `width` numbers, with zeros for those that are not given.
void AppendRow(std::vector<float>& rows, std::span<const float> row, std::size_t width) {
  const std::size_t size = rows.size() + width;
  rows.insert(rows.end(), row.begin(), row.end());
  rows.resize(size);
}

}  // namespace

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
  Unroll unroll = Finish();
  Clear();
  return unroll;
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
  if (final_row) {
    Clear();
  } else if (cut_.overlap == 0) {
    Begin(row, step);
  } else {
    Keep(NextBegin());
  }
  return unroll;
}

void UnrollBuilder::Clear() {
  shared_rows_ = 0;
  shared_with_ = 0;
  core_states_.clear();
  past_requests_.clear();
  sequences_.clear();
  observations_.clear();
  contents_.clear();
  catalogs_.clear();
  marks_.Clear();
  legal_.clear();
  actions_.clear();
  box_actions_.clear();
  log_probabilities_.clear();
  values_.clear();
  action_values_.clear();
  rewards_.clear();
  flags_.clear();
  forced_.clear();
  relabelled_.clear();
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
  group_ = row.block->groups.empty() ? std::nullopt : std::optional(row.block->groups[row.index]);
  Push(row, step);
}

void UnrollBuilder::Push(const Row& row, const Step& step) {
  if (actions_.empty() || cut_.overlap > 0) {
    AppendRow(core_states_, step.core_state, shape_.core_state_size);
    if (shape_.past_requests) {
      AppendRow(past_requests_, step.past_requests, shape_.embedding_size);
    }
  }
  sequences_.push_back(row.sequence());
  PushBytes(row);
  if (shape_.candidates) catalogs_.push_back(CatalogIndex(row.block->candidates[row.index]));
  if (shape_.candidate_marks > 0) marks_.Add(row.marks());
  PushLegal(row);
  actions_.push_back(step.action);
  if (shape_.box) AppendRow(box_actions_, step.box_action, shape_.action_count);
  log_probabilities_.push_back(step.log_probability);
  values_.push_back(step.value);
  action_values_.push_back(step.action_value);
  rewards_.push_back(0);
  flags_.push_back(row.flags() & (kFirst | kFinal));
  forced_.push_back(step.forced ? 1 : 0);
  relabelled_.push_back(row.relabelled() ? 1 : 0);
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

std::int32_t UnrollBuilder::CatalogIndex(const std::shared_ptr<const Candidates>& candidates) {
  for (std::size_t i = 0; i < used_catalogs_.size(); ++i) {
    if (used_catalogs_[i]->key == candidates->key) return static_cast<std::int32_t>(i);
  }
  used_catalogs_.push_back(candidates);
  return static_cast<std::int32_t>(used_catalogs_.size() - 1);
}

void UnrollBuilder::PushLegal(const Row& row) {
  if (shape_.candidates || shape_.box) return;
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
  sequences_.push_back(sequences_.back());
  observations_.resize(observations_.size() + layout_->observation_bytes);
  contents_.resize(contents_.size() + shape_.content_count);
  extras_.resize(extras_.size() + layout_->extras_bytes);
  if (shape_.candidates) catalogs_.push_back(0);
  if (shape_.candidate_marks > 0) marks_.Add({});
  if (!legal_.empty()) legal_.resize(legal_.size() + shape_.action_count, 1);
  actions_.push_back(-1);
  if (shape_.box) AppendRow(box_actions_, {}, shape_.action_count);
  log_probabilities_.push_back(0);
  values_.push_back(0);
  action_values_.push_back(0);
  rewards_.push_back(0);
  flags_.push_back(0);
  forced_.push_back(0);
  relabelled_.push_back(0);
  versions_.push_back(versions_.back());
  episodes_.push_back(0);
}

std::size_t UnrollBuilder::NextBegin() const {
  const std::size_t last = actions_.size() - 1;
  std::size_t begin = last;
  while (begin > last - cut_.overlap && (flags_[begin] & kFirst) == 0) --begin;
  return begin;
}

void UnrollBuilder::Keep(std::size_t begin) {
  shared_with_ = sequences_.front();
  shared_rows_ = actions_.size() - begin;
  const std::size_t rows = actions_.size();
  DropFront(core_states_, begin * shape_.core_state_size);
  if (shape_.past_requests) DropFront(past_requests_, begin * shape_.embedding_size);
  DropFront(observations_, begin * layout_->observation_bytes);
  DropFront(contents_, begin * shape_.content_count);
  DropFront(extras_, begin * layout_->extras_bytes);
  if (!legal_.empty()) DropFront(legal_, begin * shape_.action_count);
  DropFront(sequences_, begin);
  DropFront(actions_, begin);
  if (shape_.box) DropFront(box_actions_, begin * shape_.action_count);
  DropFront(log_probabilities_, begin);
  DropFront(values_, begin);
  DropFront(action_values_, begin);
  DropFront(rewards_, begin);
  DropFront(flags_, begin);
  DropFront(forced_, begin);
  DropFront(relabelled_, begin);
  DropFront(versions_, begin);
  DropFront(episodes_, begin);
  if (shape_.candidate_marks > 0) {
    const model::MarkRows before = std::exchange(marks_, {});
    for (std::size_t row = begin; row < rows; ++row) marks_.Add(before.Row(row));
  }
  if (!shape_.candidates) return;
  DropFront(catalogs_, begin);
  const auto before = std::exchange(used_catalogs_, {});
  for (std::int32_t& catalog : catalogs_) {
    catalog = CatalogIndex(before[static_cast<std::size_t>(catalog)]);
  }
}

Unroll UnrollBuilder::Finish() const {
  SHOAL_CHECK(actions_.size() >= 2);
  const auto rows = static_cast<std::int64_t>(actions_.size());
  Unroll unroll;
  unroll.environment = environment_;
  unroll.incarnation = incarnation_;
  unroll.first_sequence = sequences_.front();
  unroll.shared_rows = static_cast<std::uint32_t>(shared_rows_);
  unroll.shared_with = shared_with_;
  unroll.length = static_cast<std::uint32_t>(rows - 1);
  AddObservations(unroll, rows);
  AddContents(unroll, rows);
  AddActions(unroll, rows);
  AddEnvironment(unroll, rows);
  AddUnrollColumns(unroll);
  if (shape_.candidate_marks > 0) AddMarks(unroll, rows);
  Summarise(unroll);
  return unroll;
}

namespace {

using runtime::DType;
using runtime::Tensor;

template <typename T>
void Add(std::vector<UnrollColumn>& columns, std::string name, runtime::Shape shape,
         const std::vector<T>& values) {
  Tensor tensor = Tensor::Of<T>(
      shape,
      std::span<const T>(values).first(static_cast<std::size_t>(*runtime::CountElements(shape))));
  columns.push_back({std::move(name), std::move(tensor)});
}

// A part of each row: `width` bytes from `offset` on, out of every `stride` bytes.
struct Part {
  std::size_t offset = 0;
  std::size_t width = 0;
  std::size_t stride = 0;
};

Tensor Gather(DType dtype, runtime::Shape shape, const std::byte* from, const Part& part) {
  const auto rows = static_cast<std::size_t>(shape.front());
  Tensor tensor(dtype, std::move(shape));
  for (std::size_t row = 0; row < rows && part.width > 0; ++row) {
    std::memcpy(tensor.mutable_bytes().data() + row * part.width,
                from + row * part.stride + part.offset, part.width);
  }
  return tensor;
}

runtime::Shape WithRows(std::int64_t rows, const runtime::Shape& shape) {
  runtime::Shape whole = {rows};
  whole.insert(whole.end(), shape.begin(), shape.end());
  return whole;
}

Tensor Booleans(runtime::Shape shape, const std::vector<std::uint8_t>& values) {
  Tensor tensor(DType::kBool, std::move(shape));
  std::memcpy(tensor.mutable_bytes().data(), values.data(), tensor.bytes().size());
  return tensor;
}

}  // namespace

void UnrollBuilder::AddObservations(Unroll& unroll, std::int64_t rows) const {
  const auto add = [&](const char* prefix, const std::vector<RowColumn>& columns, const auto& bytes,
                       std::size_t stride) {
    Part part{.stride = stride};
    for (const RowColumn& column : columns) {
      part.width = column.bytes;
      unroll.step_columns.push_back(
          {prefix + column.name,
           Gather(column.dtype, WithRows(rows, column.shape), bytes.data(), part)});
      part.offset += part.width;
    }
  };
  add("observation/", layout_->observations, observations_, layout_->observation_bytes);
  add("extras/", layout_->extras, extras_, layout_->extras_bytes);
}

void UnrollBuilder::AddContents(Unroll& unroll, std::int64_t rows) const {
  constexpr std::size_t kBytes = content::ContentKey::kBytes;
  const auto* bytes = reinterpret_cast<const std::byte*>(contents_.data());
  for (std::size_t field = 0; field < shape_.content_count; ++field) {
    const Part part{field * kBytes, kBytes, shape_.content_count * kBytes};
    unroll.step_columns.push_back(
        {"content/" + layout_->content_fields[field],
         Gather(DType::kUInt8, {rows, static_cast<std::int64_t>(kBytes)}, bytes, part)});
  }
  std::unordered_set<content::ContentKey> seen;
  for (const content::ContentKey& key : contents_) {
    if (!key.IsZero() && seen.insert(key).second) unroll.content_keys.push_back(key);
  }
  if (!shape_.candidates) return;
  Add(unroll.step_columns, "catalog", {rows}, catalogs_);
  for (const auto& candidates : used_catalogs_) unroll.catalog_keys.push_back(candidates->key);
  for (const auto& candidates : used_catalogs_) {
    if (!candidates->base) continue;
    const auto known =
        std::find(unroll.catalog_keys.begin(), unroll.catalog_keys.end(), candidates->base->key);
    if (known == unroll.catalog_keys.end()) unroll.catalog_keys.push_back(candidates->base->key);
  }
}

void UnrollBuilder::AddActions(Unroll& unroll, std::int64_t rows) const {
  const std::int64_t steps = rows - 1;
  auto& columns = unroll.step_columns;
  if (!legal_.empty()) {
    columns.push_back(
        {"legal", Booleans({rows, static_cast<std::int64_t>(shape_.action_count)}, legal_)});
  }
  if (shape_.box) {
    Add(columns, "action", {steps, static_cast<std::int64_t>(shape_.action_count)}, box_actions_);
  } else {
    Add(columns, "action", {steps}, actions_);
  }
  Add(columns, "behaviour_log_probability", {steps}, log_probabilities_);
  Add(columns, "value", {rows}, values_);
  if (std::find(forced_.begin(), forced_.end(), 1) != forced_.end()) {
    columns.push_back({"forced", Booleans({steps}, forced_)});
  }
  // The row that bootstraps is no step of this unroll.
  if (std::find(relabelled_.begin(), relabelled_.end() - 1, 1) != relabelled_.end() - 1) {
    columns.push_back({"relabelled", Booleans({steps}, relabelled_)});
  }
  std::vector<std::int64_t> epochs;
  std::vector<std::int64_t> version_steps;
  for (const parameters::Version& version : versions_) {
    epochs.push_back(static_cast<std::int64_t>(version.epoch));
    version_steps.push_back(static_cast<std::int64_t>(version.step));
  }
  Add(columns, "policy_epoch", {steps}, epochs);
  Add(columns, "policy_step", {steps}, version_steps);
}

void UnrollBuilder::AddEnvironment(Unroll& unroll, std::int64_t rows) const {
  Add(unroll.step_columns, "reward", {rows - 1}, rewards_);
  Add(unroll.step_columns, "flags", {rows}, flags_);
  Add(unroll.step_columns, "episode_id", {rows}, episodes_);
}

void UnrollBuilder::AddUnrollColumns(Unroll& unroll) const {
  if (shape_.core_state_size > 0) {
    Add(unroll.unroll_columns, "core/state", {static_cast<std::int64_t>(shape_.core_state_size)},
        core_states_);
  }
  if (shape_.past_requests) {
    Add(unroll.unroll_columns, "past_requests", {static_cast<std::int64_t>(shape_.embedding_size)},
        past_requests_);
  }
  if (group_) {
    Add(unroll.unroll_columns, "group_id", {1},
        std::vector<std::int64_t>{static_cast<std::int64_t>(*group_)});
  }
  if (shared_rows_ > 1) {
    Add(unroll.unroll_columns, "overlap", {1},
        std::vector<std::int64_t>{static_cast<std::int64_t>(shared_rows_ - 1)});
  }
  if (shape_.policy_id != 0) {
    Add(unroll.unroll_columns, "policy_id", {1}, std::vector<std::int64_t>{shape_.policy_id});
  }
}

void UnrollBuilder::AddMarks(Unroll& unroll, std::int64_t rows) const {
  std::vector<std::int32_t> counts;
  std::vector<std::int32_t> candidates;
  std::vector<std::int32_t> bits;
  for (std::size_t row = 0; row < marks_.rows(); ++row) {
    counts.push_back(static_cast<std::int32_t>(marks_.Row(row).size()));
  }
  for (const model::CandidateMark& mark : marks_.marks) {
    candidates.push_back(static_cast<std::int32_t>(mark.candidate));
    bits.push_back(static_cast<std::int32_t>(mark.bits));
  }
  const auto count = static_cast<std::int64_t>(candidates.size());
  Add(unroll.unroll_columns, "marks/count", {rows}, counts);
  Add(unroll.unroll_columns, "marks/candidate", {count}, candidates);
  Add(unroll.unroll_columns, "marks/bits", {count}, bits);
}

void UnrollBuilder::Summarise(Unroll& unroll) const {
  const auto end = versions_.begin() + unroll.length;
  const auto [oldest, newest] = std::minmax_element(versions_.begin(), end);
  unroll.oldest = *oldest;
  unroll.newest = *newest;
  for (std::size_t row = 0; row < unroll.length; ++row) {
    const bool final_row = (flags_[row] & kFinal) != 0;
    const bool lost = (flags_[row] & kTruncated) != 0 && (flags_[row + 1] & kFinal) == 0;
    if (final_row || lost) continue;
    ++unroll.steps;
    if (relabelled_[row] != 0 || row + 1 < shared_rows_) ++unroll.uncounted_steps;
  }
  if (!shape_.action_values) return;
  const std::size_t length = unroll.length;
  unroll.priority = InitialPriority({.reward = std::span(rewards_).first(length),
                                     .action_value = std::span(action_values_).first(length),
                                     .value = std::span(values_).first(length + 1),
                                     .flags = std::span(flags_).first(length + 1)},
                                    priority_);
}

}  // namespace shoal::inference
