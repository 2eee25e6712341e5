// SPDX-License-Identifier: Apache-2.0
// What a handler can do to an instance: read and write properties, create and remove resources,
// record history, set timers and keep notes.
//
// Every change of a resource goes through an editor, which keeps bodies, ETags and side effects
// right. An editor lives for one request or one tick of the clock and borrows the instance.
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
  kBookkeeping,  // the service's own, such as sessions, tasks and log entries
};

class Editor {
 public:
  explicit Editor(InstanceCore& instance) : instance_(instance) {}

  // The captured service. Its resources may have been removed: use Find, not the world, to learn
  // whether a URI exists.
  const World& world() const { return *instance_.world_; }
  const InstanceOptions& options() const { return instance_.options_; }
  // The behaviours of this instance.
  const HandlerTable& handlers() const { return instance_.handlers_; }
  // The instance, for work that ends in a request to it.
  InstanceCore& instance() { return instance_; }

  // REQUIRES: `uri` is canonical.
  std::optional<ResourceId> Find(std::string_view uri) const { return instance_.Locate(uri); }
  // Returns the resource that a request to the canonical `uri` addresses. A POST to the Members of
  // a collection addresses the collection.
  std::optional<ResourceId> FindTarget(Method method, std::string_view uri) const {
    return instance_.LocateTarget(method, uri);
  }
  // Returns the action whose target is `uri`, or null when there is none.
  const World::Action* FindAction(std::string_view uri) const { return instance_.FindAction(uri); }
  // Evaluates `condition`, which refers to the resource `here` wherever it names no URI.
  bool Holds(const redfish::Predicate& condition, const std::string& here) const {
    return condition.Evaluate(instance_, here);
  }
  // Returns the resource that the link at `pointer` names, or nothing when `pointer` holds no link
  // or the link leads nowhere.
  std::optional<ResourceId> Linked(ResourceId id, std::string_view pointer) const;
  // Returns all resources that the array of links at `pointer` names, each once.
  std::vector<ResourceId> LinkedAll(ResourceId id, std::string_view pointer) const;
  // Returns the members of a collection that exist, in order.
  std::vector<ResourceId> Members(ResourceId collection) const {
    return LinkedAll(collection, "/Members");
  }
  // Returns the first of Members, or nothing when there is none.
  std::optional<ResourceId> FirstMember(ResourceId collection) const;
  // Returns the resource whose URI is that of `id` without the last segment.
  std::optional<ResourceId> Parent(ResourceId id) const;

  // The URI, type and methods of the resource. The JSON in it is as it was captured or created, not
  // as it is now.
  const World::Resource& resource(ResourceId id) const { return instance_.Description(id); }
  const std::string& Uri(ResourceId id) const { return resource(id).uri; }
  // Returns whether the resource is of `type`, such as "ComputerSystem", in any version.
  bool IsA(ResourceId id, std::string_view type) const;

  // Returns the resource as it is now. The reference is valid until the next change.
  const Json& Read(ResourceId id) const;
  // Returns null when the property is absent. The pointer is valid until the next change.
  const Json* Read(ResourceId id, std::string_view pointer) const;
  // Returns the text at `pointer`, or an empty text when there is none.
  std::string Text(ResourceId id, std::string_view pointer) const;
  bool IsTrue(ResourceId id, std::string_view pointer) const;
  // Returns the integer at `pointer`, capped at the largest std::int64_t, or nothing when there is
  // none.
  std::optional<std::int64_t> Integer(ResourceId id, std::string_view pointer) const;
  // Returns the integer at `pointer` as a duration, clamped to 0 to 100 years.
  std::optional<std::chrono::seconds> Seconds(ResourceId id, std::string_view pointer) const;
  std::string ETag(ResourceId id) const;
  // Returns whether the resource differs, or once differed, from the world's.
  bool IsChanged(ResourceId id) const { return instance_.deltas_.contains(id); }

  // Writes `value` at `pointer`, making objects on the way, and does nothing when it is already
  // there. Returns false when something on the way is no object.
  bool Set(ResourceId id, std::string_view pointer, Json value);
  // Does the same as Set, but only where a property exists.
  void SetPresent(ResourceId id, std::string_view pointer, Json value);

  // Creates a resource at `uri`, which is written into its body. REQUIRES: no resource is at `uri`;
  // `json` is an object.
  ResourceId Create(std::string uri, Json json);
  // Removes the resource and everything below it.
  void Remove(ResourceId id);
  // Creates a resource named `name` below `collection` and lists it there.
  ResourceId AddMember(ResourceId collection, const std::string& name, Json json,
                       Membership membership = Membership::kSideEffect);
  // Removes the resource and its link in the collection above it.
  void RemoveMember(ResourceId id, Membership membership = Membership::kSideEffect);
  // Removes all members at once, as RemoveMember does.
  void RemoveMembers(ResourceId collection, Membership membership = Membership::kSideEffect);
  // Returns a positive number as the name of a new member of `collection`. The numbers grow from 1,
  // skip the names of present members, and do not repeat until Reset.
  std::string NewMemberName(ResourceId collection);

  // Returns the answer to a GET of the resource as it is now.
  Response Representation(ResourceId id);

  // The number of times that the instance was reset.
  std::uint64_t resets() const { return instance_.resets_; }
  // The time on the virtual clock.
  std::chrono::milliseconds now() const { return instance_.now_; }
  // The date at which the clock was 0, as the time since 1970.
  std::chrono::milliseconds Epoch() const { return options().epoch + instance_.past_; }
  // Returns the virtual clock's date as the standard writes it: "1970-01-01T00:00:00Z".
  std::string DateTime() const;
  // Calls `run` when the clock has moved by `delay`, and replaces an earlier timer with the same
  // key. `run` must capture values, because instances are copied.
  void SetTimer(std::string key, std::chrono::milliseconds delay, std::function<void(Editor&)> run);
  void CancelTimer(std::string_view key);

  // Answers every request with 503 until the clock has moved by `window`.
  void GoOffline(std::chrono::milliseconds window);

  // Appends to the history, up to kMaximumRecords since Reset. Further records are dropped.
  void Record(std::string_view kind, ResourceId id, Json detail);

  // The random numbers of the instance, seeded by its seed: equal calls give equal draws.
  runtime::Random& random() { return instance_.random_; }

  // Returns a number that this instance has not returned before, even before a Reset.
  std::uint64_t NewNumber() { return ++instance_.numbers_total_; }

  // The notes of handlers: what they remember beside the tree. There is one object of each type,
  // created on first use and dropped by Reset. `Note` must be copyable.
  template <typename Note>
  Note& Notes() {
    std::any& slot = instance_.notes_[std::type_index(typeid(Note))];
    if (!slot.has_value()) slot.emplace<Note>();
    return *std::any_cast<Note>(&slot);
  }
  // Does the same for readers. Returns null when the note was not created yet.
  template <typename Note>
  const Note* FindNotes() const {
    const auto slot = instance_.notes_.find(std::type_index(typeid(Note)));
    return slot == instance_.notes_.end() ? nullptr : std::any_cast<Note>(&slot->second);
  }

 private:
  void RemoveOne(ResourceId id);
  void SetMembers(ResourceId collection, Json members);
  // Sets the collection's Members@odata.count to the size of its list of members.
  void CountMembers(ResourceId collection);
  // Must be called for every member that comes (CountCome) or goes (CountGone).
  void CountCome(ResourceId collection, ResourceId member, Membership membership);
  void CountGone(ResourceId collection, ResourceId member, Membership membership);

  InstanceCore& instance_;
};

}  // namespace shoal::mockserver
