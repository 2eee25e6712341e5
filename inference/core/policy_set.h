// SPDX-License-Identifier: Apache-2.0
// The policy versions that rows can be answered with: the newest ones, the version that the run
// began with, and those that evaluations are pinned to.
//
// A server that started late or skipped a version must fetch what a row asks for. Select then
// returns UNAVAILABLE, and calls the OnMissing function once, until the version is put or known to
// be gone. A pinned version stays while rows ask for it and for some time after. Thread-safe.
// Versions are immutable and shared. A version has all its replicas when it is put, so what acts
// next on any device is the newest version.
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

// One version of the policy network, with a replica for each device that acts; an interface so that
// the core links without torch. Each replica has one thread that calls Act.
class ActingPolicy {
 public:
  virtual ~ActingPolicy() = default;
  // Evaluates the rows on the device of `replica`, counted from 0.
  virtual absl::StatusOr<model::PolicyOutputs> Act(const model::PolicyInputs& inputs,
                                                   std::size_t replica) const = 0;
};

struct VersionedPolicy {
  parameters::Version version;
  std::shared_ptr<const ActingPolicy> policy;
  // The environment steps of the run when the learner published it.
  double environment_steps = 0;
  // The updates that made it, and whether a checkpoint is due after them.
  std::uint64_t update = 0;
  bool checkpoint = false;
};

class PolicySet {
 public:
  // `retained` is how many of the newest versions are kept, at least 1.
  explicit PolicySet(std::size_t retained, runtime::Clock& clock = runtime::SystemClock())
      : retained_(retained), clock_(clock) {}

  // Sets the function that starts to fetch a missing version; it is called without a lock. Set it
  // before the first Select. Without it Select returns NOT_FOUND for such a version at once.
  void OnMissing(std::function<void(const PolicySelector&)> on_missing) {
    on_missing_ = std::move(on_missing);
  }

  // Adds a published version. A version older than the current one does not become current.
  void Put(VersionedPolicy policy) ABSL_LOCKS_EXCLUDED(mutex_);
  // Adds what OnMissing asked for: the run's first version or a pinned one.
  void PutFetched(const PolicySelector& selector, VersionedPolicy policy)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // Records that the version cannot be had. For a few seconds Select returns NOT_FOUND with
  // `reason`, then asks for the version again.
  void Refuse(const PolicySelector& selector, const absl::Status& reason)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Returns version {0, 0} and no policy before the first Put.
  VersionedPolicy current() const ABSL_LOCKS_EXCLUDED(mutex_);
  // Returns UNAVAILABLE while the version is being fetched, and NOT_FOUND with its name if it
  // cannot be had. Uniform and similarity choices need no parameters of their own and get the
  // current ones.
  absl::StatusOr<VersionedPolicy> Select(const PolicySelector& selector)
      ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  static constexpr std::chrono::seconds kPinTime{120};
  static constexpr std::chrono::seconds kRefusalTime{5};
  // The limit on remembered refusals and fetches.
  static constexpr std::size_t kMaxMissing = 256;

  struct Entry {
    VersionedPolicy policy;
    runtime::TimePoint asked = runtime::TimePoint::min();
  };
  // A version that rows asked for and that is not here. The refusal is OK while it is being
  // fetched.
  struct Missing {
    absl::Status refusal;
    runtime::TimePoint refused;
  };
  // nullopt stands for the version that the run began with.
  using MissingVersion = std::optional<parameters::Version>;

  static MissingVersion Key(const PolicySelector& selector) {
    if (selector.kind == PolicySelector::Kind::kInitial) return std::nullopt;
    return selector.version;
  }
  // Sets `asks` when the version must be fetched.
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
