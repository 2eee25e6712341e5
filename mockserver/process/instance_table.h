// SPDX-License-Identifier: Apache-2.0
// All instances of a process, by id, over the worlds that it has loaded.
//
// Thread-safe. Instances that nobody has used for a while are deleted, except the default instance.
// An instance that is deleted while in use lives until its user releases it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "mockserver/instance/instance.h"
#include "mockserver/service/tree_pool.h"
#include "mockserver/service/world.h"
#include "platform/runtime/clock.h"
#include "platform/runtime/mutex.h"
#include "platform/runtime/status.h"
#include "platform/runtime/text_map.h"
#include "platform/runtime/thread.h"

namespace shoal::mockserver {

// The id by which the control API reaches the default instance.
inline constexpr std::string_view kDefaultId = "default";

struct InstanceTableOptions {
  std::int64_t max_instances = 4096;
  // 0 keeps instances until they are deleted.
  std::chrono::seconds idle_limit{600};
  // The options of the default instance, and the defaults of the others. Instances without a tree
  // pool share the table's own.
  InstanceOptions instance = {};
};

class InstanceTable {
 public:
  class Slot {
   public:
    Slot(std::shared_ptr<const World> world, InstanceOptions options, runtime::TimePoint now)
        : has_real_clock(options.clock == ClockKind::kReal),
          instance(std::move(world), std::move(options)),
          caught_up_(now),
          last_use_(now.time_since_epoch().count()) {}

    // Advances an instance with a real clock by the time that has passed since the last call.
    void CatchUp(runtime::TimePoint now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);

    const bool has_real_clock;
    runtime::Mutex mutex;
    Instance instance ABSL_GUARDED_BY(mutex);

   private:
    friend class InstanceTable;
    runtime::TimePoint caught_up_ ABSL_GUARDED_BY(mutex);
    // Relaxed: a sweep that misses the newest use by a moment does no harm.
    std::atomic<runtime::Duration::rep> last_use_;
  };

  // `worlds` are addressed by the names of their captures. There must be at least one; the first is
  // the default instance's. INVALID_ARGUMENT when two have the same name. `clock` must outlive the
  // table.
  static absl::StatusOr<std::unique_ptr<InstanceTable>> Create(
      std::vector<std::shared_ptr<const World>> worlds, InstanceTableOptions options,
      runtime::Clock& clock = runtime::SystemClock());
  ~InstanceTable();
  InstanceTable(const InstanceTable&) = delete;
  InstanceTable& operator=(const InstanceTable&) = delete;

  // Creates an instance and returns its id: `id`, replacing the instance that has it, or when `id`
  // is empty a new id that no other process run has given out. An empty `capture` means the first.
  // NOT_FOUND for a capture that is not loaded, INVALID_ARGUMENT for an id that has characters
  // other than letters, digits, '-' and '_' or is longer than 64, RESOURCE_EXHAUSTED past
  // max_instances.
  absl::StatusOr<std::string> Make(std::string_view capture, std::string id,
                                   InstanceOptions options) ABSL_LOCKS_EXCLUDED(mutex_);
  bool Delete(std::string_view id) ABSL_LOCKS_EXCLUDED(mutex_);

  // Returns null when there is no such instance. A call counts as a use.
  std::shared_ptr<Slot> Find(std::string_view id) ABSL_LOCKS_EXCLUDED(mutex_);
  std::shared_ptr<Slot> Default() const { return default_; }

  // Deletes instances past the idle limit. A thread of the table does so from time to time.
  void Sweep() ABSL_LOCKS_EXCLUDED(mutex_);

  // Returns the instances with a real clock.
  std::vector<std::shared_ptr<Slot>> RealClocks() const ABSL_LOCKS_EXCLUDED(mutex_);
  runtime::Clock& clock() const { return clock_; }

  // The number of instances, the default one excluded.
  std::size_t size() const ABSL_LOCKS_EXCLUDED(mutex_);
  const std::vector<std::shared_ptr<const World>>& worlds() const { return worlds_; }
  const InstanceTableOptions& options() const { return options_; }

 private:
  InstanceTable(std::vector<std::shared_ptr<const World>> worlds, InstanceTableOptions options,
                runtime::Clock& clock);
  // Completes the options of a new instance of the table.
  InstanceOptions Complete(InstanceOptions options) const;
  void SweepUntilStopped() ABSL_LOCKS_EXCLUDED(mutex_);

  const std::vector<std::shared_ptr<const World>> worlds_;
  const InstanceTableOptions options_;
  runtime::Clock& clock_;
  const std::shared_ptr<TreePool> trees_ = std::make_shared<TreePool>();
  const std::shared_ptr<Slot> default_;
  const std::string id_prefix_;

  mutable runtime::Mutex mutex_;
  runtime::CondVar wake_;
  runtime::TextMap<std::shared_ptr<Slot>> slots_ ABSL_GUARDED_BY(mutex_);
  std::uint64_t made_total_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;

  // The last member, because the thread uses those above.
  runtime::Thread sweeper_;
};

}  // namespace shoal::mockserver
