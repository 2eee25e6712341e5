// SPDX-License-Identifier: Apache-2.0
#include "mockserver/events/subscriptions.h"

#include <absl/strings/match.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "mockserver/events/destination.h"
#include "mockserver/messages/extended_info.h"
#include "mockserver/messages/secrets.h"
#include "mockserver/resources/members.h"
#include "mockserver/resources/new_object.h"
#include "mockserver/resources/patch.h"
#include "redfish/capture/uri.h"
#include "redfish/schema/schema.h"

namespace shoal::mockserver {
namespace {

using redfish::Property;
using redfish::PropertyKind;

constexpr const char* kFallbackType = "#EventDestination.v1_13_0.EventDestination";
constexpr const char* kHttpHeaders = "HttpHeaders";
constexpr std::array<const char*, 5> kFraming = {"Connection", "Content-Length", "Content-Type",
                                                 "Host", "Transfer-Encoding"};
constexpr std::size_t kMaximumHeaders = 32;
constexpr std::size_t kMaximumHeaderBytes = 4096;

// The properties that the service itself sets, even if the schema lets a client give them.
constexpr std::array<std::string_view, 6> kOwn = {"Id",      "Name",         "Status",
                                                  "Actions", "Certificates", "ClientCertificates"};

// A property, and the list of the EventService that names its permitted values.
struct Choice {
  std::string_view property;
  const char* list;
};
constexpr std::array kChoices = {Choice{"EventTypes", "/EventTypesForSubscription"},
                                 Choice{"RegistryPrefixes", "/RegistryPrefixes"},
                                 Choice{"ResourceTypes", "/ResourceTypes"},
                                 Choice{"EventFormatType", "/EventFormatTypes"}};

struct Secrets {
  std::map<ResourceId, HttpHeaders> headers;
};

bool IsHeaderName(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return c > 0x20 && c < 0x7f &&
           std::string_view("()<>@,;:\\\"/[]?={}").find(c) == std::string_view::npos;
  });
}

// Returns whether the connection itself sets the header. Another value could change where the
// request ends.
bool IsFraming(const std::string& name) {
  return std::any_of(kFraming.begin(), kFraming.end(),
                     [&](const char* framing) { return absl::EqualsIgnoreCase(name, framing); });
}

bool IsHeaderValue(const Json& value) {
  if (!value.is_string()) return false;
  const auto& text = value.get_ref<const std::string&>();
  return text.size() <= kMaximumHeaderBytes && std::all_of(text.begin(), text.end(), [](char c) {
           return (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) || c == '\t';
         });
}

// Returns nothing when `value` is not an array of objects of headers.
std::optional<HttpHeaders> ParseHeaders(const Json& value) {
  HttpHeaders headers;
  if (value.is_null()) return headers;
  if (!value.is_array()) return std::nullopt;
  for (const Json& element : value) {
    if (!element.is_object()) return std::nullopt;
    for (const auto& [name, text] : element.items()) {
      if (!IsHeaderName(name) || IsFraming(name) || !IsHeaderValue(text)) return std::nullopt;
      headers.emplace_back(name, text.get<std::string>());
    }
  }
  if (headers.size() > kMaximumHeaders) return std::nullopt;
  return headers;
}

// The value may be a secret, so the message does not repeat it.
Json WrongHeaders() {
  return ExtendedInfo("PropertyValueFormatError", {"", kHttpHeaders}, "/HttpHeaders");
}

class SubscriptionJudge {
 public:
  SubscriptionJudge(const Editor& editor, const std::string& type) : editor_(editor), type_(type) {}

  void Visit(const Json& body) {
    for (const auto& [name, value] : body.items()) {
      if (name.find('@') == std::string::npos) VisitProperty(name, value);
    }
    for (const char* name : {"Destination", "Protocol"}) {
      if (!body.contains(name)) Complain("PropertyMissing", {name}, name);
    }
  }

  std::vector<Json> problems;

 private:
  void VisitProperty(const std::string& name, const Json& value) {
    const Property* const property = schema().Find(type_, redfish::AppendPointer("", name));
    if (property == nullptr) return Complain("PropertyUnknown", {name}, name);
    if (std::find(kOwn.begin(), kOwn.end(), name) != kOwn.end()) {
      return Complain("PropertyNotWritable", {name}, name);
    }
    if (name == kHttpHeaders) {
      if (!ParseHeaders(value).has_value()) problems.push_back(WrongHeaders());
      return;
    }
    if (property->kind == PropertyKind::kArray) return VisitArray(*property, value);
    if (property->kind == PropertyKind::kComplex && value.is_object()) {
      return VisitObject(redfish::AppendPointer("", name), value);
    }
    const std::string_view misfit = redfish::Misfit(*property, value);
    if (!misfit.empty()) return Complain(misfit, {Excerpt(value, name), name}, name);
    VisitMeaning(name, value);
  }

  void VisitMeaning(const std::string& name, const Json& value) {
    if (name == "Destination" && !ParseDestination(value.get<std::string>()).has_value()) {
      return Complain("PropertyValueFormatError", {Excerpt(value, name), name}, name);
    }
    const bool is_other_protocol = (name == "Protocol" && value != Json("Redfish")) ||
                                   (name == "SubscriptionType" && value != Json("RedfishEvent"));
    if (is_other_protocol || !IsOffered(name, value)) {
      Complain("PropertyValueNotInList", {Excerpt(value, name), name}, name);
    }
  }

  void VisitArray(const Property& property, const Json& value) {
    if (!value.is_array()) {
      return Complain("PropertyValueTypeError", {Excerpt(value, property.name), property.name},
                      property.name);
    }
    for (std::size_t i = 0; i < value.size() && problems.empty(); ++i) {
      VisitElement(property, value[i], '/' + property.name + '/' + std::to_string(i));
    }
  }

  void VisitElement(const Property& array, const Json& value, const std::string& pointer) {
    const Property* const element = array.element.get();
    if (element != nullptr && element->kind == PropertyKind::kComplex && value.is_object()) {
      return VisitObject(pointer, value);
    }
    if (element != nullptr && element->kind == PropertyKind::kLink) {
      const std::string target = redfish::LinkTarget(value);
      if (target.empty()) {
        problems.push_back(ExtendedInfo("PropertyValueTypeError",
                                        {Excerpt(value, array.name), array.name}, pointer));
      } else if (!editor_.Find(target).has_value()) {
        problems.push_back(ExtendedInfo("PropertyValueIncorrect",
                                        {array.name, Excerpt(value, array.name)}, pointer));
      }
      return;
    }
    const std::string_view misfit =
        element == nullptr ? std::string_view() : redfish::Misfit(*element, value);
    if (!misfit.empty()) {
      problems.push_back(ExtendedInfo(misfit, {Excerpt(value, array.name), array.name}, pointer));
    } else if (!IsOffered(array.name, value)) {
      problems.push_back(ExtendedInfo("PropertyValueNotInList",
                                      {Excerpt(value, array.name), array.name}, pointer));
    }
  }

  void VisitObject(const std::string& pointer, const Json& value) {
    for (Problem& problem : JudgeNewObject(schema(), type_, pointer, value)) {
      problems.push_back(std::move(problem.info));
    }
  }

  bool IsOffered(const std::string& name, const Json& value) const {
    const auto choice =
        std::find_if(kChoices.begin(), kChoices.end(),
                     [&name](const Choice& candidate) { return candidate.property == name; });
    const auto service = EventServiceOf(editor_);
    if (choice == kChoices.end() || !service.has_value() || value.is_null()) return true;
    const Json* const list = editor_.Read(*service, choice->list);
    return list == nullptr || !list->is_array() || list->empty() ||
           std::find(list->begin(), list->end(), value) != list->end();
  }

  void Complain(std::string_view id, std::initializer_list<std::string> args,
                const std::string& name) {
    problems.push_back(ExtendedInfo(id, args, redfish::AppendPointer("", name)));
  }

  const redfish::Schema& schema() const { return editor_.world().schema(); }

  const Editor& editor_;
  const std::string& type_;
};

std::string TypeOfNew(const Editor& editor, ResourceId collection) {
  for (const ResourceId member : editor.Members(collection)) {
    if (editor.IsA(member, "EventDestination")) return editor.resource(member).odata_type;
  }
  const auto root = editor.Find(redfish::kServiceRoot);
  const auto schemas = root ? editor.Linked(*root, "/JsonSchemas") : std::nullopt;
  const auto listed = schemas ? editor.Find(editor.Uri(*schemas) + "/EventDestination")
                              : std::optional<ResourceId>();
  const std::string type = listed ? editor.Text(*listed, "/Schema") : std::string();
  return type.starts_with("#EventDestination.v") && editor.world().schema().Knows(type)
             ? type
             : kFallbackType;
}

// Returns the initial properties of a subscription, as far as its version has them.
Json NewSubscription(const Editor& editor, ResourceId collection, const std::string& type,
                     const std::string& name) {
  const redfish::Schema& schema = editor.world().schema();
  Json subscription = {{"Context", ""},
                       {"DeliveryRetryPolicy", "TerminateAfterRetries"},
                       {"EventFormatType", "Event"},
                       {"EventTypes", Json::array({"Other"})},
                       {"HttpHeaders", Json::array()},
                       {"MessageIds", Json::array()},
                       {"OriginResources", Json::array()},
                       {"Protocol", "Redfish"},
                       {"RegistryPrefixes", Json::array()},
                       {"ResourceTypes", Json::array()},
                       {"Status", {{"State", "Enabled"}, {"Health", "OK"}}},
                       {"SubscriptionType", "RedfishEvent"}};
  for (auto it = subscription.begin(); it != subscription.end();) {
    const bool is_known = schema.Find(type, '/' + it.key()) != nullptr;
    it = is_known ? std::next(it) : subscription.erase(it);
  }
  subscription.update(
      {{"@odata.type", type}, {"Id", name}, {"Name", "Event subscription " + name}});
  const std::string target = editor.Uri(collection) + '/' + name + "/Actions/";
  for (const char* action :
       {"EventDestination.SuspendSubscription", "EventDestination.ResumeSubscription"}) {
    if (schema.FindAction(type, action) == nullptr) continue;
    subscription["Actions"][std::string("#") + action] = {{"target", target + action}};
  }
  return subscription;
}

Response PostSubscription(Editor& editor, const Call& call) {
  const std::string type = TypeOfNew(editor, call.resource);
  SubscriptionJudge judge(editor, type);
  judge.Visit(call.body);
  if (!judge.problems.empty()) return ErrorResponse(400, std::move(judge.problems));
  if (editor.Members(call.resource).size() >= kMaximumSubscriptions) {
    return ErrorResponse(503, "EventSubscriptionLimitExceeded");
  }
  const std::string name = editor.NewMemberName(call.resource);
  Json subscription = NewSubscription(editor, call.resource, type, name);
  HttpHeaders headers;
  for (const auto& [property, value] : call.body.items()) {
    if (property == kHttpHeaders) {
      headers = *ParseHeaders(value);
    } else if (property.find('@') == std::string::npos) {
      subscription[property] = value;
    }
  }
  HideSecrets(editor.world().schema(), type, "", subscription);
  const ResourceId id = editor.AddMember(call.resource, name, std::move(subscription));
  if (!headers.empty()) editor.Notes<Secrets>().headers[id] = std::move(headers);
  return Created(editor, id);
}

Response PatchSubscription(Editor& editor, const Call& call) {
  const auto given = call.body.find(kHttpHeaders);
  if (given == call.body.end()) return Patch(editor, call.resource, call.body);
  std::optional<HttpHeaders> headers = ParseHeaders(*given);
  if (!headers.has_value()) return ErrorResponse(400, std::vector<Json>{WrongHeaders()});
  Json rest = call.body;
  rest.erase(kHttpHeaders);
  Response response = rest.empty() ? Done(editor) : Patch(editor, call.resource, rest);
  if (response.status < 300) {
    editor.Notes<Secrets>().headers[call.resource] = *std::move(headers);
  }
  return response;
}

void ForgetSecrets(Editor& editor, ResourceId subscription) {
  if (editor.FindNotes<Secrets>() != nullptr) editor.Notes<Secrets>().headers.erase(subscription);
}

Response DeleteSubscription(Editor& editor, const Call& call) {
  ForgetSecrets(editor, call.resource);
  if (editor.Text(call.resource, "/SubscriptionType") == "SSE") {
    EndSubscription(editor, call.resource);
    return Done(editor);
  }
  return DeleteMember(editor, call.resource);
}

void SetState(Editor& editor, ResourceId subscription, const std::string& state) {
  const Json* const status = editor.Read(subscription, "/Status");
  if (status == nullptr || !status->is_object()) {
    editor.Set(subscription, "/Status", Json::object());
  }
  editor.Set(subscription, "/Status/State", state);
}

}  // namespace

std::optional<ResourceId> EventServiceOf(const Editor& editor) {
  const auto root = editor.Find(redfish::kServiceRoot);
  return root.has_value() ? editor.Linked(*root, "/EventService") : std::nullopt;
}

std::optional<ResourceId> SubscriptionsOf(const Editor& editor) {
  const auto service = EventServiceOf(editor);
  return service.has_value() ? editor.Linked(*service, "/Subscriptions") : std::nullopt;
}

bool PublishesEvents(const Editor& editor) {
  const auto service = EventServiceOf(editor);
  if (!service.has_value()) return false;
  const Json* const enabled = editor.Read(*service, "/ServiceEnabled");
  return enabled == nullptr || *enabled != Json(false);
}

std::optional<ResourceId> AddStreamSubscription(Editor& editor, const std::string& context) {
  const ResourceId collection = SubscriptionsOf(editor).value();
  if (editor.Members(collection).size() >= kMaximumSubscriptions) return std::nullopt;
  const std::string name = editor.NewMemberName(collection);
  Json subscription = NewSubscription(editor, collection, TypeOfNew(editor, collection), name);
  subscription.update({{"Context", context},
                       {"Destination", "redfish-sse://0.0.0.0:0"},
                       {"SubscriptionType", "SSE"}});
  subscription.erase("DeliveryRetryPolicy");
  return editor.AddMember(collection, name, std::move(subscription), Membership::kBookkeeping);
}

bool IsPushed(const Editor& editor, ResourceId subscription) {
  const std::string type = editor.Text(subscription, "/SubscriptionType");
  return editor.IsA(subscription, "EventDestination") && (type.empty() || type == "RedfishEvent") &&
         editor.Text(subscription, "/Protocol") == "Redfish" && !IsSuspended(editor, subscription);
}

bool IsSuspended(const Editor& editor, ResourceId subscription) {
  return editor.Text(subscription, "/Status/State") == "Disabled";
}

void SuspendSubscription(Editor& editor, ResourceId subscription) {
  SetState(editor, subscription, "Disabled");
}

void EndSubscription(Editor& editor, ResourceId subscription) {
  ForgetSecrets(editor, subscription);
  editor.RemoveMember(subscription, Membership::kBookkeeping);
}

HttpHeaders HttpHeadersOf(const Editor& editor, ResourceId subscription) {
  const Secrets* const secrets = editor.FindNotes<Secrets>();
  if (secrets == nullptr) return {};
  const auto found = secrets->headers.find(subscription);
  return found == secrets->headers.end() ? HttpHeaders() : found->second;
}

void AddSubscriptions(HandlerTable& handlers) {
  handlers.On(Method::kPost, "EventDestinationCollection", &PostSubscription);
  handlers.On(Method::kPatch, "EventDestination", &PatchSubscription);
  handlers.On(Method::kDelete, "EventDestination", &DeleteSubscription);
  handlers.OnAction("EventDestination.SuspendSubscription", [](Editor& editor, const Call& call) {
    SetState(editor, call.resource, "Disabled");
    return Done(editor);
  });
  handlers.OnAction("EventDestination.ResumeSubscription", [](Editor& editor, const Call& call) {
    SetState(editor, call.resource, "Enabled");
    return Done(editor);
  });
}

}  // namespace shoal::mockserver
