// SPDX-License-Identifier: Apache-2.0
#include "mockserver/service/instance_core.h"

#include <utility>

#include "mockserver/service/handler.h"
#include "mockserver/service/tree_pool.h"

namespace shoal::mockserver {

InstanceCore::InstanceCore(std::shared_ptr<const World> world, InstanceOptions options,
                           const HandlerTable& handlers)
    : InstanceState(options.seed),
      world_(std::move(world)),
      options_(std::move(options)),
      handlers_(handlers) {}

ResourceDelta& InstanceCore::DeltaOf(ResourceId id) {
  const World::Resource& resource = Description(id);
  const auto [entry, is_new] = deltas_.try_emplace(id, resource.json, resource.version);
  if (is_new && options_.trees != nullptr) {
    entry->second.UseTree(options_.trees->Take(resource.json));
  }
  return entry->second;
}

std::optional<ResourceId> InstanceCore::Locate(std::string_view uri) const {
  if (!created_ids_.empty()) {
    const auto created = created_ids_.find(uri);
    if (created != created_ids_.end()) return created->second;
  }
  const std::optional<ResourceId> id = world_->Find(uri);
  return id.has_value() && removed_.contains(*id) ? std::nullopt : id;
}

std::optional<ResourceId> InstanceCore::LocateTarget(Method method, std::string_view uri) const {
  constexpr std::string_view kMembers = "/Members";
  const std::optional<ResourceId> id = Locate(uri);
  if (id.has_value() || method != Method::kPost || !uri.ends_with(kMembers)) return id;
  uri.remove_suffix(kMembers.size());
  const std::optional<ResourceId> above = Locate(uri);
  return above.has_value() && Description(*above).methods.post ? above : std::nullopt;
}

const World::Resource& InstanceCore::Description(ResourceId id) const {
  const std::size_t captured = world_->resources().size();
  return id < captured ? world_->resource(id) : created_[id - captured];
}

const World::Action* InstanceCore::FindAction(std::string_view uri) const {
  const World::Action* action = world_->FindAction(uri);
  const auto created = created_actions_.find(uri);
  if (created != created_actions_.end()) action = &created->second;
  return action == nullptr || removed_.contains(action->resource) ? nullptr : action;
}

const Json* InstanceCore::Find(std::string_view uri) const {
  const std::optional<ResourceId> id = Locate(uri);
  if (!id.has_value()) return nullptr;
  const auto delta = deltas_.find(*id);
  return delta == deltas_.end() ? Description(*id).json.get() : &delta->second.json();
}

}  // namespace shoal::mockserver
