// SPDX-License-Identifier: Apache-2.0
#include "rl/model/policy_inputs.h"

#include <string>

namespace shoal::model {
namespace {

absl::Status CheckSize(const char* name, std::size_t size, std::int64_t expected) {
  if (size == static_cast<std::size_t>(expected)) return absl::OkStatus();
  return runtime::InvalidArgument(std::string("policy inputs: ") + name + " has " +
                                  std::to_string(size) + " elements instead of " +
                                  std::to_string(expected));
}

absl::Status BadRow(const char* what, std::size_t row) {
  return runtime::InvalidArgument(std::string("policy inputs: ") + what + " of row " +
                                  std::to_string(row) + " is out of range");
}

absl::Status CheckRow(const PolicySpec& spec, const PolicyInputs& inputs, std::size_t row) {
  if (!(inputs.draw[row] >= 0 && inputs.draw[row] < 1)) return BadRow("draw", row);
  std::int64_t actions = spec.action_count;
  if (spec.has_candidates()) {
    const std::int32_t table = inputs.table[row];
    if (inputs.choice[row] == Choice::kValueOnly) return absl::OkStatus();
    if (table < 0 || static_cast<std::size_t>(table) >= inputs.tables.size()) {
      return BadRow("table", row);
    }
    actions = inputs.tables[static_cast<std::size_t>(table)]->size();
  }
  switch (inputs.choice[row]) {
    case Choice::kForced:
      if (row >= inputs.forced_action.size() || inputs.forced_action[row] < 0 ||
          inputs.forced_action[row] >= actions) {
        return BadRow("forced_action", row);
      }
      return absl::OkStatus();
    case Choice::kSimilarity:
      if (!spec.has_candidates() || row >= inputs.similarity_rank.size() ||
          inputs.similarity_rank[row] < 0) {
        return BadRow("similarity_rank", row);
      }
      return absl::OkStatus();
    default:
      return absl::OkStatus();
  }
}

}  // namespace

absl::Status CheckInputs(const PolicySpec& spec, const PolicyInputs& inputs) {
  const std::int64_t rows = inputs.rows;
  if (rows < 0) return runtime::InvalidArgument("policy inputs: negative number of rows");
  const std::int64_t size = spec.embedding_size;
  SHOAL_RETURN_IF_ERROR(
      CheckSize("observation", inputs.observation.size(), rows * spec.observation_size));
  SHOAL_RETURN_IF_ERROR(
      CheckSize("contents", inputs.contents.size(), rows * spec.content_count() * size));
  if (spec.past_requests) {
    SHOAL_RETURN_IF_ERROR(CheckSize("past_requests", inputs.past_requests.size(), rows * size));
  }
  SHOAL_RETURN_IF_ERROR(
      CheckSize("core_state", inputs.core_state.size(), rows * spec.core_state_size()));
  SHOAL_RETURN_IF_ERROR(CheckSize("first", inputs.first.size(), rows));
  SHOAL_RETURN_IF_ERROR(CheckSize("choice", inputs.choice.size(), rows));
  SHOAL_RETURN_IF_ERROR(CheckSize("draw", inputs.draw.size(), rows));
  if (spec.has_candidates()) {
    SHOAL_RETURN_IF_ERROR(CheckSize("table", inputs.table.size(), rows));
    SHOAL_RETURN_IF_ERROR(CheckSize("goal_keys", inputs.goal_keys.size(), rows * 16));
    for (const auto& table : inputs.tables) {
      if (table == nullptr || table->embedding_size() != size) {
        return runtime::InvalidArgument("policy inputs: a table is null or of another dimension");
      }
    }
  } else if (!inputs.legal.empty()) {
    SHOAL_RETURN_IF_ERROR(CheckSize("legal", inputs.legal.size(), rows * spec.action_count));
  }
  for (std::size_t row = 0; row < static_cast<std::size_t>(rows); ++row) {
    SHOAL_RETURN_IF_ERROR(CheckRow(spec, inputs, row));
  }
  return absl::OkStatus();
}

}  // namespace shoal::model
