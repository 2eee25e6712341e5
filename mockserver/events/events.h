// SPDX-License-Identifier: Apache-2.0
// Events (DSP0266, "Eventing" and "Event message"): what the service tells its subscribers.
//
// Announced are: power states as they come (ResourcePoweredOn, ...Off, ResourcePoweringOn, ...Off);
// what a client did to resources (ResourceCreated, ResourceChanged, ResourceRemoved; subscriptions
// themselves excepted); what EventService.SubmitTestEvent asks for. A message's EventType is the
// one of the old scheme where the EventService offers it, else Alert, else Other.
//
// A subscription gets an event when it is not suspended and its EventTypes (Other stands for all),
// RegistryPrefixes and MessageIds (either is enough), ExcludeRegistryPrefixes, ExcludeMessageIds,
// ResourceTypes, OriginResources with SubordinateResources, and Severities let it through; an empty
// or absent list lets everything. No event at all while ServiceEnabled is false. deliveries.h and
// event_streams.h say how it gets there.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "mockserver/service/handler.h"

namespace shoal::mockserver {

struct Event {
  // "ResourceEvent.1.4.ResourcePoweredOn".
  std::string message_id;
  std::string event_type;
  // "OK", "Warning" or "Critical".
  std::string severity;
  std::string message;
  std::vector<std::string> args;
  // URI and type without version of the resource that it is about; it may be gone.
  std::string origin;
  std::string origin_type;
  // Members of the record that stand instead of what the service would write.
  Json given = Json::object();
};

// SubmitTestEvent.
void AddEvents(HandlerTable& handlers);

// Tells who wants to know. Costs little when nobody has subscribed.
void Emit(Editor& editor, const Event& event);

// Emits a message of the standard's ResourceEvent or TaskEvent registry, "TaskCompletedOK", about
// `origin`; `args` fill its %1, %2, ... Nothing for a message that is not in the table.
void Announce(Editor& editor, std::string_view message, ResourceId origin,
              std::vector<std::string> args = {});

// The same for a resource's new PowerState.
void AnnouncePower(Editor& editor, ResourceId resource, const std::string& state);

// The same for a client's request that was answered with `response`; `etag` is the resource's from
// before it.
void AnnounceRequest(Editor& editor, Method method, ResourceId resource, const std::string& etag,
                     const Response& response);

// "ResourceEvent" of "ResourceEvent.1.4.ResourcePoweredOn".
std::string_view RegistryOf(std::string_view message_id);

}  // namespace shoal::mockserver
