// SPDX-License-Identifier: Apache-2.0
#include "mockserver/service/editor.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <limits>
#include <map>

#include "mockserver/messages/etag.h"
#include "mockserver/messages/extended_info.h"
#include "redfish/capture/uri.h"

namespace shoal::mockserver {
namespace {

constexpr const char* kMembers = "/Members";
constexpr const char* kCount = "/Members@odata.count";
constexpr std::size_t kGrowth = 256;

// The last number that was tried as the name of a new member, by collection, so that no number is
// given twice.
struct MemberNumbers {
  std::map<ResourceId, std::uint64_t> next;
};

const std::shared_ptr<const Json>& Nothing() {
  static const auto kNothing = std::make_shared<const Json>(Json::object());
  return kNothing;
}

}  // namespace

std::optional<ResourceId> Editor::Linked(ResourceId id, std::string_view pointer) const {
  const Json* const link = Read(id, pointer);
  return link == nullptr ? std::nullopt : Find(redfish::LinkTarget(*link));
}

std::vector<ResourceId> Editor::LinkedAll(ResourceId id, std::string_view pointer) const {
  std::vector<ResourceId> linked;
  absl::flat_hash_set<ResourceId> seen;
  for (const std::string& uri : redfish::LinkTargets(Read(id, pointer))) {
    const auto target = Find(uri);
    if (target.has_value() && seen.insert(*target).second) linked.push_back(*target);
  }
  return linked;
}

std::optional<ResourceId> Editor::FirstMember(ResourceId collection) const {
  const Json* const links = Read(collection, kMembers);
  if (links == nullptr || !links->is_array()) return std::nullopt;
  for (const Json& link : *links) {
    if (const auto member = Find(redfish::LinkTarget(link))) return member;
  }
  return std::nullopt;
}

std::optional<ResourceId> Editor::Parent(ResourceId id) const {
  const std::string_view uri = Uri(id);
  return Find(uri.substr(0, uri.rfind('/')));
}

bool Editor::IsA(ResourceId id, std::string_view type) const {
  std::string_view own = resource(id).odata_type;
  if (own.starts_with('#')) own.remove_prefix(1);
  return own.starts_with(type) && own.substr(type.size()).starts_with('.');
}

const Json& Editor::Read(ResourceId id) const {
  const auto delta = instance_.deltas_.find(id);
  return delta == instance_.deltas_.end() ? *resource(id).json : delta->second.json();
}

const Json* Editor::Read(ResourceId id, std::string_view pointer) const {
  return redfish::Resolve(Read(id), pointer);
}

std::string Editor::Text(ResourceId id, std::string_view pointer) const {
  const Json* const value = Read(id, pointer);
  return value != nullptr && value->is_string() ? value->get<std::string>() : std::string();
}

bool Editor::IsTrue(ResourceId id, std::string_view pointer) const {
  const Json* const value = Read(id, pointer);
  return value != nullptr && *value == Json(true);
}

std::optional<std::int64_t> Editor::Integer(ResourceId id, std::string_view pointer) const {
  const Json* const value = Read(id, pointer);
  if (value == nullptr || !value->is_number_integer()) return std::nullopt;
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  const bool is_more = value->is_number_unsigned() &&
                       value->get<std::uint64_t>() > static_cast<std::uint64_t>(kMost);
  return is_more ? kMost : value->get<std::int64_t>();
}

std::optional<std::chrono::seconds> Editor::Seconds(ResourceId id, std::string_view pointer) const {
  constexpr std::int64_t kCentury = std::int64_t{100} * 366 * 24 * 3600;
  const auto value = Integer(id, pointer);
  if (!value) return std::nullopt;
  return std::chrono::seconds(std::clamp(*value, std::int64_t{0}, kCentury));
}

std::string Editor::ETag(ResourceId id) const {
  const auto delta = instance_.deltas_.find(id);
  return delta == instance_.deltas_.end() ? resource(id).etag : FormatETag(delta->second.version());
}

bool Editor::Set(ResourceId id, std::string_view pointer, Json value) {
  const Json* const present = Read(id, pointer);
  if (present != nullptr && *present == value) return true;
  if (!instance_.DeltaOf(id).Assign(pointer, std::move(value))) return false;
  instance_.evaluated_ = false;
  return true;
}

void Editor::SetPresent(ResourceId id, std::string_view pointer, Json value) {
  if (Read(id, pointer) != nullptr) Set(id, pointer, std::move(value));
}

ResourceId Editor::Create(std::string uri, Json json) {
  const auto id = static_cast<ResourceId>(world().resources().size() + instance_.created_.size());
  json["@odata.id"] = uri;
  World::Resource resource;
  resource.odata_type = redfish::TextAt(json, "@odata.type");
  resource.methods = world().MethodsOf(resource.odata_type);
  resource.link = world().LinkOf(resource.odata_type);
  resource.version = HashText(Serialise(json), HashText(std::to_string(id)));
  json[kETagProperty] = FormatETag(resource.version);
  // The body may come from a client: it must not take over another resource's target.
  for (auto& [target, action] : World::ActionsIn(json, id)) {
    if (!target.starts_with(uri + '/') || Find(target).has_value()) continue;
    instance_.created_actions_.insert_or_assign(std::move(target), std::move(action));
  }
  resource.json = std::make_shared<const Json>(std::move(json));
  resource.uri = uri;
  instance_.deltas_.try_emplace(id, resource.json, resource.version);
  instance_.created_.push_back(std::move(resource));
  instance_.created_ids_.insert_or_assign(std::move(uri), id);
  instance_.evaluated_ = false;
  return id;
}

void Editor::Remove(ResourceId id) {
  const std::string uri = Uri(id);
  const std::string below = uri + '/';
  std::vector<ResourceId> gone = {id};
  for (const World::Resource& resource : world().Below(uri)) {
    gone.push_back(static_cast<ResourceId>(&resource - world().resources().data()));
  }
  for (const auto& [created, created_id] : instance_.created_ids_) {
    if (!created.starts_with(below)) continue;
    gone.push_back(created_id);
    if (const auto collection = Parent(created_id)) {
      CountGone(*collection, created_id, Membership::kBookkeeping);
    }
  }
  for (const ResourceId one : gone) RemoveOne(one);
  instance_.evaluated_ = false;
}

void Editor::RemoveOne(ResourceId id) {
  const auto named = instance_.created_ids_.find(Uri(id));
  if (named != instance_.created_ids_.end() && named->second == id) {
    instance_.created_ids_.erase(named);
  }
  const std::size_t captured = world().resources().size();
  const bool is_created = id >= captured;
  const Json& created_as = is_created ? *resource(id).json : *Nothing();
  for (const auto& [target, action] : World::ActionsIn(created_as, id)) {
    const auto created = instance_.created_actions_.find(target);
    if (created != instance_.created_actions_.end() && created->second.resource == id) {
      instance_.created_actions_.erase(created);
    }
  }
  instance_.deltas_.erase(id);
  instance_.removed_.insert(id);
  // The URI and type are still read after a removal; the content is not.
  if (is_created) instance_.created_[id - captured].json = Nothing();
}

ResourceId Editor::AddMember(ResourceId collection, const std::string& name, Json json,
                             Membership membership) {
  const ResourceId id = Create(Uri(collection) + '/' + name, std::move(json));
  Json link = {{"@odata.id", Uri(id)}};
  const Json* const present = Read(collection, kMembers);
  if (present != nullptr && present->is_array()) {
    instance_.DeltaOf(collection).Append(kMembers, std::move(link));
    CountMembers(collection);
  } else {
    SetMembers(collection, Json::array({std::move(link)}));
  }
  CountCome(collection, id, membership);
  return id;
}

void Editor::RemoveMember(ResourceId id, Membership membership) {
  const std::string uri = Uri(id);
  const std::optional<ResourceId> collection = Parent(id);
  Remove(id);
  const Json* const present = collection ? Read(*collection, kMembers) : nullptr;
  if (present == nullptr || !present->is_array()) return;
  std::vector<std::size_t> listed;
  for (std::size_t i = 0; i < present->size(); ++i) {
    if (redfish::LinkTarget((*present)[i]) == uri) listed.push_back(i);
  }
  for (auto index = listed.rbegin(); index != listed.rend(); ++index) {
    instance_.DeltaOf(*collection).Erase(kMembers, *index);
  }
  CountMembers(*collection);
  CountGone(*collection, id, membership);
}

void Editor::RemoveMembers(ResourceId collection, Membership membership) {
  for (const ResourceId member : Members(collection)) {
    Remove(member);
    CountGone(collection, member, membership);
  }
  SetMembers(collection, Json::array());
}

void Editor::SetMembers(ResourceId collection, Json members) {
  Set(collection, kMembers, std::move(members));
  CountMembers(collection);
}

void Editor::CountMembers(ResourceId collection) {
  Set(collection, kCount, Read(collection, kMembers)->size());
  instance_.evaluated_ = false;
}

void Editor::CountCome(ResourceId collection, ResourceId member, Membership membership) {
  const bool counts = membership == Membership::kSideEffect;
  instance_.came_.emplace(member, counts);
  if (counts) ++instance_.membership_[collection];
}

void Editor::CountGone(ResourceId collection, ResourceId member, Membership membership) {
  const auto came = instance_.came_.extract(member);
  // A member that comes and goes within an episode is no side effect, whoever removes it.
  if (!came.empty()) {
    if (came.mapped()) --instance_.membership_[collection];
  } else if (membership == Membership::kSideEffect) {
    ++instance_.membership_[collection];
  }
}

std::string Editor::NewMemberName(ResourceId collection) {
  std::uint64_t& next = Notes<MemberNumbers>().next[collection];
  const std::string below = Uri(collection) + '/';
  do {
    ++next;
  } while (Find(below + std::to_string(next)).has_value());
  return std::to_string(next);
}

Response Editor::Representation(ResourceId id) {
  const World::Resource& description = resource(id);
  Response response;
  response.allow = AllowText(description.methods);
  response.link = description.link;
  const auto entry = instance_.deltas_.find(id);
  if (entry == instance_.deltas_.end()) {
    response.body = description.body;
    response.json = description.json;
    response.etag = description.etag;
    return response;
  }
  ResourceDelta& delta = entry->second;
  if (instance_.options_.writes_texts) {
    // Most changes are small, so the captured size plus a little suffices.
    const std::size_t captured = description.body == nullptr ? 0 : description.body->size();
    response.body = delta.Text(captured + kGrowth);
  }
  response.json = delta.Snapshot();
  response.etag = FormatETag(delta.version());
  return response;
}

std::string Editor::DateTime() const {
  const std::time_t seconds =
      std::chrono::duration_cast<std::chrono::seconds>(Epoch() + now()).count();
  std::tm utc{};
  ::gmtime_r(&seconds, &utc);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text.data();
}

void Editor::SetTimer(std::string key, std::chrono::milliseconds delay,
                      std::function<void(Editor&)> run) {
  InstanceState::Timer& timer = instance_.timers_[std::move(key)];
  timer = {instance_.now_ + delay, instance_.timers_total_++, std::move(run)};
}

void Editor::CancelTimer(std::string_view key) {
  const auto found = instance_.timers_.find(key);
  if (found != instance_.timers_.end()) instance_.timers_.erase(found);
}

void Editor::GoOffline(std::chrono::milliseconds window) {
  instance_.offline_until_ = instance_.now_ + window;
}

void Editor::Record(std::string_view kind, ResourceId id, Json detail) {
  const double seconds = std::chrono::duration<double>(instance_.now_).count();
  instance_.Append({std::string(kind), Uri(id), std::move(detail), seconds});
}

}  // namespace shoal::mockserver
