// SPDX-License-Identifier: Apache-2.0
// How an instance comes to an episode's start, and what the watch asks of it beyond the tree.
#include <algorithm>
#include <string>
#include <utility>

#include "mockserver/access/credentials.h"
#include "mockserver/behaviours/bios_actions.h"
#include "mockserver/service/editor.h"
#include "mockserver/service/instance.h"
#include "redfish/capture/uri.h"

namespace shoal::mockserver {

absl::Status Instance::Reset(std::span<const redfish::StartOperation> start,
                             std::optional<redfish::Watch> watch) {
  Clear();
  ++resets_;
  for (const redfish::StartOperation& operation : start) {
    const absl::Status status = PerformStart(operation);
    if (status.ok()) continue;
    Clear();
    return runtime::Annotate(status, "start");
  }
  for (auto& [id, delta] : deltas_) delta.BeginEpisode();
  history_ = std::make_shared<History>();
  membership_.clear();
  came_.clear();
  watch_ = std::move(watch);
  Evaluate();
  return absl::OkStatus();
}

absl::Status Instance::PerformStart(const redfish::StartOperation& operation) {
  const std::string uri = redfish::CanonicalUri(operation.uri);
  if (!operation.method.empty()) {
    const Response response =
        Answer({.method = ParseMethod(operation.method),
                .uri = uri,
                .json = operation.value.is_null() ? nullptr : &operation.value,
                .if_match = "*"},
               uri, nullptr);
    if (response.status >= 300) {
      return runtime::FailedPrecondition(
          operation.method + " " + uri + " is answered " + std::to_string(response.status) + " " +
          (response.body == nullptr ? std::string() : response.body->substr(0, 300)));
    }
    Advance(std::max({options_.task_duration, options_.power_transient, options_.manager_restart}));
    return absl::OkStatus();
  }
  const std::optional<ResourceId> id = Locate(uri);
  if (!id.has_value()) {
    return runtime::NotFound(world_->capture().name() + " has no resource " + operation.uri);
  }
  Editor editor(*this);
  if (operation.pointer.starts_with('/') && editor.Set(*id, operation.pointer, operation.value)) {
    return absl::OkStatus();
  }
  return runtime::InvalidArgument("pointer \"" + operation.pointer + "\" leads nowhere in " +
                                  operation.uri);
}

bool Instance::HasPassword(std::string_view uri, std::string_view name,
                           std::string_view password) const {
  const std::optional<ResourceId> id = Locate(uri);
  if (!id.has_value()) return false;
  // An editor that is read alone.
  const Editor editor(const_cast<Instance&>(*this));
  return editor.IsA(*id, "Bios") ? HasBiosPassword(editor, *id, name, password)
                                 : mockserver::HasPassword(editor, *id, password);
}

}  // namespace shoal::mockserver
