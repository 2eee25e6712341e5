// SPDX-License-Identifier: Apache-2.0
// An index finds the items of a table by their ids. It holds handles alone and looks up each id in
// its item, so that no id is stored twice.
//
// Not thread-safe.
#pragma once

#include <absl/container/btree_map.h>

#include <cstdint>
#include <memory>
#include <optional>

#include "platform/runtime/clock.h"
#include "replay/id_set.h"
#include "replay/item.h"
#include "replay/selectors/selector.h"

namespace shoal::replay {

// An item with what changes while it is in a table.
struct StoredItem {
  // Shared with samples that are being sent, and therefore never changed.
  std::shared_ptr<Item> item;
  float priority = 0;
  std::uint32_t times_sampled = 0;
  // Never before that of an item with a lesser handle.
  runtime::TimePoint came{};
  // True if the spill has its payload or is about to write it.
  bool written = false;
};

using StoredItems = absl::btree_map<Handle, StoredItem>;

class ItemIndex {
 public:
  // `items` must outlive the index. An item enters the index after it has entered `items`, and
  // leaves it before it leaves them.
  explicit ItemIndex(const StoredItems& items) : handles_(IdOf{&items}) {}
  ItemIndex(const ItemIndex&) = delete;
  ItemIndex& operator=(const ItemIndex&) = delete;

  void Add(Handle handle) { handles_.Add(handle); }
  void Remove(Handle handle) { handles_.Remove(handle); }
  std::optional<Handle> Find(const UnrollId& id) const { return handles_.Find(id); }

 private:
  struct IdOf {
    const UnrollId& operator()(Handle handle) const { return items->at(handle).item->id; }
    const StoredItems* items = nullptr;
  };

  IdSet<Handle, IdOf> handles_;
};

}  // namespace shoal::replay
