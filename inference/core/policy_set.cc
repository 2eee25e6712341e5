// SPDX-License-Identifier: Apache-2.0
#include "inference/core/policy_set.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

namespace shoal::inference {

void PolicySet::Put(VersionedPolicy policy) {
  const runtime::MutexLock lock(mutex_);
  const parameters::Version version = policy.version;
  versions_[version].policy = std::move(policy);
  EvictLocked();
}

VersionedPolicy PolicySet::current() const {
  const runtime::MutexLock lock(mutex_);
  if (versions_.empty()) return {};
  return std::prev(versions_.end())->second.policy;
}

void PolicySet::PutFetched(const PolicySelector& selector, VersionedPolicy policy) {
  const runtime::MutexLock lock(mutex_);
  missing_.erase(Key(selector));
  if (selector.kind == PolicySelector::Kind::kInitial) {
    initial_ = std::move(policy);
  } else {
    const parameters::Version version = policy.version;
    versions_[version] = {std::move(policy), clock_.Now()};
    EvictLocked();
  }
}

void PolicySet::Refuse(const PolicySelector& selector, const absl::Status& reason) {
  const runtime::MutexLock lock(mutex_);
  missing_[Key(selector)] = {reason, clock_.Now()};
}

absl::StatusOr<VersionedPolicy> PolicySet::Select(const PolicySelector& selector) {
  bool asks = false;
  absl::StatusOr<VersionedPolicy> selected;
  {
    const runtime::MutexLock lock(mutex_);
    selected = SelectLocked(selector, asks);
  }
  if (asks) on_missing_(selector);
  return selected;
}

absl::StatusOr<VersionedPolicy> PolicySet::SelectLocked(const PolicySelector& selector,
                                                        bool& asks) {
  if (selector.kind == PolicySelector::Kind::kInitial) {
    if (initial_.policy == nullptr) return MissLocked(selector, asks);
    return initial_;
  }
  if (selector.kind == PolicySelector::Kind::kPinned) {
    if (initial_.policy != nullptr && initial_.version == selector.version) return initial_;
    const auto found = versions_.find(selector.version);
    if (found == versions_.end()) return MissLocked(selector, asks);
    found->second.asked = clock_.Now();
    return found->second.policy;
  }
  if (versions_.empty()) return runtime::NotFound("no parameters yet");
  return std::prev(versions_.end())->second.policy;
}

absl::Status PolicySet::MissLocked(const PolicySelector& selector, bool& asks) {
  const std::string name = selector.kind == PolicySelector::Kind::kInitial
                               ? "the parameters that the run began with"
                               : "parameters of version " + std::to_string(selector.version.epoch) +
                                     "." + std::to_string(selector.version.step);
  if (!on_missing_) return runtime::NotFound(name + " are not here");
  const runtime::TimePoint now = clock_.Now();
  std::erase_if(missing_, [now](const auto& entry) {
    return !entry.second.refusal.ok() && now - entry.second.refused >= kRefusalTime;
  });
  const auto found = missing_.find(Key(selector));
  if (found != missing_.end() && !found->second.refusal.ok()) {
    return runtime::NotFound(name + " cannot be had: " + runtime::Message(found->second.refusal));
  }
  if (found == missing_.end()) {
    if (missing_.size() >= kMaxMissing) return runtime::NotFound(name + ": too many are missing");
    missing_.emplace(Key(selector), Missing{});
    asks = true;
  }
  return runtime::Unavailable(name + " are being fetched");
}

void PolicySet::EvictLocked() {
  const runtime::TimePoint now = clock_.Now();
  const auto is_pinned = [now](const Entry& entry) {
    return entry.asked != runtime::TimePoint::min() && now - entry.asked < kPinTime;
  };
  std::size_t extra = versions_.size() - std::min(versions_.size(), retained_);
  for (auto entry = versions_.begin(); extra > 0; --extra) {
    entry = is_pinned(entry->second) ? std::next(entry) : versions_.erase(entry);
  }
}

}  // namespace shoal::inference
