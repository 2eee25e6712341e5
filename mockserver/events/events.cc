// SPDX-License-Identifier: Apache-2.0
#include "mockserver/events/events.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "mockserver/events/deliveries.h"
#include "mockserver/events/event_streams.h"
#include "mockserver/events/subscriptions.h"
#include "mockserver/messages/extended_info.h"
#include "redfish/capture/uri.h"

namespace shoal::mockserver {
namespace {

constexpr const char* kEventType = "#Event.v1_7_0.Event";
constexpr const char* kResourceEvent = "ResourceEvent.1.4.";
constexpr const char* kTaskEvent = "TaskEvent.1.0.";

struct Definition {
  std::string_view name;
  const char* registry;
  const char* event_type;
  const char* severity;
  std::string_view text;
};

// The messages of ResourceEvent 1.4.3 and TaskEvent 1.0.5 that are announced.
constexpr std::array kDefinitions = {
    Definition{"ResourceCreated", kResourceEvent, "ResourceAdded", "OK",
               "The resource was created successfully."},
    Definition{"ResourceChanged", kResourceEvent, "ResourceUpdated", "OK",
               "One or more resource properties have changed."},
    Definition{"ResourceRemoved", kResourceEvent, "ResourceRemoved", "OK",
               "The resource was removed successfully."},
    Definition{"ResourcePoweredOn", kResourceEvent, "StatusChange", "OK",
               "The resource '%1' has powered on."},
    Definition{"ResourcePoweringOn", kResourceEvent, "StatusChange", "OK",
               "The resource '%1' is powering on."},
    Definition{"ResourcePoweredOff", kResourceEvent, "StatusChange", "OK",
               "The resource '%1' has powered off."},
    Definition{"ResourcePoweringOff", kResourceEvent, "StatusChange", "OK",
               "The resource '%1' is powering off."},
    Definition{"TaskStarted", kTaskEvent, "StatusChange", "OK",
               "The task with Id '%1' has started."},
    Definition{"TaskCompletedOK", kTaskEvent, "StatusChange", "OK",
               "The task with Id '%1' has completed."},
    Definition{"TaskCompletedWarning", kTaskEvent, "StatusChange", "Warning",
               "The task with Id '%1' has completed with warnings."},
    Definition{"TaskAborted", kTaskEvent, "StatusChange", "Critical",
               "The task with Id '%1' has completed with errors."},
    Definition{"TaskCancelled", kTaskEvent, "StatusChange", "Warning",
               "Work on the task with Id '%1' was halted prior to completion due to an explicit "
               "request."},
    Definition{"TaskRemoved", kTaskEvent, "StatusChange", "Warning",
               "The task with Id '%1' was removed."},
    Definition{"TaskProgressChanged", kTaskEvent, "StatusChange", "OK",
               "The task with Id '%1' has changed to progress %2 percent complete."},
};

struct EventNumbers {
  std::uint64_t last = 0;
};

bool AnyoneListens(const Editor& editor) {
  const auto collection = SubscriptionsOf(editor);
  if (!collection.has_value()) return false;
  const Json* const members = editor.Read(*collection, "/Members");
  return members != nullptr && !members->empty() && PublishesEvents(editor);
}

std::string Fill(std::string_view text, const std::vector<std::string>& args) {
  std::string filled(text);
  for (std::size_t i = 0; i < args.size(); ++i) {
    const std::size_t place = filled.find('%' + std::to_string(i + 1));
    if (place != std::string::npos) filled.replace(place, 2, args[i]);
  }
  return filled;
}

std::string TypeName(std::string_view odata_type) {
  if (odata_type.starts_with('#')) odata_type.remove_prefix(1);
  return std::string(odata_type.substr(0, odata_type.find('.')));
}

bool Has(const Json& list, std::string_view text) {
  return std::any_of(list.begin(), list.end(), [text](const Json& element) {
    return element.is_string() && element.get_ref<const std::string&>() == text;
  });
}

// Returns the list at `pointer`, or null when it lets everything through.
const Json* ListAt(const Editor& editor, ResourceId subscription, std::string_view pointer) {
  const Json* const list = editor.Read(subscription, pointer);
  return list == nullptr || !list->is_array() || list->empty() ? nullptr : list;
}

// Versions do not matter, and some clients leave out the registry.
bool IsMessage(std::string_view listed, std::string_view message_id) {
  const std::string_view key = message_id.substr(message_id.rfind('.') + 1);
  if (listed.find('.') == std::string_view::npos) return listed == key;
  return RegistryOf(listed) == RegistryOf(message_id) &&
         listed.substr(listed.rfind('.') + 1) == key;
}

bool HasMessage(const Json& list, std::string_view message_id) {
  return std::any_of(list.begin(), list.end(), [message_id](const Json& element) {
    return element.is_string() && IsMessage(element.get_ref<const std::string&>(), message_id);
  });
}

bool MessagePasses(const Editor& editor, ResourceId subscription, const Event& event) {
  const std::string_view registry = RegistryOf(event.message_id);
  const Json* const registries = ListAt(editor, subscription, "/RegistryPrefixes");
  const Json* const messages = ListAt(editor, subscription, "/MessageIds");
  const bool is_included = (registries == nullptr && messages == nullptr) ||
                           (registries != nullptr && Has(*registries, registry)) ||
                           (messages != nullptr && HasMessage(*messages, event.message_id));
  if (!is_included) return false;
  const Json* const excluded = ListAt(editor, subscription, "/ExcludeRegistryPrefixes");
  if (excluded != nullptr && Has(*excluded, registry)) return false;
  const Json* const muted = ListAt(editor, subscription, "/ExcludeMessageIds");
  return muted == nullptr || !HasMessage(*muted, event.message_id);
}

bool OriginPasses(const Editor& editor, ResourceId subscription, const Event& event) {
  const Json* const types = ListAt(editor, subscription, "/ResourceTypes");
  if (types != nullptr && !Has(*types, event.origin_type)) return false;
  const Json* const origins = ListAt(editor, subscription, "/OriginResources");
  if (origins == nullptr) return true;
  const bool with_subordinates = editor.IsTrue(subscription, "/SubordinateResources");
  return std::any_of(origins->begin(), origins->end(), [&](const Json& link) {
    const std::string uri = redfish::LinkTarget(link);
    return !uri.empty() &&
           (event.origin == uri || (with_subordinates && event.origin.starts_with(uri + '/')));
  });
}

bool Wants(const Editor& editor, ResourceId subscription, const Event& event) {
  if (editor.Text(subscription, "/EventFormatType") == "MetricReport") return false;
  const Json* const types = ListAt(editor, subscription, "/EventTypes");
  if (types != nullptr && !Has(*types, "Other") && !Has(*types, event.event_type)) return false;
  const Json* const severities = ListAt(editor, subscription, "/Severities");
  if (severities != nullptr && !Has(*severities, event.severity)) return false;
  return MessagePasses(editor, subscription, event) && OriginPasses(editor, subscription, event);
}

// Returns `preferred`, or the closest of the types that the service offers.
std::string OfferedType(const Editor& editor, const std::string& preferred) {
  const auto service = EventServiceOf(editor);
  const Json* const offered =
      service.has_value() ? ListAt(editor, *service, "/EventTypesForSubscription") : nullptr;
  if (offered == nullptr || Has(*offered, preferred)) return preferred;
  return Has(*offered, "Alert") ? "Alert" : "Other";
}

Json Payload(Editor& editor, const Event& event) {
  const std::string number = std::to_string(++editor.Notes<EventNumbers>().last);
  Json record = {{"EventId", number},
                 {"EventTimestamp", editor.DateTime()},
                 {"EventType", event.event_type},
                 {"MemberId", "0"},
                 {"Message", event.message},
                 {"MessageArgs", event.args},
                 {"MessageId", event.message_id},
                 {"MessageSeverity", event.severity},
                 {"Severity", event.severity}};
  if (!event.origin.empty()) record["OriginOfCondition"] = {{"@odata.id", event.origin}};
  record.update(event.given);
  return {{"@odata.type", kEventType},
          {"Id", number},
          {"Name", "Event"},
          {"Events", Json::array({std::move(record)})}};
}

// Returns the payload as this subscriber gets it.
Json Address(const Editor& editor, ResourceId subscription, const Event& event, Json payload) {
  payload["Context"] = editor.Text(subscription, "/Context");
  const auto origin = editor.Find(event.origin);
  if (origin.has_value() && editor.IsTrue(subscription, "/IncludeOriginOfCondition")) {
    payload["Events"][0]["OriginOfCondition"] = editor.Read(*origin);
  }
  return payload;
}

void AnnounceAbout(Editor& editor, std::string_view message, const World::Resource& origin,
                   std::vector<std::string> args) {
  const auto definition =
      std::find_if(kDefinitions.begin(), kDefinitions.end(),
                   [message](const Definition& one) { return one.name == message; });
  if (definition == kDefinitions.end()) return;
  Event event;
  event.message_id = definition->registry + std::string(message);
  event.event_type = OfferedType(editor, definition->event_type);
  event.severity = definition->severity;
  event.message = Fill(definition->text, args);
  event.args = std::move(args);
  event.origin = origin.uri;
  event.origin_type = TypeName(origin.odata_type);
  Emit(editor, event);
}

std::string TextOr(const Json& body, const std::string& name, std::string otherwise) {
  std::string text = redfish::TextAt(body, name);
  return text.empty() ? std::move(otherwise) : text;
}

Response SubmitTestEvent(Editor& editor, const Call& call) {
  const Json& body = call.body;
  if (!PublishesEvents(editor)) {
    return ErrorResponse(503, "ServiceDisabled", {editor.Uri(call.resource)});
  }
  Event event;
  event.message_id = redfish::TextAt(body, "MessageId");
  event.event_type = TextOr(body, "EventType", OfferedType(editor, "Alert"));
  event.severity = TextOr(body, "MessageSeverity", TextOr(body, "Severity", "OK"));
  event.message = TextOr(body, "Message", "Test message.");
  if (const auto args = body.find("MessageArgs"); args != body.end() && args->is_array()) {
    for (const Json& arg : *args) {
      if (arg.is_string()) event.args.push_back(arg.get<std::string>());
    }
  }
  event.origin = redfish::TextAt(body, "OriginOfCondition");
  if (const auto origin = editor.Find(redfish::CanonicalUri(event.origin))) {
    event.origin_type = TypeName(editor.resource(*origin).odata_type);
  }
  for (const char* name : {"EventId", "EventTimestamp", "EventGroupId"}) {
    const auto given = body.find(name);
    if (given != body.end() && !given->is_null()) event.given[name] = *given;
  }
  Emit(editor, event);
  return Done(editor);
}

}  // namespace

void Emit(Editor& editor, const Event& event) {
  if (!AnyoneListens(editor)) return;
  Json payload;
  for (const ResourceId subscription : editor.Members(*SubscriptionsOf(editor))) {
    const bool is_streamed = IsStreamed(editor, subscription, event);
    if (!is_streamed && !IsPushed(editor, subscription)) continue;
    if (!Wants(editor, subscription, event)) continue;
    if (payload.is_null()) payload = Payload(editor, event);
    Json addressed = Address(editor, subscription, event, payload);
    if (is_streamed) {
      StreamEvent(editor, subscription, addressed);
    } else {
      Deliver(editor, subscription, event.message_id, addressed);
    }
  }
}

void Announce(Editor& editor, std::string_view message, ResourceId origin,
              std::vector<std::string> args) {
  if (AnyoneListens(editor)) {
    AnnounceAbout(editor, message, editor.resource(origin), std::move(args));
  }
}

void AnnouncePower(Editor& editor, ResourceId resource, const std::string& state) {
  if (!AnyoneListens(editor)) return;
  const std::string_view message = state == "On"            ? "ResourcePoweredOn"
                                   : state == "Off"         ? "ResourcePoweredOff"
                                   : state == "PoweringOn"  ? "ResourcePoweringOn"
                                   : state == "PoweringOff" ? "ResourcePoweringOff"
                                                            : "";
  AnnounceAbout(editor, message, editor.resource(resource), {editor.Text(resource, "/Name")});
}

void AnnounceRequest(Editor& editor, Method method, ResourceId resource, const std::string& etag,
                     const Response& response) {
  if (response.status >= 300 || !AnyoneListens(editor)) return;
  const bool is_removed = method == Method::kDelete;
  std::optional<ResourceId> origin = resource;
  if (method == Method::kPost) origin = editor.Find(redfish::CanonicalUri(response.location));
  if (!origin.has_value() || editor.IsA(*origin, "EventDestination")) return;
  if (method == Method::kPost) return Announce(editor, "ResourceCreated", *origin);
  if (is_removed) return Announce(editor, "ResourceRemoved", *origin);
  if (editor.ETag(*origin) != etag) Announce(editor, "ResourceChanged", *origin);
}

std::string_view RegistryOf(std::string_view message_id) {
  return message_id.substr(0, message_id.find('.'));
}

void AddEvents(HandlerTable& handlers) {
  handlers.OnAction("EventService.SubmitTestEvent", &SubmitTestEvent);
}

}  // namespace shoal::mockserver
