// SPDX-License-Identifier: Apache-2.0
// Events sent as they happen on a connection that stays open (DSP0266, "Server-sent events"). A
// client opens a stream by GET of the EventService's ServerSentEventUri, which is not a resource.
//
// Streams exist only with EventDelivery::kPush: a service without a network has no such URI. While
// a stream is open it is a member of the service's subscriptions, of SubscriptionType SSE. It ends
// when the client goes, the subscription is deleted, the service is disabled, or more than
// kMaximumStreamBytes wait. `$filter` selects by EventFormatType, EventType, MessageId,
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

// Answers the GET with 200 and Response::event_stream, with 406 where the client accepts no stream,
// and with 503 when the service is disabled or has kMaximumStreams.
void AddEventStreams(HandlerTable& handlers);

// Returns whether the subscription is an open stream that lets `event` through.
bool IsStreamed(const Editor& editor, ResourceId subscription, const Event& event);
// REQUIRES: IsStreamed.
void StreamEvent(Editor& editor, ResourceId subscription, const Json& payload);

bool HasEventStreams(const Editor& editor);
// Returns the numbers of the open streams.
std::set<std::uint64_t> OpenStreams(const Editor& editor);
// Returns the text since the last call, or nothing, from then on, once the stream has ended.
std::optional<std::string> TakeStreamText(Editor& editor, std::uint64_t stream);
// Closes the stream, because its client has gone.
void CloseEventStream(Editor& editor, std::uint64_t stream);

}  // namespace shoal::mockserver
