// SPDX-License-Identifier: Apache-2.0
#include "mockserver/events/event_streams.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "mockserver/access/access.h"
#include "mockserver/events/subscriptions.h"
#include "mockserver/messages/extended_info.h"
#include "mockserver/resources/query.h"
#include "redfish/capture/uri.h"

namespace shoal::mockserver {
namespace {

struct Stream {
  std::uint64_t number = 0;
  std::optional<Filter> filter;
  std::string text;
  bool overflowed = false;
};

struct EventStreams {
  // The open streams, by subscription.
  std::map<ResourceId, Stream> open;
};

const Stream* FindStream(const Editor& editor, ResourceId subscription) {
  const EventStreams* const streams = editor.FindNotes<EventStreams>();
  if (streams == nullptr) return nullptr;
  const auto found = streams->open.find(subscription);
  return found == streams->open.end() ? nullptr : &found->second;
}

bool IsThere(const Editor& editor, ResourceId subscription) {
  return editor.Find(editor.Uri(subscription)) == subscription;
}

bool AcceptsStream(std::string_view accept) {
  constexpr std::array<std::string_view, 3> kTypes = {"text/event-stream", "text/*", "*/*"};
  return accept.empty() || std::any_of(kTypes.begin(), kTypes.end(), [accept](auto type) {
           return accept.find(type) != std::string_view::npos;
         });
}

Response Open(Editor& editor, std::optional<Filter> filter) {
  EventStreams& streams = editor.Notes<EventStreams>();
  const std::uint64_t number = editor.NewNumber();
  const auto subscription =
      streams.open.size() < kMaximumStreams && SubscriptionsOf(editor).has_value()
          ? AddStreamSubscription(editor, "stream-" + std::to_string(number))
          : std::nullopt;
  if (!subscription.has_value()) return ErrorResponse(503, "EventSubscriptionLimitExceeded");
  streams.open[*subscription] = {.number = number, .filter = std::move(filter), .text = {}};
  return {.status = 200, .content_type = "text/event-stream", .event_stream = number};
}

std::optional<Response> AnswerEventStream(Editor& editor, const Request& request,
                                          const Principal* principal, std::string_view uri) {
  if (editor.options().event_delivery != EventDelivery::kPush) return std::nullopt;
  const auto service = EventServiceOf(editor);
  const std::string own = service ? editor.Text(*service, "/ServerSentEventUri") : std::string();
  if (own.empty() || redfish::CanonicalUri(own) != uri) return std::nullopt;
  if (request.method != Method::kGet) {
    Response refusal = ErrorResponse(405, "OperationNotAllowed");
    refusal.allow = "GET";
    return refusal;
  }
  if (auto refusal = Forbid(editor, principal, Method::kGet, *service, nullptr)) return refusal;
  if (!AcceptsStream(request.accept)) return ErrorResponse(406, "HeaderInvalid", {"Accept"});
  Query query;
  if (std::optional<Response> refusal = ParseQuery(request.uri, query)) return refusal;
  std::optional<Filter> filter = std::exchange(query.filter, std::nullopt);
  if (!query.empty()) return ErrorResponse(400, "QueryNotSupportedOnResource");
  if (!PublishesEvents(editor)) return ErrorResponse(503, "ServiceDisabled", {std::string(uri)});
  return Open(editor, std::move(filter));
}

}  // namespace

void AddEventStreams(HandlerTable& handlers) { handlers.OnElsewhere(&AnswerEventStream); }

bool IsStreamed(const Editor& editor, ResourceId subscription, const Event& event) {
  const Stream* const stream = FindStream(editor, subscription);
  if (stream == nullptr || stream->overflowed || IsSuspended(editor, subscription)) return false;
  return !stream->filter.has_value() ||
         stream->filter->Matches({{"EventFormatType", "Event"},
                                  {"EventType", event.event_type},
                                  {"MessageId", event.message_id},
                                  {"OriginResource", event.origin},
                                  {"RegistryPrefix", std::string(RegistryOf(event.message_id))},
                                  {"ResourceType", event.origin_type}});
}

void StreamEvent(Editor& editor, ResourceId subscription, const Json& payload) {
  Stream& stream = editor.Notes<EventStreams>().open.at(subscription);
  const std::string text =
      "id: " + payload.at("Id").get<std::string>() + "\ndata: " + Serialise(payload) + "\n\n";
  stream.overflowed = stream.text.size() + text.size() > kMaximumStreamBytes;
  if (!stream.overflowed) stream.text += text;
}

bool HasEventStreams(const Editor& editor) {
  const EventStreams* const streams = editor.FindNotes<EventStreams>();
  return streams != nullptr && !streams->open.empty();
}

std::set<std::uint64_t> OpenStreams(const Editor& editor) {
  std::set<std::uint64_t> numbers;
  if (!HasEventStreams(editor)) return numbers;
  for (const auto& [subscription, stream] : editor.FindNotes<EventStreams>()->open) {
    numbers.insert(stream.number);
  }
  return numbers;
}

std::optional<std::string> TakeStreamText(Editor& editor, std::uint64_t stream) {
  if (!HasEventStreams(editor)) return std::nullopt;
  for (auto& [subscription, open] : editor.Notes<EventStreams>().open) {
    if (open.number != stream) continue;
    if (IsThere(editor, subscription) && !open.overflowed && PublishesEvents(editor)) {
      return std::exchange(open.text, {});
    }
    CloseEventStream(editor, stream);
    return std::nullopt;
  }
  return std::nullopt;
}

void CloseEventStream(Editor& editor, std::uint64_t stream) {
  if (!HasEventStreams(editor)) return;
  auto& streams = editor.Notes<EventStreams>().open;
  const auto found = std::find_if(streams.begin(), streams.end(), [stream](const auto& entry) {
    return entry.second.number == stream;
  });
  if (found == streams.end()) return;
  const ResourceId subscription = found->first;
  streams.erase(found);
  if (IsThere(editor, subscription)) EndSubscription(editor, subscription);
}

}  // namespace shoal::mockserver
