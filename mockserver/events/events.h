// SPDX-License-Identifier: Apache-2.0
// Events that the service tells its subscribers (DSP0266, "Eventing" and "Event message").
//
// Events announce new power states (ResourcePoweredOn, ...Off, ResourcePoweringOn, ...Off), what a
// client did to resources (ResourceCreated, ResourceChanged, ResourceRemoved; not for subscriptions
// themselves), and what EventService.SubmitTestEvent asks for. A message's EventType is that of the
// old scheme where the EventService offers it, else Alert, else Other.
//
// A subscription gets an event when it is not suspended and all its filters let the event through:
// EventTypes (Other stands for all), RegistryPrefixes and MessageIds (either is enough),
// ExcludeRegistryPrefixes, ExcludeMessageIds, ResourceTypes, OriginResources with
// SubordinateResources, and Severities. An empty or absent list lets everything through. No event
// is sent while ServiceEnabled is false. deliveries.h and event_streams.h say how an event is sent.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "mockserver/service/handler.h"

namespace shoal::mockserver {

struct Event {
  // Such as "ResourceEvent.1.4.ResourcePoweredOn".
  std::string message_id;
  std::string event_type;
  // "OK", "Warning" or "Critical".
  std::string severity;
  std::string message;
  std::vector<std::string> args;
  // The URI of the resource concerned, and its type without version. The resource may be gone.
  std::string origin;
  std::string origin_type;
  // Members of the event record that replace what the service would write.
  Json given = Json::object();
};

// Adds EventService.SubmitTestEvent.
void AddEvents(HandlerTable& handlers);

// Sends the event to the subscribers that want it. It costs little when nobody has subscribed.
void Emit(Editor& editor, const Event& event);

// Emits a message of the standard's ResourceEvent or TaskEvent registry, such as "TaskCompletedOK",
// about `origin`. `args` fill its %1, %2, ... A message that is not in the table is ignored.
void Announce(Editor& editor, std::string_view message, ResourceId origin,
              std::vector<std::string> args = {});

// Announces the resource's new PowerState.
void AnnouncePower(Editor& editor, ResourceId resource, const std::string& state);

// Announces the effect of a client's request that was answered with `response`. `etag` is the
// resource's ETag from before the request.
void AnnounceRequest(Editor& editor, Method method, ResourceId resource, const std::string& etag,
                     const Response& response);

// Returns "ResourceEvent" for "ResourceEvent.1.4.ResourcePoweredOn".
std::string_view RegistryOf(std::string_view message_id);

}  // namespace shoal::mockserver
