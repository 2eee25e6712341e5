// SPDX-License-Identifier: Apache-2.0
// Who is told of events: the members of an EventDestinationCollection (DSP0266, "Eventing", and the
// EventDestination schema).
//
//   POST    Destination (http or https) and Protocol (Redfish) are required; what else the schema
//           of the version has may be given, but not what is the service's own to say. Where the
//           EventService lists what it takes (EventTypesForSubscription, RegistryPrefixes,
//           ResourceTypes, EventFormatTypes), nothing else is. 400, or 503 past
//           kMaximumSubscriptions.
//   PATCH   by the schema; HttpHeaders too, which is never shown.
//   DELETE
//   EventDestination.SuspendSubscription, .ResumeSubscription
//
// A new one is of the version that the collection's members have, else of the one that the service
// lists among its schemas. Captured ones stay as they are and are served like new ones.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mockserver/service/handler.h"

namespace shoal::mockserver {

inline constexpr std::size_t kMaximumSubscriptions = 64;

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

void AddSubscriptions(HandlerTable& handlers);

// The service's EventService, and its collection of subscriptions; nothing where it has none.
std::optional<ResourceId> EventServiceOf(const Editor& editor);
std::optional<ResourceId> SubscriptionsOf(const Editor& editor);
// Whether events are published at all.
bool PublishesEvents(const Editor& editor);

// Adds the subscription of a stream of events to the service's collection, or nothing when it is
// full. REQUIRES: SubscriptionsOf.
std::optional<ResourceId> AddStreamSubscription(Editor& editor, const std::string& context);

// Whether events for it are POSTed to it, and may be now.
bool IsPushed(const Editor& editor, ResourceId subscription);
bool IsSuspended(const Editor& editor, ResourceId subscription);
void SuspendSubscription(Editor& editor, ResourceId subscription);
// Removes it by the service's own doing.
void EndSubscription(Editor& editor, ResourceId subscription);

// What the subscriber wants to have with every POST.
HttpHeaders HttpHeadersOf(const Editor& editor, ResourceId subscription);

}  // namespace shoal::mockserver
