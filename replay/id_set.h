// SPDX-License-Identifier: Apache-2.0
// A set of places, such as positions in a list, each of which has the id of an unroll. It finds the
// place of an id. It stores the places alone, and asks for their ids where it compares them.
//
// It consists of many small hash tables. When one of them grows or is cleaned of what was removed,
// it asks for the ids of all places in it. With one large table a single Add would take a hundred
// milliseconds and more, and a table of replay is locked meanwhile.
//
// Not thread-safe.
#pragma once

#include <absl/container/flat_hash_set.h>
#include <absl/hash/hash.h>

#include <cstddef>
#include <optional>
#include <vector>

#include "replay/client/unroll_id.h"

namespace shoal::replay {

// `IdOf` is called with a place and returns its id, which stays the same while the place is in.
template <typename Place, typename IdOf>
class IdSet {
 public:
  explicit IdSet(IdOf id_of) : id_of_(id_of), parts_(kParts, Part(0, Hash{id_of}, Equal{id_of})) {}

  void Add(Place place) { PartOf(id_of_(place)).insert(place); }
  // REQUIRES: the place still has its id.
  void Remove(Place place) { PartOf(id_of_(place)).erase(place); }
  std::optional<Place> Find(const UnrollId& id) const {
    const Part& part = parts_[Number(id)];
    const auto found = part.find(id);
    return found == part.end() ? std::nullopt : std::optional<Place>(*found);
  }

 private:
  static constexpr int kPartBits = 8;
  static constexpr std::size_t kParts = std::size_t{1} << kPartBits;

  struct Hash {
    using is_transparent = void;
    std::size_t operator()(const UnrollId& id) const { return absl::Hash<UnrollId>()(id); }
    std::size_t operator()(Place place) const { return (*this)(id_of(place)); }
    IdOf id_of;
  };
  struct Equal {
    using is_transparent = void;
    bool operator()(Place a, Place b) const { return a == b; }
    bool operator()(Place place, const UnrollId& id) const { return id_of(place) == id; }
    IdOf id_of;
  };
  using Part = absl::flat_hash_set<Place, Hash, Equal>;

  // A part uses the lower bits of the hash.
  static std::size_t Number(const UnrollId& id) {
    return absl::Hash<UnrollId>()(id) >> (8 * sizeof(std::size_t) - kPartBits);
  }
  Part& PartOf(const UnrollId& id) { return parts_[Number(id)]; }

  const IdOf id_of_;
  std::vector<Part> parts_;
};

}  // namespace shoal::replay
