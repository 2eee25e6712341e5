// SPDX-License-Identifier: Apache-2.0
#include "mockserver/editor.h"

#include <array>
#include <charconv>
#include <utility>

#include "mockserver/etag.h"
#include "mockserver/extended_info.h"
#include "redfish/uri.h"

namespace shoal::mockserver {

const Json& Editor::Read(ResourceId id) const {
  const auto delta = instance_.deltas_.find(id);
  return delta == instance_.deltas_.end() ? *world().resource(id).json : *delta->second.json;
}

const Json* Editor::Read(ResourceId id, std::string_view pointer) const {
  return redfish::Resolve(Read(id), pointer);
}

std::string Editor::Text(ResourceId id, std::string_view pointer) const {
  const Json* const value = Read(id, pointer);
  return value != nullptr && value->is_string() ? value->get<std::string>() : std::string();
}

std::string Editor::ETag(ResourceId id) const {
  const auto delta = instance_.deltas_.find(id);
  return delta == instance_.deltas_.end() ? world().resource(id).etag
                                          : FormatETag(delta->second.version);
}

Instance::Delta& Editor::Change(ResourceId id) {
  const auto [entry, is_new] = instance_.deltas_.try_emplace(id);
  Instance::Delta& delta = entry->second;
  if (is_new) {
    const World::Resource& resource = world().resource(id);
    delta.start = resource.json;
    delta.version = resource.version;
    delta.json = std::make_shared<Json>(*resource.json);
  } else if (delta.json.use_count() > 1) {
    // Someone holds an answer, or this is still the start that side effects are counted from.
    delta.json = std::make_shared<Json>(*delta.json);
  }
  return delta;
}

bool Editor::Set(ResourceId id, std::string_view pointer, Json value) {
  const Json* const present = Read(id, pointer);
  if (present != nullptr && *present == value) return true;
  Instance::Delta& delta = Change(id);
  const std::uint64_t version = HashText(Serialise(value), HashText(pointer, delta.version));
  if (!redfish::Assign(*delta.json, pointer, std::move(value))) return false;
  delta.version = version;
  const auto etag = delta.json->find(kETagProperty);
  if (etag != delta.json->end()) *etag = FormatETag(version);
  delta.body = nullptr;
  delta.collateral = -1;
  instance_.evaluated_ = false;
  return true;
}

void Editor::SetPresent(ResourceId id, std::string_view pointer, Json value) {
  if (Read(id, pointer) != nullptr) Set(id, pointer, std::move(value));
}

Response Editor::Resource(ResourceId id) {
  const World::Resource& resource = world().resource(id);
  Response response;
  response.allow = resource.allow;
  const auto entry = instance_.deltas_.find(id);
  if (entry == instance_.deltas_.end()) {
    response.body = resource.body;
    response.json = resource.json;
    response.etag = resource.etag;
    return response;
  }
  Instance::Delta& delta = entry->second;
  if (delta.body == nullptr) {
    delta.body = std::make_shared<const std::string>(Serialise(*delta.json));
  }
  response.body = delta.body;
  response.json = delta.json;
  response.etag = FormatETag(delta.version);
  return response;
}

void Editor::Record(std::string_view kind, ResourceId id, Json detail) {
  const double seconds = std::chrono::duration<double>(instance_.now_).count();
  instance_.history_.push_back(
      {std::string(kind), world().resource(id).uri, std::move(detail), seconds});
  instance_.evaluated_ = false;
}

void Editor::SetPowerTimer(ResourceId system, std::chrono::milliseconds delay, bool power_on) {
  CancelPowerTimer(system);
  instance_.timers_.push_back({instance_.now_ + delay, system, power_on});
}

void Editor::CancelPowerTimer(ResourceId system) {
  std::erase_if(instance_.timers_,
                [system](const Instance::Timer& timer) { return timer.system == system; });
}

}  // namespace shoal::mockserver
