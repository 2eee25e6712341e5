// SPDX-License-Identifier: Apache-2.0
// Hooks are told of each change of a table, in order, once the table has made it.
//
// They run under the shard's lock, so they must be quick and must not call the shard. The items are
// immutable and may be kept.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "replay/item.h"
#include "replay/selectors/selector.h"

namespace shoal::replay {

class TableHooks {
 public:
  virtual ~TableHooks() = default;
  // The item came in, and its id will be recognised when it comes again.
  virtual void OnInsert(Handle handle, const std::shared_ptr<const Item>& item) = 0;
  // The item was given out for the `times_sampled`-th time. If that was the last time, OnDelete
  // follows.
  virtual void OnSample(Handle handle, float priority, std::uint32_t times_sampled) = 0;
  virtual void OnUpdate(Handle handle, float priority, std::uint32_t times_sampled) = 0;
  // The item has left, for whatever reason.
  virtual void OnDelete(Handle handle) = 0;
  // The id of an item that did not come in will be recognised when it comes again.
  virtual void OnSeen(const UnrollId& id) = 0;
  // Something else of the table's state has changed: a version or a count.
  virtual void OnChange() = 0;
};

// The hooks of one table, each of which is told before the next one. Not thread-safe.
class TableHookList final : public TableHooks {
 public:
  // `hooks` must outlive all other calls.
  void Add(TableHooks& hooks) { all_.push_back(&hooks); }
  bool empty() const { return all_.empty(); }

  void OnInsert(Handle handle, const std::shared_ptr<const Item>& item) override {
    for (TableHooks* const hooks : all_) hooks->OnInsert(handle, item);
  }
  void OnSample(Handle handle, float priority, std::uint32_t times_sampled) override {
    for (TableHooks* const hooks : all_) hooks->OnSample(handle, priority, times_sampled);
  }
  void OnUpdate(Handle handle, float priority, std::uint32_t times_sampled) override {
    for (TableHooks* const hooks : all_) hooks->OnUpdate(handle, priority, times_sampled);
  }
  void OnDelete(Handle handle) override {
    for (TableHooks* const hooks : all_) hooks->OnDelete(handle);
  }
  void OnSeen(const UnrollId& id) override {
    for (TableHooks* const hooks : all_) hooks->OnSeen(id);
  }
  void OnChange() override {
    for (TableHooks* const hooks : all_) hooks->OnChange();
  }

 private:
  std::vector<TableHooks*> all_;
};

}  // namespace shoal::replay
