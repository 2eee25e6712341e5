// SPDX-License-Identifier: Apache-2.0
// The versions of the policy that rows can be answered with: the newest, the run's first, and the
// last few, since an evaluation stays with the version that it began with.
//
// A version that a row asked for within `pin_time` stays too. Thread-safe; versions are immutable
// and shared, so a swap falls between two batches.
#pragma once

#include <cstddef>
#include <map>
#include <memory>

#include "inference/core/policy_version.h"
#include "inference/core/row_block.h"
#include "platform/runtime/clock.h"
#include "platform/runtime/mutex.h"
#include "platform/runtime/status.h"
#include "rl/model/policy.h"

namespace shoal::inference {

// One version of the network, behind a seam so that the core links without torch. Act is called by
// one thread.
class ActingPolicy {
 public:
  virtual ~ActingPolicy() = default;
  virtual absl::StatusOr<model::PolicyOutputs> Act(const model::PolicyInputs& inputs) const = 0;
};

struct VersionedPolicy {
  PolicyVersion version;
  std::shared_ptr<const ActingPolicy> policy;
};

class PolicySet {
 public:
  // `retained`: newest versions kept, at least 1.
  explicit PolicySet(std::size_t retained, runtime::Clock& clock = runtime::SystemClock())
      : retained_(retained), clock_(clock) {}

  // The lowest version ever put is the initial one. A version older than the current one is kept
  // but does not become current.
  void Put(VersionedPolicy policy) ABSL_LOCKS_EXCLUDED(mutex_);

  // Version {0, 0} and no policy before the first Put.
  VersionedPolicy current() const ABSL_LOCKS_EXCLUDED(mutex_);
  // NOT_FOUND naming the version. Uniform and similarity choices need no parameters of their own
  // and get the current ones.
  absl::StatusOr<VersionedPolicy> Select(const PolicySelector& selector)
      ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  static constexpr std::chrono::seconds kPinTime{120};

  struct Entry {
    std::shared_ptr<const ActingPolicy> policy;
    runtime::TimePoint asked = runtime::TimePoint::min();
  };

  void EvictLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::size_t retained_;
  runtime::Clock& clock_;

  mutable runtime::Mutex mutex_;
  std::map<PolicyVersion, Entry> versions_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace shoal::inference
