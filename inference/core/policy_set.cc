// SPDX-License-Identifier: Apache-2.0
#include "inference/core/policy_set.h"

#include <iterator>
#include <string>
#include <utility>

namespace shoal::inference {

void PolicySet::Put(VersionedPolicy policy) {
  const runtime::MutexLock lock(mutex_);
  versions_[policy.version].policy = std::move(policy.policy);
  EvictLocked();
}

VersionedPolicy PolicySet::current() const {
  const runtime::MutexLock lock(mutex_);
  if (versions_.empty()) return {};
  const auto newest = std::prev(versions_.end());
  return {newest->first, newest->second.policy};
}

absl::StatusOr<VersionedPolicy> PolicySet::Select(const PolicySelector& selector) {
  const runtime::MutexLock lock(mutex_);
  if (versions_.empty()) return runtime::NotFound("no parameters yet");
  auto found = std::prev(versions_.end());
  if (selector.kind == PolicySelector::Kind::kInitial) found = versions_.begin();
  if (selector.kind == PolicySelector::Kind::kPinned) {
    found = versions_.find(selector.version);
    if (found == versions_.end()) {
      return runtime::NotFound("parameters of version " + std::to_string(selector.version.epoch) +
                               "." + std::to_string(selector.version.step) + " are not here");
    }
    found->second.asked = clock_.Now();
  }
  return VersionedPolicy{found->first, found->second.policy};
}

void PolicySet::EvictLocked() {
  if (versions_.size() <= retained_ + 1) return;
  const runtime::TimePoint now = clock_.Now();
  std::size_t extra = versions_.size() - retained_ - 1;
  for (auto entry = std::next(versions_.begin()); extra > 0; --extra) {
    const bool pinned =
        entry->second.asked != runtime::TimePoint::min() && now - entry->second.asked < kPinTime;
    entry = pinned ? std::next(entry) : versions_.erase(entry);
  }
}

}  // namespace shoal::inference
