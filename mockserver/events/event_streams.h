// SPDX-License-Identifier: Apache-2.0
// Events as they happen on a connection that stays open (DSP0266, "Server-sent events"): GET of the
// EventService's ServerSentEventUri, which is no resource.
//
// Only with EventDelivery::kPush: a service without a network has no such URI. An open stream is a
// member of the service's subscriptions, of SubscriptionType SSE, as long as it lasts: until the
// client goes, the subscription is deleted, the service is disabled, or more than
// kMaximumStreamBytes wait. `$filter` chooses by EventFormatType, EventType, MessageId,
// OriginResource, RegistryPrefix and ResourceType (filter.h). Each event is
//   id: 7
//   data: {"@odata.type": "#Event.v1_7_0.Event", "Id": "7", ...}
// and a blank line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "mockserver/events/events.h"
#include "mockserver/messages/message.h"
#include "mockserver/service/editor.h"
#include "mockserver/service/handler.h"

namespace shoal::mockserver {

inline constexpr std::size_t kMaximumStreams = 8;
inline constexpr std::size_t kMaximumStreamBytes = std::size_t{1} << 20;

// A GET is answered with 200 and Response::event_stream; 406 where the client takes no stream, 503
// when the service is disabled or has kMaximumStreams.
void AddEventStreams(HandlerTable& handlers);

// Whether the subscription is an open stream that lets `event` through.
bool IsStreamed(const Editor& editor, ResourceId subscription, const Event& event);
// REQUIRES: IsStreamed.
void StreamEvent(Editor& editor, ResourceId subscription, const Json& payload);

bool HasEventStreams(const Editor& editor);
// The numbers of those that are open.
std::set<std::uint64_t> OpenStreams(const Editor& editor);
// What came since the last call; nothing, for ever, once the stream has ended.
std::optional<std::string> TakeStreamText(Editor& editor, std::uint64_t stream);
// The client has gone.
void CloseEventStream(Editor& editor, std::uint64_t stream);

}  // namespace shoal::mockserver
