// SPDX-License-Identifier: Apache-2.0
#include "rl/algorithms/unroll_batch.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>

namespace shoal::algorithms {
namespace {

absl::Status Bad(const std::string& what) {
  return runtime::InvalidArgument("unroll batch: " + what);
}

absl::Status CheckSize(const char* name, std::size_t size, std::int64_t expected) {
  if (size == static_cast<std::size_t>(expected)) return absl::OkStatus();
  return Bad(std::string(name) + " has " + std::to_string(size) + " elements instead of " +
             std::to_string(expected));
}

absl::Status CheckFinite(const char* name, std::span<const float> values) {
  const bool finite =
      std::all_of(values.begin(), values.end(), [](float x) { return std::isfinite(x); });
  return finite ? absl::OkStatus() : Bad(std::string(name) + " holds something that is not finite");
}

absl::Status CheckIndices(const char* name, std::span<const std::int32_t> indices, std::int64_t min,
                          std::int64_t end) {
  for (const std::int32_t index : indices) {
    if (index < min || index >= end) {
      return Bad(std::string(name) + " holds " + std::to_string(index) + ", which is not in " +
                 std::to_string(min) + " to " + std::to_string(end - 1));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckSizes(const UnrollBatch& batch, const model::PolicySpec& spec) {
  const std::int64_t rows = batch.length * batch.columns;
  const std::int64_t all = rows + batch.columns;
  const auto size = [](const auto& vector) { return vector.size(); };
  SHOAL_RETURN_IF_ERROR(
      CheckSize("observation", size(batch.observation), all * spec.number_count()));
  SHOAL_RETURN_IF_ERROR(CheckSize("frames", size(batch.frames), all * spec.frame_size()));
  SHOAL_RETURN_IF_ERROR(
      CheckSize("content_index", size(batch.content_index), all * spec.content_count()));
  if (batch.embeddings.size() % static_cast<std::size_t>(spec.embedding_size) != 0) {
    return Bad("embeddings is not a whole number of rows");
  }
  if (spec.past_requests) {
    SHOAL_RETURN_IF_ERROR(
        CheckSize("past_requests", size(batch.past_requests), batch.columns * spec.embedding_size));
  }
  SHOAL_RETURN_IF_ERROR(
      CheckSize("core_state", size(batch.core_state), batch.columns * spec.core_state_size()));
  SHOAL_RETURN_IF_ERROR(CheckSize("action", size(batch.action), spec.has_box() ? 0 : rows));
  SHOAL_RETURN_IF_ERROR(CheckSize("box_action", size(batch.box_action),
                                  spec.has_box() ? rows * spec.action_count : 0));
  SHOAL_RETURN_IF_ERROR(
      CheckSize("behaviour_log_probability", size(batch.behaviour_log_probability), rows));
  SHOAL_RETURN_IF_ERROR(CheckSize("reward", size(batch.reward), rows));
  SHOAL_RETURN_IF_ERROR(CheckSize("value", size(batch.value), all));
  SHOAL_RETURN_IF_ERROR(CheckSize("flags", size(batch.flags), all));
  SHOAL_RETURN_IF_ERROR(CheckSize("weight", size(batch.weight), rows));
  if (!batch.staleness.empty()) {
    SHOAL_RETURN_IF_ERROR(CheckSize("staleness", size(batch.staleness), rows));
  }
  if (!batch.importance.empty()) {
    SHOAL_RETURN_IF_ERROR(CheckSize("importance", size(batch.importance), batch.columns));
    SHOAL_RETURN_IF_ERROR(CheckFinite("importance", batch.importance));
  }
  if (!batch.group.empty()) {
    SHOAL_RETURN_IF_ERROR(CheckSize("group", size(batch.group), batch.columns));
  }
  if (!batch.lengths.empty()) {
    SHOAL_RETURN_IF_ERROR(CheckSize("lengths", size(batch.lengths), batch.columns));
  }
  if (spec.candidate_marks > 0) {
    SHOAL_RETURN_IF_ERROR(CheckSize("marks", batch.marks.rows(), all));
  }
  if (spec.has_candidates()) return CheckSize("catalog", size(batch.catalog), all);
  if (batch.legal.empty()) return absl::OkStatus();
  return CheckSize("legal", size(batch.legal), all * spec.action_count);
}

absl::Status CheckMarks(const UnrollBatch& batch, const model::PolicySpec& spec) {
  for (std::size_t row = 0; row < batch.marks.rows(); ++row) {
    const bool evaluated =
        spec.action_values || (row < batch.weight.size() && batch.weight[row] > 0);
    const std::int64_t candidates =
        evaluated ? batch.tables[static_cast<std::size_t>(batch.catalog[row])]->size()
                  : model::kAnyCandidate;
    if (!model::AreValid(batch.marks.Row(row), candidates, spec.candidate_marks)) {
      return Bad("marks of row " + std::to_string(row) + " are out of order or range");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckActions(const UnrollBatch& batch, const model::PolicySpec& spec) {
  for (const float number : batch.box_action) {
    if (!std::isfinite(number)) return Bad("box_action is not finite");
    if (!spec.has_gaussian() && std::abs(number) > 1) return Bad("box_action is not in [-1, 1]");
  }
  for (const float weight : batch.weight) {
    if (!(weight >= 0)) return Bad("weight is negative");
  }
  for (std::size_t row = 0; row < batch.action.size(); ++row) {
    const bool acts = batch.weight[row] > 0 || (spec.action_values && batch.action[row] >= 0);
    if (!acts) continue;
    std::int64_t actions = spec.action_count;
    if (spec.has_candidates()) {
      actions = batch.tables[static_cast<std::size_t>(batch.catalog[row])]->size();
    }
    if (batch.action[row] < 0 || batch.action[row] >= actions) {
      return Bad("action " + std::to_string(batch.action[row]) + " of " + std::to_string(actions));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status UnrollBatch::Validate(const model::PolicySpec& spec) const {
  constexpr std::int64_t kMaxRows = std::int64_t{1} << 31;
  if (length < 1 || columns < 0 || length > kMaxRows || columns > kMaxRows / (length + 1)) {
    return Bad("length " + std::to_string(length) + ", columns " + std::to_string(columns));
  }
  SHOAL_RETURN_IF_ERROR(CheckSizes(*this, spec));
  for (const std::int64_t cut : lengths) {
    if (cut < 1 || cut > length) return Bad("lengths holds " + std::to_string(cut));
  }
  const auto contents = static_cast<std::int64_t>(embeddings.size()) / spec.embedding_size;
  SHOAL_RETURN_IF_ERROR(CheckIndices("content_index", content_index, -1, contents));
  if (spec.has_candidates()) {
    for (const auto& table : tables) {
      if (table == nullptr || table->embedding_size() != spec.embedding_size) {
        return Bad("tables holds a null or one of another dimension");
      }
    }
    SHOAL_RETURN_IF_ERROR(
        CheckIndices("catalog", catalog, 0, static_cast<std::int64_t>(tables.size())));
    SHOAL_RETURN_IF_ERROR(CheckMarks(*this, spec));
  }
  SHOAL_RETURN_IF_ERROR(CheckFinite("observation", observation));
  SHOAL_RETURN_IF_ERROR(CheckFinite("past_requests", past_requests));
  SHOAL_RETURN_IF_ERROR(CheckFinite("core_state", core_state));
  SHOAL_RETURN_IF_ERROR(CheckFinite("behaviour_log_probability", behaviour_log_probability));
  SHOAL_RETURN_IF_ERROR(CheckFinite("reward", reward));
  SHOAL_RETURN_IF_ERROR(CheckFinite("value", value));
  SHOAL_RETURN_IF_ERROR(CheckFinite("weight", weight));
  return CheckActions(*this, spec);
}

}  // namespace shoal::algorithms
