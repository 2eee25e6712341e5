// SPDX-License-Identifier: Apache-2.0
// An index finds the items of a table by their ids. It holds handles alone and looks up each id in
// its item, so that no id is stored twice.
//
// Not thread-safe.
#pragma once

#include <absl/container/btree_map.h>
#include <absl/container/flat_hash_set.h>
#include <absl/hash/hash.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "replay/item.h"
#include "replay/selectors/selector.h"

namespace shoal::replay {

// An item with what changes while it is in a table.
struct StoredItem {
  // Shared with samples that are being sent, and therefore never changed.
  std::shared_ptr<Item> item;
  float priority = 0;
  std::uint32_t times_sampled = 0;
  // True if the spill has its payload or is about to write it.
  bool written = false;
};

using StoredItems = absl::btree_map<Handle, StoredItem>;

class ItemIndex {
 public:
  // `items` must outlive the index. An item enters the index after it has entered `items`, and
  // leaves it before it leaves them.
  explicit ItemIndex(const StoredItems& items) : handles_(0, IdHash{&items}, IdEqual{&items}) {}
  ItemIndex(const ItemIndex&) = delete;
  ItemIndex& operator=(const ItemIndex&) = delete;

  void Add(Handle handle) { handles_.insert(handle); }
  void Remove(Handle handle) { handles_.erase(handle); }
  std::optional<Handle> Find(const UnrollId& id) const {
    const auto found = handles_.find(id);
    return found == handles_.end() ? std::nullopt : std::optional<Handle>(*found);
  }

 private:
  // These hash and compare items by their ids.
  struct IdHash {
    using is_transparent = void;
    std::size_t operator()(const UnrollId& id) const { return absl::Hash<UnrollId>()(id); }
    std::size_t operator()(Handle handle) const { return (*this)(items->at(handle).item->id); }
    const StoredItems* items = nullptr;
  };
  struct IdEqual {
    using is_transparent = void;
    bool operator()(Handle a, Handle b) const { return a == b; }
    bool operator()(Handle handle, const UnrollId& id) const {
      return items->at(handle).item->id == id;
    }
    const StoredItems* items = nullptr;
  };

  absl::flat_hash_set<Handle, IdHash, IdEqual> handles_;
};

}  // namespace shoal::replay
