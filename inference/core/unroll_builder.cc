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
  if (open_.actions.empty()) return std::nullopt;
  open_.rewards.back() = reward;
  open_.flags.back() =
      static_cast<std::uint8_t>(open_.flags.back() | (flags & (kTerminated | kTruncated)));
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
  if (!open_.actions.empty() && layout_ != row.block->layout && *layout_ != *row.block->layout)
    Clear();
  if (open_.actions.empty()) {
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
  open_.Clear();
  past_requests_.clear();
  contents_.clear();
  catalogs_.clear();
  marks_.Clear();
  used_catalogs_.clear();
}

absl::Status UnrollBuilder::Resume(OpenUnroll saved, const Row& row, std::uint64_t incarnation) {
  const RowLayout& layout = *row.block->layout;
  const std::size_t rows = saved.actions.size();
  const std::size_t first_rows = cut_.overlap > 0 ? rows : std::min<std::size_t>(rows, 1);
  const bool discrete = !shape_.candidates && !shape_.box;
  const auto holds = [](const auto& values, std::size_t size) { return values.size() == size; };
  const bool fits =
      rows <= cut_.max_rows && holds(saved.core_states, first_rows * shape_.core_state_size) &&
      holds(saved.sequences, rows) && holds(saved.observations, rows * layout.observation_bytes) &&
      holds(saved.extras, rows * layout.extras_bytes) &&
      (saved.legal.empty() || (discrete && holds(saved.legal, rows * shape_.action_count))) &&
      holds(saved.box_actions, shape_.box ? rows * shape_.action_count : 0) &&
      holds(saved.log_probabilities, rows) && holds(saved.values, rows) &&
      holds(saved.action_values, rows) && holds(saved.rewards, rows) && holds(saved.flags, rows) &&
      holds(saved.forced, rows) && holds(saved.relabelled, rows) && holds(saved.versions, rows) &&
      holds(saved.episodes, rows) && saved.shared_rows <= rows;
  if (!fits) {
    return runtime::InvalidArgument("an open unroll of " + std::to_string(rows) +
                                    " rows is not of this policy and environment");
  }
  Clear();
  layout_ = row.block->layout;
  environment_ = row.environment();
  incarnation_ = incarnation;
  group_.reset();
  open_ = std::move(saved);
  return absl::OkStatus();
}

void UnrollBuilder::Begin(const Row& row, const Step& step) {
  Clear();
  layout_ = row.block->layout;
  environment_ = row.environment();
  incarnation_ = row.incarnation();
  group_ = row.block->groups.empty() ? std::nullopt : std::optional(row.block->groups[row.index]);
  if (GivesBytesAway()) {
    open_.observations.reserve((cut_.max_rows + 1) * layout_->observation_bytes);
  }
  Push(row, step);
}

void UnrollBuilder::Push(const Row& row, const Step& step) {
  if (open_.actions.empty() || cut_.overlap > 0) {
    AppendRow(open_.core_states, step.core_state, shape_.core_state_size);
    if (shape_.past_requests) {
      AppendRow(past_requests_, step.past_requests, shape_.embedding_size);
    }
  }
  open_.sequences.push_back(row.sequence());
  PushBytes(row);
  if (shape_.candidates) catalogs_.push_back(CatalogIndex(row.block->candidates[row.index]));
  if (shape_.candidate_marks > 0) marks_.Add(row.marks());
  PushLegal(row);
  open_.actions.push_back(step.action);
  if (shape_.box) AppendRow(open_.box_actions, step.box_action, shape_.action_count);
  open_.log_probabilities.push_back(step.log_probability);
  open_.values.push_back(step.value);
  open_.action_values.push_back(step.action_value);
  open_.rewards.push_back(0);
  open_.flags.push_back(row.flags() & (kFirst | kFinal));
  open_.forced.push_back(step.forced ? 1 : 0);
  open_.relabelled.push_back(row.relabelled() ? 1 : 0);
  open_.versions.push_back(step.version);
  open_.episodes.push_back(static_cast<std::int64_t>(row.episode()));
}

void UnrollBuilder::PushBytes(const Row& row) {
  const RowBlock& block = *row.block;
  const auto slice = [&row](auto& to, const auto& from, std::size_t width) {
    const auto part = from.subspan(row.index * width, width);
    to.insert(to.end(), part.begin(), part.end());
  };
  slice(open_.observations, std::as_bytes(std::span(block.observations)),
        layout_->observation_bytes);
  slice(contents_, std::span(block.content_keys), shape_.content_count);
  slice(open_.extras, std::span(block.extras), layout_->extras_bytes);
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
  if (legal.empty() && open_.legal.empty()) return;
  const std::size_t n = shape_.action_count;
  open_.legal.resize(open_.actions.size() * n, 1);
  if (legal.empty()) {
    open_.legal.resize(open_.legal.size() + n, 1);
  } else {
    const auto begin = legal.begin() + static_cast<std::ptrdiff_t>(row.index * n);
    open_.legal.insert(open_.legal.end(), begin, begin + static_cast<std::ptrdiff_t>(n));
  }
}

void UnrollBuilder::PushZeros() {
  open_.sequences.push_back(open_.sequences.back());
  open_.observations.resize(open_.observations.size() + layout_->observation_bytes);
  contents_.resize(contents_.size() + shape_.content_count);
  open_.extras.resize(open_.extras.size() + layout_->extras_bytes);
  if (shape_.candidates) catalogs_.push_back(0);
  if (shape_.candidate_marks > 0) marks_.Add({});
  if (!open_.legal.empty()) open_.legal.resize(open_.legal.size() + shape_.action_count, 1);
  open_.actions.push_back(-1);
  if (shape_.box) AppendRow(open_.box_actions, {}, shape_.action_count);
  open_.log_probabilities.push_back(0);
  open_.values.push_back(0);
  open_.action_values.push_back(0);
  open_.rewards.push_back(0);
  open_.flags.push_back(0);
  open_.forced.push_back(0);
  open_.relabelled.push_back(0);
  open_.versions.push_back(open_.versions.back());
  open_.episodes.push_back(0);
}

std::size_t UnrollBuilder::NextBegin() const {
  const std::size_t last = open_.actions.size() - 1;
  std::size_t begin = last;
  while (begin > last - cut_.overlap && (open_.flags[begin] & kFirst) == 0) --begin;
  return begin;
}

void UnrollBuilder::Keep(std::size_t begin) {
  open_.shared_with = open_.sequences.front();
  open_.shared_rows = open_.actions.size() - begin;
  const std::size_t rows = open_.actions.size();
  DropFront(open_.core_states, begin * shape_.core_state_size);
  if (shape_.past_requests) DropFront(past_requests_, begin * shape_.embedding_size);
  DropFront(open_.observations, begin * layout_->observation_bytes);
  DropFront(contents_, begin * shape_.content_count);
  DropFront(open_.extras, begin * layout_->extras_bytes);
  if (!open_.legal.empty()) DropFront(open_.legal, begin * shape_.action_count);
  DropFront(open_.sequences, begin);
  DropFront(open_.actions, begin);
  if (shape_.box) DropFront(open_.box_actions, begin * shape_.action_count);
  DropFront(open_.log_probabilities, begin);
  DropFront(open_.values, begin);
  DropFront(open_.action_values, begin);
  DropFront(open_.rewards, begin);
  DropFront(open_.flags, begin);
  DropFront(open_.forced, begin);
  DropFront(open_.relabelled, begin);
  DropFront(open_.versions, begin);
  DropFront(open_.episodes, begin);
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

Unroll UnrollBuilder::Finish() {
  SHOAL_CHECK(open_.actions.size() >= 2);
  const auto rows = static_cast<std::int64_t>(open_.actions.size());
  Unroll unroll;
  unroll.environment = environment_;
  unroll.incarnation = incarnation_;
  unroll.first_sequence = open_.sequences.front();
  unroll.shared_rows = static_cast<std::uint32_t>(open_.shared_rows);
  unroll.shared_with = open_.shared_with;
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

void UnrollBuilder::AddObservations(Unroll& unroll, std::int64_t rows) {
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
  if (GivesBytesAway()) {
    const RowColumn& only = layout_->observations.front();
    unroll.step_columns.push_back(
        {"observation/" + only.name,
         Tensor(only.dtype, WithRows(rows, only.shape), std::exchange(open_.observations, {}))});
  } else {
    add("observation/", layout_->observations, open_.observations, layout_->observation_bytes);
  }
  add("extras/", layout_->extras, open_.extras, layout_->extras_bytes);
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
  if (!open_.legal.empty()) {
    columns.push_back(
        {"legal", Booleans({rows, static_cast<std::int64_t>(shape_.action_count)}, open_.legal)});
  }
  if (shape_.box) {
    Add(columns, "action", {steps, static_cast<std::int64_t>(shape_.action_count)},
        open_.box_actions);
  } else {
    Add(columns, "action", {steps}, open_.actions);
  }
  Add(columns, "behaviour_log_probability", {steps}, open_.log_probabilities);
  Add(columns, "value", {rows}, open_.values);
  if (std::find(open_.forced.begin(), open_.forced.end(), 1) != open_.forced.end()) {
    columns.push_back({"forced", Booleans({steps}, open_.forced)});
  }
  // The row that bootstraps is no step of this unroll.
  if (std::find(open_.relabelled.begin(), open_.relabelled.end() - 1, 1) !=
      open_.relabelled.end() - 1) {
    columns.push_back({"relabelled", Booleans({steps}, open_.relabelled)});
  }
  std::vector<std::int64_t> epochs;
  std::vector<std::int64_t> version_steps;
  for (const parameters::Version& version : open_.versions) {
    epochs.push_back(static_cast<std::int64_t>(version.epoch));
    version_steps.push_back(static_cast<std::int64_t>(version.step));
  }
  Add(columns, "policy_epoch", {steps}, epochs);
  Add(columns, "policy_step", {steps}, version_steps);
}

void UnrollBuilder::AddEnvironment(Unroll& unroll, std::int64_t rows) const {
  Add(unroll.step_columns, "reward", {rows - 1}, open_.rewards);
  Add(unroll.step_columns, "flags", {rows}, open_.flags);
  Add(unroll.step_columns, "episode_id", {rows}, open_.episodes);
}

void UnrollBuilder::AddUnrollColumns(Unroll& unroll) const {
  if (shape_.core_state_size > 0) {
    Add(unroll.unroll_columns, "core/state", {static_cast<std::int64_t>(shape_.core_state_size)},
        open_.core_states);
  }
  if (shape_.past_requests) {
    Add(unroll.unroll_columns, "past_requests", {static_cast<std::int64_t>(shape_.embedding_size)},
        past_requests_);
  }
  if (group_) {
    Add(unroll.unroll_columns, "group_id", {1},
        std::vector<std::int64_t>{static_cast<std::int64_t>(*group_)});
  }
  if (open_.shared_rows > 1) {
    Add(unroll.unroll_columns, "overlap", {1},
        std::vector<std::int64_t>{static_cast<std::int64_t>(open_.shared_rows - 1)});
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
  const auto end = open_.versions.begin() + unroll.length;
  const auto [oldest, newest] = std::minmax_element(open_.versions.begin(), end);
  unroll.oldest = *oldest;
  unroll.newest = *newest;
  for (std::size_t row = 0; row < unroll.length; ++row) {
    const bool final_row = (open_.flags[row] & kFinal) != 0;
    const bool lost = (open_.flags[row] & kTruncated) != 0 && (open_.flags[row + 1] & kFinal) == 0;
    if (final_row || lost) continue;
    ++unroll.steps;
    if (open_.relabelled[row] != 0 || row + 1 < open_.shared_rows) ++unroll.uncounted_steps;
  }
  if (!shape_.action_values) return;
  const std::size_t length = unroll.length;
  unroll.priority = InitialPriority({.reward = std::span(open_.rewards).first(length),
                                     .action_value = std::span(open_.action_values).first(length),
                                     .value = std::span(open_.values).first(length + 1),
                                     .flags = std::span(open_.flags).first(length + 1)},
                                    priority_);
}

}  // namespace shoal::inference
