// SPDX-License-Identifier: Apache-2.0
// A resource that an instance has created or changed: its current body, and how it differs from
// before.
//
// The body is copied from the base, the captured or created body, at the first write. The delta
// remembers which top-level members were written, so that counting side effects, and restoring the
// tree to the base for the next episode, cost no more than those members. Not thread-safe. A copy
// shares the tree until one side writes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mockserver/messages/message.h"
#include "redfish/goals/watch.h"
#include "redfish/schema/schema.h"

namespace shoal::mockserver {

class ResourceDelta {
 public:
  ResourceDelta(std::shared_ptr<const Json> base, std::uint64_t version);

  // Makes the first write use `tree`, which equals the base, instead of a copy. With null the first
  // write copies. REQUIRES: nothing was written yet.
  void UseTree(std::shared_ptr<Json> tree) { tree_ = std::move(tree); }

  const Json& json() const { return tree_ == nullptr ? *base_ : *tree_; }
  // Returns the body as it is now. Later writes leave the snapshot unchanged.
  std::shared_ptr<const Json> Snapshot() const;
  // Returns the body as text. After a change, the first call writes anew only the members that
  // changed since the previous call and copies the text of the others. `reserve` is the expected
  // size in bytes.
  const std::shared_ptr<const std::string>& Text(std::size_t reserve);
  // A hash of the base's version and of everything that was written since.
  std::uint64_t version() const { return version_; }

  // Writes `value` at `pointer`, and the ETag where the body has one. Returns false when the
  // pointer leads nowhere; the body is then unchanged except for empty members created on the way.
  bool Assign(std::string_view pointer, Json value);
  // Append and Erase change one element of the array at `pointer`, at no cost for the others. They
  // return false and change nothing when there is no array or it is too short.
  bool Append(std::string_view pointer, Json element);
  bool Erase(std::string_view pointer, std::size_t index);

  // Makes the current body the one from which side effects are counted.
  void BeginEpisode();
  // Counts as redfish::SideEffects does. A call is cheap when nothing was written since the last
  // one.
  std::int64_t CountSideEffects(const redfish::Schema& schema, const redfish::Watch& watch,
                                std::string_view uri);
  // Returns the same for any watch, and remembers nothing.
  std::int64_t CountSideEffectsAfresh(const redfish::Schema& schema, const redfish::Watch& watch,
                                      std::string_view uri) const;

  // Returns the tree, made equal to the base again, or null when the tree is shared, was never
  // written, or was replaced as a whole. The delta must not be used afterwards.
  std::shared_ptr<Json> TakeTree();

 private:
  // A top-level member that was written to.
  struct Written {
    std::string name;
    // Whether every write to it was an Append.
    bool is_appended = false;
  };

  // Returns the tree for a write at `pointer`. From here on the tree is not shared.
  Json& Open(std::string_view pointer, bool appends = false);
  // Ends the write that Open began. `version` becomes the body's version.
  void Close(std::uint64_t version);
  // Returns the text of an object, in which the stale members are written anew.
  std::string WriteMembers(const Json::object_t& members, std::size_t reserve);
  void Note(std::string_view pointer, bool appends);
  void NoteStale(const std::string& name);
  // Sets a member of the tree to its value in the base.
  void Restore(const Written& written);

  std::shared_ptr<const Json> base_;
  // Null until the first write.
  std::shared_ptr<Json> tree_;
  // The text that Text returned last, or null before the first call; where each of its members
  // begins; and which members were written to since.
  std::shared_ptr<const std::string> text_;
  std::vector<std::size_t> member_starts_;
  std::vector<std::string> stale_;
  bool is_stale_ = true;
  std::uint64_t version_;
  std::vector<Written> written_;
  // Whether the body was replaced as a whole.
  bool is_replaced_ = false;
  // The body from which side effects are counted. The members in start_members_ override it.
  std::shared_ptr<const Json> start_;
  Json start_members_ = Json::object();
  // Nothing when side effects must be counted again.
  std::optional<std::int64_t> side_effects_ = 0;
};

}  // namespace shoal::mockserver
