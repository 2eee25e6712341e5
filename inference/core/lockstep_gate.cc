// SPDX-License-Identifier: Apache-2.0
#include "inference/core/lockstep_gate.h"

#include <algorithm>
#include <utility>

namespace shoal::inference {

void LockstepGate::Add(Row row) {
  Rows& rows = held_[row.environment()];
  rows.insert_or_assign(row.sequence(), std::move(row));
}

bool LockstepGate::Asks(const Rows& rows) {
  return std::any_of(rows.begin(), rows.end(),
                     [](const auto& entry) { return entry.second.acts(); });
}

bool LockstepGate::HasFinished(std::uint64_t environment) const {
  const auto delivered = delivered_.find(environment);
  return delivered != delivered_.end() && delivered->second >= share_;
}

void LockstepGate::BeginRound(std::size_t share) {
  share_ = share;
  delivered_.clear();
  finished_ = 0;
}

std::vector<Row> LockstepGate::TakeStep(const parameters::Version& current) {
  if (held_.size() < environments_) return {};
  if (RoundOver()) {
    if (current <= acted_) return {};
    BeginRound(unrolls_);
  }
  for (const auto& [environment, rows] : held_) {
    if (!HasFinished(environment) && !Asks(rows)) return {};
  }
  std::vector<Row> step;
  for (auto& [environment, rows] : held_) {
    if (HasFinished(environment)) continue;
    for (auto& [sequence, row] : rows) step.push_back(std::move(row));
    rows.clear();
  }
  acted_ = current;
  return step;
}

std::vector<Row> LockstepGate::StartAfresh() {
  std::vector<Row> rows;
  for (auto& [environment, held] : held_) {
    for (auto& [sequence, row] : held) rows.push_back(std::move(row));
  }
  held_.clear();
  BeginRound(first_unrolls_);
  acted_ = {};
  return rows;
}

std::size_t LockstepGate::size() const {
  std::size_t rows = 0;
  for (const auto& [environment, held] : held_) rows += held.size();
  return rows;
}

}  // namespace shoal::inference
