// SPDX-License-Identifier: Apache-2.0
// What a handler does to an instance: reads and writes properties, creates and removes resources,
// records history, sets timers, keeps notes.
//
// Every change of a resource goes through Set, which keeps bodies, ETags and side effects right.
// Lives for one request or one tick of the clock; borrows the instance.
#pragma once

#include <any>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <typeindex>
#include <utility>
#include <vector>

#include "mockserver/service/instance_core.h"

namespace shoal::mockserver {

// Whether a resource that comes or goes counts as a side effect of what a client did.
enum class Membership : std::uint8_t {
  kSideEffect,
  kBookkeeping,  // the service's own: sessions, tasks, log entries
};

class Editor {
 public:
  explicit Editor(InstanceCore& instance) : instance_(instance) {}

  // The captured service. What it had may be gone: ask Find, not the world, whether a URI is there.
  const World& world() const { return *instance_.world_; }
  const InstanceOptions& options() const { return instance_.options_; }
  // What behaves in this instance.
  const HandlerTable& handlers() const { return instance_.handlers_; }

  // `uri` is canonical.
  std::optional<ResourceId> Find(std::string_view uri) const { return instance_.Locate(uri); }
  // The resource that a request to `uri`, canonical, is for: that, or for POST to the Members of a
  // collection the collection.
  std::optional<ResourceId> FindTarget(Method method, std::string_view uri) const {
    return instance_.LocateTarget(method, uri);
  }
  // The action whose target `uri` is; null when there is none.
  const World::Action* FindAction(std::string_view uri) const { return instance_.FindAction(uri); }
  // `condition`, which may speak of the resource `here` without naming it.
  bool Holds(const redfish::Predicate& condition, const std::string& here) const {
    return condition.Evaluate(instance_, here);
  }
  // The resource that the link at `pointer` names; nothing when it is no link or leads nowhere.
  std::optional<ResourceId> Linked(ResourceId id, std::string_view pointer) const;
  // All that the array of links at `pointer` names, each once.
  std::vector<ResourceId> LinkedAll(ResourceId id, std::string_view pointer) const;
  // Members of a collection that are there, in order.
  std::vector<ResourceId> Members(ResourceId collection) const {
    return LinkedAll(collection, "/Members");
  }
  // The first of them; nothing when there is none.
  std::optional<ResourceId> FirstMember(ResourceId collection) const;
  // The resource whose URI is this one's without the last segment.
  std::optional<ResourceId> Parent(ResourceId id) const;

  // URI, type and methods. The JSON in it is as it was captured or created, not as it is now.
  const World::Resource& resource(ResourceId id) const { return instance_.Description(id); }
  const std::string& Uri(ResourceId id) const { return resource(id).uri; }
  // Whether the resource is a `type`, "ComputerSystem", of any version.
  bool IsA(ResourceId id, std::string_view type) const;

  // The resource as it is now; valid until the next change.
  const Json& Read(ResourceId id) const;
  // Null when absent; valid until the next change.
  const Json* Read(ResourceId id, std::string_view pointer) const;
  // The text at `pointer`; empty when it is none.
  std::string Text(ResourceId id, std::string_view pointer) const;
  bool IsTrue(ResourceId id, std::string_view pointer) const;
  // The integer at `pointer`, at most the largest there is; nothing when it is none.
  std::optional<std::int64_t> Integer(ResourceId id, std::string_view pointer) const;
  // The same as a duration, from 0 to a hundred years.
  std::optional<std::chrono::seconds> Seconds(ResourceId id, std::string_view pointer) const;
  std::string ETag(ResourceId id) const;
  // It differs, or once differed, from the world's.
  bool IsChanged(ResourceId id) const { return instance_.deltas_.contains(id); }

  // Writes `value` at `pointer`; nothing happens when it is there already. False when the pointer
  // leads nowhere.
  bool Set(ResourceId id, std::string_view pointer, Json value);
  // Set, but only where there is something.
  void SetPresent(ResourceId id, std::string_view pointer, Json value);

  // A new resource at `uri`, which is written into its body. REQUIRES: nothing is there; `json` is
  // an object.
  ResourceId Create(std::string uri, Json json);
  // Removes the resource and all below it.
  void Remove(ResourceId id);
  // Create below `collection`, under `name`, and list it there.
  ResourceId AddMember(ResourceId collection, const std::string& name, Json json,
                       Membership membership = Membership::kSideEffect);
  // Remove, and unlist from the collection above.
  void RemoveMember(ResourceId id, Membership membership = Membership::kSideEffect);
  // RemoveMember of all members at once.
  void RemoveMembers(ResourceId collection, Membership membership = Membership::kSideEffect);
  // The least positive number that no member of `collection` has as its name, nor had since Reset.
  std::string NewMemberName(ResourceId collection);

  // GET's answer for the resource as it is now.
  Response Representation(ResourceId id);

  // How often the instance was reset.
  std::uint64_t resets() const { return instance_.resets_; }
  // The virtual clock.
  std::chrono::milliseconds now() const { return instance_.now_; }
  // The date at which the clock was 0, since 1970.
  std::chrono::milliseconds Epoch() const { return options().epoch + instance_.past_; }
  // The virtual clock as the standard writes dates: "1970-01-01T00:00:00Z".
  std::string DateTime() const;
  // Calls `run` when the clock has moved by `delay`; forgets an earlier timer of the same key. What
  // `run` captures must be values: instances are copied.
  void SetTimer(std::string key, std::chrono::milliseconds delay, std::function<void(Editor&)> run);
  void CancelTimer(std::string_view key);

  // Until the clock has moved by `window` every request is answered with 503.
  void GoOffline(std::chrono::milliseconds window);

  // Appends to the history, up to kMaximumRecords since Reset; further ones are dropped.
  void Record(std::string_view kind, ResourceId id, Json detail);

  // Seeded by the instance's seed: same calls, same draws.
  runtime::Random& random() { return instance_.random_; }

  // One that this instance has not given before, Reset or not.
  std::uint64_t NewNumber() { return ++instance_.numbers_total_; }

  // What handlers remember beside the tree: one object of each type, made when first asked for,
  // gone with Reset. `Note` is copyable.
  template <typename Note>
  Note& Notes() {
    std::any& slot = instance_.notes_[std::type_index(typeid(Note))];
    if (!slot.has_value()) slot.emplace<Note>();
    return *std::any_cast<Note>(&slot);
  }
  // The same for who only reads; null when nobody has asked for it yet.
  template <typename Note>
  const Note* FindNotes() const {
    const auto slot = instance_.notes_.find(std::type_index(typeid(Note)));
    return slot == instance_.notes_.end() ? nullptr : std::any_cast<Note>(&slot->second);
  }

 private:
  void RemoveOne(ResourceId id);
  void SetMembers(ResourceId collection, Json members);
  // Writes the size of the list of members beside it.
  void CountMembers(ResourceId collection);
  // To be told of every member that came, and of every one that went.
  void CountCome(ResourceId collection, ResourceId member, Membership membership);
  void CountGone(ResourceId collection, ResourceId member, Membership membership);

  InstanceCore& instance_;
};

}  // namespace shoal::mockserver
