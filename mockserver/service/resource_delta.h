// SPDX-License-Identifier: Apache-2.0
// A resource that an instance has made or changed: its body now, and how that differs from before.
//
// The body is copied from the base, as it was captured or created, at the first write. Which of its
// top-level members were written is remembered, so that counting side effects, and making the tree
// the base's again for the next episode, cost no more than those. Not thread-safe. A copy shares
// the tree until one side writes.
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

  // The first write takes `tree`, which equals the base, in place of a copy; null: it copies.
  // REQUIRES: nothing was written yet.
  void UseTree(std::shared_ptr<Json> tree) { tree_ = std::move(tree); }

  const Json& json() const { return tree_ == nullptr ? *base_ : *tree_; }
  // The body as it is now; later writes leave the snapshot unchanged.
  std::shared_ptr<const Json> Snapshot() const;
  // The body as text, written when first asked for after a change: the members that were written to
  // since it was asked for before, the others as they stood. `reserve` are its likely bytes.
  const std::shared_ptr<const std::string>& Text(std::size_t reserve);
  // A hash of the base's version and of all that was written since.
  std::uint64_t version() const { return version_; }

  // Writes `value` at `pointer`, and the ETag where the body has one. False, and the body is the
  // same but for empty members on the way, when the pointer leads nowhere.
  bool Assign(std::string_view pointer, Json value);
  // The same for one element of the array at `pointer`, which costs nothing for the others. False,
  // and nothing happens, when there is no array, or none that long.
  bool Append(std::string_view pointer, Json element);
  bool Erase(std::string_view pointer, std::size_t index);

  // Side effects are counted from the body as it is now.
  void BeginEpisode();
  // See redfish::SideEffects; cheap when nothing was written since the last call.
  std::int64_t CountSideEffects(const redfish::Schema& schema, const redfish::Watch& watch,
                                std::string_view uri);

  // The tree, equal to the base again; null when it is shared, was never written, or was replaced
  // as a whole. The delta is then of no use any more.
  std::shared_ptr<Json> TakeTree();

 private:
  // A top-level member that was written to.
  struct Written {
    std::string name;
    // All that was done to it is Append.
    bool is_appended = false;
  };

  // The tree, which is about to be written to at `pointer`, nobody else's from here on.
  Json& Open(std::string_view pointer, bool appends = false);
  // Ends the write that Open began: the body's version is now `version`.
  void Close(std::uint64_t version);
  // The text of an object, with the stale members written anew.
  std::string WriteMembers(const Json::object_t& members, std::size_t reserve);
  void Note(std::string_view pointer, bool appends);
  void NoteStale(const std::string& name);
  // Makes the member of the tree what it is in the base.
  void Restore(const Written& written);

  std::shared_ptr<const Json> base_;
  // Null until the first write.
  std::shared_ptr<Json> tree_;
  // As last asked for; null before. Where each of its members begins, and which of them have been
  // written to since.
  std::shared_ptr<const std::string> text_;
  std::vector<std::size_t> member_starts_;
  std::vector<std::string> stale_;
  bool is_stale_ = true;
  std::uint64_t version_;
  std::vector<Written> written_;
  // The body was replaced as a whole.
  bool is_replaced_ = false;
  // What side effects are counted from: this, but for the members that the start had written.
  std::shared_ptr<const Json> start_;
  Json start_members_ = Json::object();
  // Nothing: to be counted again.
  std::optional<std::int64_t> side_effects_ = 0;
};

}  // namespace shoal::mockserver
