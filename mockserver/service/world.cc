// SPDX-License-Identifier: Apache-2.0
#include "mockserver/service/world.h"

#include <absl/container/flat_hash_map.h>
#include <absl/strings/match.h>

#include <algorithm>
#include <deque>
#include <map>
#include <string>
#include <utility>

#include "mockserver/messages/etag.h"
#include "mockserver/messages/extended_info.h"
#include "mockserver/service/protocol_features.h"
#include "mockserver/service/world_documents.h"
#include "platform/runtime/text_map.h"
#include "redfish/capture/capture.h"
#include "redfish/capture/uri.h"
#include "redfish/catalog/membership.h"
#include "redfish/schema/attribute_registry.h"
#include "redfish/schema/schema.h"

namespace shoal::mockserver {
namespace {

std::string ETagOf(const Json& json, const std::string& body) {
  const auto recorded = json.find(kETagProperty);
  if (recorded == json.end() || !recorded->is_string()) return FormatETag(HashText(body));
  std::string etag = recorded->get<std::string>();
  const bool quoted = etag.starts_with('"') || etag.starts_with("W/\"");
  return quoted ? etag : '"' + etag + '"';
}

}  // namespace

struct World::Index {
  // The keys borrow from Resource::uri, as resources_ does not grow after Create, and from
  // other_names.
  absl::flat_hash_map<std::string_view, ResourceId> resources;
  std::deque<std::string> other_names;
  runtime::TextMap<Action> actions;
  absl::flat_hash_map<ResourceId, ResourceId> settings;
  absl::flat_hash_map<ResourceId, ResourceId> active;
  runtime::TextMap<redfish::AttributeRegistry> registries;
  // The Link headers by type. A map keeps its nodes in place, and resources borrow the texts.
  std::map<std::string, std::string, std::less<>> links;
};

World::World(std::shared_ptr<const redfish::Capture> capture,
             std::shared_ptr<const redfish::Schema> schema, WorldOptions options)
    : capture_(std::move(capture)),
      schema_(std::move(schema)),
      options_(std::move(options)),
      index_(std::make_unique<Index>()) {}

World::~World() = default;

absl::StatusOr<std::shared_ptr<const World>> World::Create(
    std::shared_ptr<const redfish::Capture> capture, std::shared_ptr<const redfish::Schema> schema,
    WorldOptions options) {
  const std::shared_ptr<World> world(
      new World(std::move(capture), std::move(schema), std::move(options)));
  const auto& captured = world->capture_->resources();
  world->resources_.reserve(captured.size());
  for (const auto& [uri, json] : captured) world->AddResource(uri, json);
  for (ResourceId id = 0; id < world->resources_.size(); ++id) {
    const Resource& resource = world->resources_[id];
    world->index_->resources.emplace(resource.uri, id);
    for (auto& [target, action] : ActionsIn(*resource.json, id)) {
      world->index_->actions.emplace(std::move(target), std::move(action));
    }
  }
  for (ResourceId id = 0; id < world->resources_.size(); ++id) world->AddOtherName(id);
  for (ResourceId id = 0; id < world->resources_.size(); ++id) {
    world->AddSettings(id);
    world->AddAccountSlots(id);
  }
  world->AddDocuments();
  const bool fits = std::any_of(
      world->resources_.begin(), world->resources_.end(),
      [&](const Resource& resource) { return world->schema_->Knows(resource.odata_type); });
  if (!fits) {
    return runtime::FailedPrecondition("the schema table knows no type of capture " +
                                       world->capture_->name());
  }
  return std::shared_ptr<const World>(world);
}

void World::AddResource(const std::string& uri, const Json& json) {
  Resource resource;
  resource.uri = uri;
  resource.json = options_.tells_features && uri == redfish::kServiceRoot
                      ? std::make_shared<const Json>(WithServedFeatures(json, *schema_))
                      : std::shared_ptr<const Json>(capture_, &json);
  resource.body = std::make_shared<const std::string>(Serialise(*resource.json));
  resource.etag = ETagOf(json, *resource.body);
  resource.version = HashText(resource.etag);
  resource.odata_type = redfish::TextAt(json, "@odata.type");
  resource.methods = MethodsOf(resource.odata_type);
  resources_.push_back(std::move(resource));
}

void World::AddOtherName(ResourceId id) {
  const Resource& resource = resources_[id];
  std::string name = redfish::LinkTarget(*resource.json);
  if (name == resource.uri || !absl::EqualsIgnoreCase(name, resource.uri)) return;
  index_->other_names.push_back(std::move(name));
  index_->resources.emplace(index_->other_names.back(), id);
}

void World::AddDocuments() {
  if (options_.documents == nullptr) return;
  documents_ = std::make_unique<const WorldDocuments>(*this, options_.documents);
  for (Resource& resource : resources_) {
    const auto [link, is_new] = index_->links.try_emplace(resource.odata_type);
    if (is_new) link->second = documents_->DescribedBy(resource.odata_type);
    resource.link = link->second;
  }
}

void World::AddSettings(ResourceId id) {
  const Json& json = *resources_[id].json;
  if (auto registry = redfish::AttributeRegistry::Parse(json)) {
    std::string name = registry->id();
    index_->registries.emplace(std::move(name), *std::move(registry));
  }
  const Json* const link = redfish::Resolve(json, "/@Redfish.Settings/SettingsObject");
  const auto settings = link == nullptr ? std::nullopt : Find(redfish::LinkTarget(*link));
  if (!settings || *settings == id) return;
  Methods& methods = resources_[*settings].methods;
  methods.patch = methods.patch || resources_[id].methods.patch;
  methods.remove = false;
  index_->settings.emplace(id, *settings);
  index_->active.emplace(*settings, id);
}

void World::AddAccountSlots(ResourceId collection) {
  const std::vector<std::string> slots =
      redfish::AccountSlots(*capture_, *resources_[collection].json);
  if (slots.empty()) return;
  resources_[collection].methods.post = false;
  for (const std::string& slot : slots) resources_[*Find(slot)].methods.remove = false;
}

std::vector<std::pair<std::string, World::Action>> World::ActionsIn(const Json& json,
                                                                    ResourceId id) {
  std::vector<std::pair<std::string, Action>> found;
  for (const char* parent : {"/Actions", "/Actions/Oem"}) {
    const Json* const actions = redfish::Resolve(json, parent);
    if (actions == nullptr || !actions->is_object()) continue;
    for (const auto& [name, object] : actions->items()) {
      const std::string target = redfish::TextAt(object, "target");
      if (!name.starts_with('#') || target.empty()) continue;
      found.emplace_back(redfish::CanonicalUri(target),
                         Action{id, name.substr(1), redfish::AppendPointer(parent, name)});
    }
  }
  return found;
}

Methods World::MethodsOf(std::string_view odata_type) const {
  const redfish::AllowedMethods allowed = schema_->Methods(odata_type);
  const bool is_hardware = redfish::IsHardware(odata_type);
  const bool is_oem = !odata_type.empty() && !schema_->Knows(odata_type);
  return {.post = allowed.insert && !is_hardware,
          .patch = allowed.update || (options_.writes_oem && is_oem),
          .remove = allowed.remove && !is_hardware};
}

std::optional<ResourceId> World::Find(std::string_view uri) const {
  const auto found = index_->resources.find(uri);
  if (found == index_->resources.end()) return std::nullopt;
  return found->second;
}

std::span<const World::Resource> World::Below(std::string_view uri) const {
  const std::string first = std::string(uri) + '/';
  const std::string last = std::string(uri) + '0';  // what follows '/' in ASCII
  const auto by_uri = [](const Resource& resource, const std::string& text) {
    return resource.uri < text;
  };
  const auto begin = std::lower_bound(resources_.begin(), resources_.end(), first, by_uri);
  const auto end = std::lower_bound(begin, resources_.end(), last, by_uri);
  return {begin, end};
}

std::string_view World::LinkOf(std::string_view odata_type) const {
  const auto found = index_->links.find(odata_type);
  return found == index_->links.end() ? std::string_view() : std::string_view(found->second);
}

std::optional<ResourceId> World::SettingsOf(ResourceId id) const {
  const auto found = index_->settings.find(id);
  return found == index_->settings.end() ? std::nullopt : std::optional(found->second);
}

std::optional<ResourceId> World::ActiveOf(ResourceId settings) const {
  const auto found = index_->active.find(settings);
  return found == index_->active.end() ? std::nullopt : std::optional(found->second);
}

const redfish::AttributeRegistry* World::FindAttributeRegistry(std::string_view id) const {
  const auto found = index_->registries.find(id);
  return found == index_->registries.end() ? nullptr : &found->second;
}

const World::Action* World::FindAction(std::string_view uri) const {
  const auto found = index_->actions.find(uri);
  return found == index_->actions.end() ? nullptr : &found->second;
}

}  // namespace shoal::mockserver
