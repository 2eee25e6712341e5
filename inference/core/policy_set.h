// SPDX-License-Identifier: Apache-2.0
// The versions of the policy that rows can be answered with: the newest few, the one that the run
// began with, and those that evaluations are pinned to.
//
// A server that came late, or skipped a version, has to fetch what a row asks for: Select then says
// UNAVAILABLE, and calls the function of OnMissing once, until the version is put or known to be
// gone. A pinned version stays while rows ask for it, and for a while after. Thread-safe; versions
// are immutable and shared, so a swap falls between two batches.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "inference/core/row_block.h"
#include "platform/runtime/clock.h"
#include "platform/runtime/mutex.h"
#include "platform/runtime/status.h"
#include "rl/model/policy.h"
#include "rl/parameters/version.h"

namespace shoal::inference {

// One version of the network, behind a seam so that the core links without torch. Act is called by
// one thread.
class ActingPolicy {
 public:
  virtual ~ActingPolicy() = default;
  virtual absl::StatusOr<model::PolicyOutputs> Act(const model::PolicyInputs& inputs) const = 0;
};

struct VersionedPolicy {
  parameters::Version version;
  std::shared_ptr<const ActingPolicy> policy;
};

class PolicySet {
 public:
  // `retained`: newest versions kept, at least 1.
  explicit PolicySet(std::size_t retained, runtime::Clock& clock = runtime::SystemClock())
      : retained_(retained), clock_(clock) {}

  // Called without a lock for a selector that names a version which is not here: somebody is to
  // fetch it. Set it before the first Select; without it such a version is NOT_FOUND at once.
  void OnMissing(std::function<void(const PolicySelector&)> on_missing) {
    on_missing_ = std::move(on_missing);
  }

  // One of the versions as they are published. A version older than the current one does not become
  // current.
  void Put(VersionedPolicy policy) ABSL_LOCKS_EXCLUDED(mutex_);
  // What OnMissing asked for: the run's first version, or a pinned one.
  void PutFetched(const PolicySelector& selector, VersionedPolicy policy)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // What OnMissing asked for cannot be had. Select says so for a few seconds, then asks again.
  void Refuse(const PolicySelector& selector, const absl::Status& reason)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Version {0, 0} and no policy before the first Put.
  VersionedPolicy current() const ABSL_LOCKS_EXCLUDED(mutex_);
  // UNAVAILABLE while the version is being fetched; NOT_FOUND naming the version that cannot be
  // had. Uniform and similarity choices need no parameters of their own and get the current ones.
  absl::StatusOr<VersionedPolicy> Select(const PolicySelector& selector)
      ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  static constexpr std::chrono::seconds kPinTime{120};
  static constexpr std::chrono::seconds kRefusalTime{5};
  // Refusals and fetches that are remembered.
  static constexpr std::size_t kMaxMissing = 256;

  struct Entry {
    std::shared_ptr<const ActingPolicy> policy;
    runtime::TimePoint asked = runtime::TimePoint::min();
  };
  // A version that rows asked for and that is not here; OK while it is being fetched.
  struct Missing {
    absl::Status refusal;
    runtime::TimePoint refused;
  };
  // nullopt: the version that the run began with.
  using MissingVersion = std::optional<parameters::Version>;

  static MissingVersion Key(const PolicySelector& selector) {
    if (selector.kind == PolicySelector::Kind::kInitial) return std::nullopt;
    return selector.version;
  }
  // Sets `asks` when the version is to be fetched.
  absl::StatusOr<VersionedPolicy> SelectLocked(const PolicySelector& selector, bool& asks)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status MissLocked(const PolicySelector& selector, bool& asks)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void EvictLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::size_t retained_;
  runtime::Clock& clock_;
  std::function<void(const PolicySelector&)> on_missing_;

  mutable runtime::Mutex mutex_;
  std::map<parameters::Version, Entry> versions_ ABSL_GUARDED_BY(mutex_);
  VersionedPolicy initial_ ABSL_GUARDED_BY(mutex_);
  std::map<MissingVersion, Missing> missing_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace shoal::inference
