// SPDX-License-Identifier: Apache-2.0
#include "mockserver/service/resource_delta.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "mockserver/messages/etag.h"
#include "mockserver/messages/extended_info.h"
#include "mockserver/messages/json_text.h"
#include "redfish/capture/uri.h"

namespace shoal::mockserver {
namespace {

const Json* MemberOf(const Json& object, const std::string& name) {
  if (!object.is_object()) return nullptr;
  const auto member = object.find(name);
  return member == object.end() ? nullptr : &*member;
}

// REQUIRES: `pointer` names a value in `value`.
Json* FindIn(Json& value, std::string_view pointer) {
  return const_cast<Json*>(redfish::Resolve(value, pointer));
}

// Returns whether nobody else holds the tree; earlier holders' accesses then happen before the
// caller's.
bool IsSole(const std::shared_ptr<Json>& tree) {
  if (tree.use_count() != 1) return false;
  std::atomic_thread_fence(std::memory_order_acquire);
  return true;
}

}  // namespace

ResourceDelta::ResourceDelta(std::shared_ptr<const Json> base, std::uint64_t version)
    : base_(std::move(base)), version_(version), start_(base_) {}

std::shared_ptr<const Json> ResourceDelta::Snapshot() const {
  if (tree_ == nullptr) return base_;
  return tree_;
}

const std::shared_ptr<const std::string>& ResourceDelta::Text(std::size_t reserve) {
  if (!is_stale_) return text_;
  if (json().is_object()) {
    auto text = WriteMembers(json().get_ref<const Json::object_t&>(), reserve);
    text_ = std::make_shared<const std::string>(std::move(text));
  } else {
    text_ = std::make_shared<const std::string>(Serialise(json()));
  }
  stale_.clear();
  is_stale_ = false;
  return text_;
}

// The text of a member here includes the comma or brace that follows it.
std::string ResourceDelta::WriteMembers(const Json::object_t& members, std::size_t reserve) {
  // Members are never taken away, so an equal number means the same members.
  const bool keeps = member_starts_.size() == members.size() && !is_replaced_;
  std::string text;
  text.reserve(reserve);
  text.push_back('{');
  std::vector<std::size_t> starts;
  starts.reserve(members.size());
  for (const auto& [name, value] : members) {
    const std::size_t at = starts.size();
    starts.push_back(text.size());
    if (keeps && std::find(stale_.begin(), stale_.end(), name) == stale_.end()) {
      const std::size_t begin = member_starts_[at];
      const std::size_t end = at + 1 < members.size() ? member_starts_[at + 1] : text_->size();
      text.append(*text_, begin, end - begin);
    } else {
      AppendMember(text, name, value);
      text.push_back(',');
    }
  }
  if (!members.empty()) text.pop_back();
  text.push_back('}');
  member_starts_ = std::move(starts);
  return text;
}

bool ResourceDelta::Assign(std::string_view pointer, Json value) {
  Json& tree = Open(pointer);
  const std::uint64_t version = HashText(Serialise(value), HashText(pointer, version_));
  if (!redfish::Assign(tree, pointer, std::move(value))) return false;
  Close(version);
  return true;
}

bool ResourceDelta::Append(std::string_view pointer, Json element) {
  const Json* const array = redfish::Resolve(json(), pointer);
  if (array == nullptr || !array->is_array()) return false;
  const std::string at = redfish::AppendPointer(pointer, std::to_string(array->size()));
  const std::uint64_t version = HashText(Serialise(element), HashText(at, version_));
  FindIn(Open(pointer, true), pointer)->push_back(std::move(element));
  Close(version);
  return true;
}

bool ResourceDelta::Erase(std::string_view pointer, std::size_t index) {
  const Json* const array = redfish::Resolve(json(), pointer);
  if (array == nullptr || !array->is_array() || index >= array->size()) return false;
  FindIn(Open(pointer), pointer)->erase(index);
  // No written value ends in this text, so the version differs from that of any write.
  Close(HashText(redfish::AppendPointer(pointer, std::to_string(index)) + " erased", version_));
  return true;
}

Json& ResourceDelta::Open(std::string_view pointer, bool appends) {
  if (tree_ == nullptr) {
    tree_ = std::make_shared<Json>(*base_);
  } else if (!IsSole(tree_)) {
    tree_ = std::make_shared<Json>(*tree_);
  }
  Note(pointer, appends);
  side_effects_.reset();
  is_stale_ = true;
  return *tree_;
}

void ResourceDelta::Close(std::uint64_t version) {
  version_ = version;
  if (!tree_->is_object()) return;
  const auto etag = tree_->find(kETagProperty);
  if (etag == tree_->end()) return;
  *etag = FormatETag(version);
  NoteStale(kETagProperty);
}

void ResourceDelta::NoteStale(const std::string& name) {
  if (std::find(stale_.begin(), stale_.end(), name) == stale_.end()) stale_.push_back(name);
}

void ResourceDelta::Note(std::string_view pointer, bool appends) {
  if (pointer.size() < 2) {
    is_replaced_ = true;
    return;
  }
  const std::string_view top = pointer.substr(0, pointer.find('/', 1));
  const bool is_appended = appends && top == pointer;
  std::string name = redfish::PointerTokens(top).front();
  NoteStale(name);
  const auto noted = std::find_if(written_.begin(), written_.end(),
                                  [&](const Written& written) { return written.name == name; });
  if (noted == written_.end()) {
    written_.push_back({std::move(name), is_appended});
  } else {
    noted->is_appended = noted->is_appended && is_appended;
  }
}

void ResourceDelta::BeginEpisode() {
  side_effects_ = 0;
  start_members_ = Json::object();
  if (is_replaced_) {
    start_ = Snapshot();
    return;
  }
  for (const Written& written : written_) {
    const Json* const member = MemberOf(*tree_, written.name);
    if (member != nullptr) start_members_[written.name] = *member;
  }
}

std::int64_t ResourceDelta::CountSideEffects(const redfish::Schema& schema,
                                             const redfish::Watch& watch, std::string_view uri) {
  if (!side_effects_.has_value()) side_effects_ = CountSideEffectsAfresh(schema, watch, uri);
  return *side_effects_;
}

std::int64_t ResourceDelta::CountSideEffectsAfresh(const redfish::Schema& schema,
                                                   const redfish::Watch& watch,
                                                   std::string_view uri) const {
  // Nothing was written since the episode began.
  if (tree_ == nullptr) return 0;
  const auto at_start = [&](const std::string& name) {
    const Json* const member = MemberOf(start_members_, name);
    return member != nullptr ? member : MemberOf(*start_, name);
  };
  std::vector<std::string> effects;
  if (is_replaced_) {
    Json start = *start_;
    if (!start_members_.empty()) start.update(start_members_);
    effects = redfish::SideEffects(schema, watch, uri, start, *tree_);
  } else {
    std::vector<redfish::MemberChange> changes;
    for (const Written& written : written_) {
      changes.push_back({.name = written.name,
                         .before = at_start(written.name),
                         .after = MemberOf(*tree_, written.name)});
    }
    effects =
        redfish::SideEffects(schema, watch, uri, redfish::TextAt(*tree_, "@odata.type"), changes);
  }
  return static_cast<std::int64_t>(effects.size());
}

std::shared_ptr<Json> ResourceDelta::TakeTree() {
  const bool is_own = tree_ != nullptr && IsSole(tree_);
  if (!is_own || is_replaced_ || !tree_->is_object()) return nullptr;
  for (const Written& written : written_) Restore(written);
  Restore({.name = kETagProperty});
  return std::move(tree_);
}

void ResourceDelta::Restore(const Written& written) {
  const Json* const was = MemberOf(*base_, written.name);
  if (was == nullptr) {
    tree_->erase(written.name);
    return;
  }
  Json& member = (*tree_)[written.name];
  if (written.is_appended) {
    member.erase(member.begin() + static_cast<std::ptrdiff_t>(was->size()), member.end());
  } else {
    member = *was;
  }
}

}  // namespace shoal::mockserver
