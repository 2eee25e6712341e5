// SPDX-License-Identifier: Apache-2.0
// All instances of a process, by id, over the worlds that it has loaded.
//
// Thread-safe. Instances that nobody has used for a while are deleted; the
// default one never is. An instance that is deleted while in use lives until its user lets go.
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
  // 0: instances stay until they are deleted.
  std::chrono::seconds idle_limit{600};
  // Of the default instance, and of others where their maker says nothing. Instances without a
  // pool of trees share the table's own.
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

    // Moves an instance with a real clock by what has passed since the last time.
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

  // `worlds` by the name of their capture, at least one; the first is the default instance's.
  // INVALID_ARGUMENT when two have one name. `clock` outlives the table.
  static absl::StatusOr<std::unique_ptr<InstanceTable>> Create(
      std::vector<std::shared_ptr<const World>> worlds, InstanceTableOptions options,
      runtime::Clock& clock = runtime::SystemClock());
  ~InstanceTable();
  InstanceTable(const InstanceTable&) = delete;
  InstanceTable& operator=(const InstanceTable&) = delete;

  // Makes an instance and returns its id: `id`, replacing one that has it, or a new one when empty,
  // which no other process run has given out. NOT_FOUND for a capture that is not loaded (empty:
  // the first), INVALID_ARGUMENT for an id with other than letters, digits, '-' and '_' or longer
  // than 64, RESOURCE_EXHAUSTED.
  absl::StatusOr<std::string> Make(std::string_view capture, std::string id,
                                   InstanceOptions options) ABSL_LOCKS_EXCLUDED(mutex_);
  bool Delete(std::string_view id) ABSL_LOCKS_EXCLUDED(mutex_);

  // Null when absent; counts as a use.
  std::shared_ptr<Slot> Find(std::string_view id) ABSL_LOCKS_EXCLUDED(mutex_);
  std::shared_ptr<Slot> Default() const { return default_; }

  // Deletes what is past the idle limit; a thread of the table's own does so from time to time.
  void Sweep() ABSL_LOCKS_EXCLUDED(mutex_);

  // Those with a real clock.
  std::vector<std::shared_ptr<Slot>> RealClocks() const ABSL_LOCKS_EXCLUDED(mutex_);
  runtime::Clock& clock() const { return clock_; }

  // The default one not counted.
  std::size_t size() const ABSL_LOCKS_EXCLUDED(mutex_);
  const std::vector<std::shared_ptr<const World>>& worlds() const { return worlds_; }
  const InstanceTableOptions& options() const { return options_; }

 private:
  InstanceTable(std::vector<std::shared_ptr<const World>> worlds, InstanceTableOptions options,
                runtime::Clock& clock);
  // As an instance of the table has them.
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

  // Last: it uses what is above.
  runtime::Thread sweeper_;
};

}  // namespace shoal::mockserver
