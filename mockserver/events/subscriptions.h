// SPDX-License-Identifier: Apache-2.0
// Subscriptions to events: the members of an EventDestinationCollection (DSP0266, "Eventing", and
// the EventDestination schema).
//
//   POST    Destination (http or https) and Protocol (Redfish) are required. Other properties that
//           the schema of the version has may be given, except those that the service itself sets.
//           Where the EventService lists the values that it takes (EventTypesForSubscription,
//           RegistryPrefixes, ResourceTypes, EventFormatTypes), others are refused. 400, or 503
//           past kMaximumSubscriptions.
//   PATCH   by the schema; HttpHeaders too, which is never shown.
//   DELETE
//   EventDestination.SuspendSubscription, .ResumeSubscription
//
// A new subscription has the version of the collection's members, else the version that the service
// lists among its schemas. Captured subscriptions stay as they are and are served like new ones.
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

// Return the service's EventService, and its collection of subscriptions, or nothing where it has
// none.
std::optional<ResourceId> EventServiceOf(const Editor& editor);
std::optional<ResourceId> SubscriptionsOf(const Editor& editor);
// Returns whether the service publishes events at all.
bool PublishesEvents(const Editor& editor);

// Adds the subscription of an event stream to the service's collection. Returns nothing when the
// collection is full. REQUIRES: SubscriptionsOf returns a collection.
std::optional<ResourceId> AddStreamSubscription(Editor& editor, const std::string& context);

// Returns whether events are POSTed to the subscriber, and may be at present.
bool IsPushed(const Editor& editor, ResourceId subscription);
bool IsSuspended(const Editor& editor, ResourceId subscription);
void SuspendSubscription(Editor& editor, ResourceId subscription);
// Removes the subscription on the service's own initiative.
void EndSubscription(Editor& editor, ResourceId subscription);

// Returns the headers that the subscriber wants with every POST.
HttpHeaders HttpHeadersOf(const Editor& editor, ResourceId subscription);

}  // namespace shoal::mockserver
