// SPDX-License-Identifier: Apache-2.0
#include "mockserver/process/control_teaching.h"

#include <arpa/inet.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "mockserver/faults/fault.h"
#include "mockserver/process/control_response.h"
#include "mockserver/rules/external_handlers.h"
#include "mockserver/rules/rules.h"
#include "platform/http/url.h"

namespace shoal::mockserver {

namespace {

constexpr std::string_view kRules = "rules";
constexpr std::string_view kFaults = "faults";
constexpr std::string_view kHandlers = "handlers";
constexpr std::string_view kHandlerPrefix = "handlers/";

http::ServerResponse TellRules(InstanceTable::Slot& slot) {
  const runtime::MutexLock lock(slot.mutex);
  const std::shared_ptr<const RuleSet>& rules = slot.instance.rules();
  return ControlAnswer(200, rules == nullptr ? Json{{kRules, Json::array()}} : rules->json());
}

http::ServerResponse ReplaceRules(const Json& body, InstanceTable::Slot& slot) {
  absl::StatusOr<std::shared_ptr<const RuleSet>> rules = RuleSet::Parse(body);
  if (!rules.ok()) return ControlError(rules.status());
  const runtime::MutexLock lock(slot.mutex);
  slot.instance.SetRules(*std::move(rules));
  return ControlAnswer(200, slot.instance.rules()->json());
}

http::ServerResponse TellFaults(InstanceTable::Slot& slot) {
  const runtime::MutexLock lock(slot.mutex);
  const std::shared_ptr<const FaultSet>& faults = slot.instance.faults();
  return ControlAnswer(200, faults == nullptr ? Json{{kFaults, Json::array()}} : faults->json());
}

http::ServerResponse ReplaceFaults(const Json& body, InstanceTable::Slot& slot) {
  absl::StatusOr<std::shared_ptr<const FaultSet>> faults = FaultSet::Parse(body);
  if (!faults.ok()) return ControlError(faults.status());
  const runtime::MutexLock lock(slot.mutex);
  slot.instance.SetFaults(*std::move(faults));
  return ControlAnswer(200, slot.instance.faults()->json());
}

// Returns the instance's handlers, or an empty set.
const ExternalHandlers& HandlersOf(const Instance& instance) {
  static const ExternalHandlers kNone;
  return instance.external_handlers() == nullptr ? kNone : *instance.external_handlers();
}

http::ServerResponse TellHandlers(InstanceTable::Slot& slot) {
  Json list = Json::array();
  const runtime::MutexLock lock(slot.mutex);
  for (const ExternalHandler& handler : HandlersOf(slot.instance).handlers()) {
    list.push_back(ToJson(handler));
  }
  return ControlAnswer(200, {{kHandlers, std::move(list)}});
}

absl::StatusOr<Json> AddHandler(const Json& body, std::span<const std::string> hosts,
                                InstanceTable::Slot& slot) {
  SHOAL_ASSIGN_OR_RETURN(ExternalHandler handler, ParseExternalHandler(body));
  SHOAL_ASSIGN_OR_RETURN(ExternalUrl url, ParseExternalUrl(handler.url, hosts));
  handler.address = std::move(url.address);
  handler.target = std::move(url.target);
  Json added = ToJson(handler);
  const runtime::MutexLock lock(slot.mutex);
  SHOAL_ASSIGN_OR_RETURN(std::shared_ptr<const ExternalHandlers> handlers,
                         HandlersOf(slot.instance).With(std::move(handler)));
  slot.instance.SetExternalHandlers(std::move(handlers));
  return added;
}

http::ServerResponse DeleteHandler(std::string_view name, InstanceTable::Slot& slot) {
  const runtime::MutexLock lock(slot.mutex);
  std::shared_ptr<const ExternalHandlers> rest = HandlersOf(slot.instance).Without(name);
  if (rest == nullptr) return ControlError(404, "NotFound", "no handler " + std::string(name));
  slot.instance.SetExternalHandlers(std::move(rest));
  return {.status = 204};
}

}  // namespace

bool IsTeaching(std::string_view verb) {
  return verb == kRules || verb == kFaults || verb == kHandlers || verb.starts_with(kHandlerPrefix);
}

http::ServerResponse HandleTeaching(const TeachingRequest& request,
                                    std::span<const std::string> hosts, InstanceTable::Slot& slot) {
  if (request.verb == kRules) {
    if (request.method == "GET") return TellRules(slot);
    return request.method == "PUT" ? ReplaceRules(request.body, slot)
                                   : ControlMethodNotAllowed("GET, PUT");
  }
  if (request.verb == kFaults) {
    if (request.method == "GET") return TellFaults(slot);
    return request.method == "PUT" ? ReplaceFaults(request.body, slot)
                                   : ControlMethodNotAllowed("GET, PUT");
  }
  if (request.verb == kHandlers) {
    if (request.method == "GET") return TellHandlers(slot);
    if (request.method != "POST") return ControlMethodNotAllowed("GET, POST");
    const absl::StatusOr<Json> added = AddHandler(request.body, hosts, slot);
    return added.ok() ? ControlAnswer(201, *added) : ControlError(added.status());
  }
  if (request.method != "DELETE") return ControlMethodNotAllowed("DELETE");
  return DeleteHandler(request.verb.substr(kHandlerPrefix.size()), slot);
}

namespace {

bool IsThisMachine(const std::string& host) {
  in_addr four{};
  if (::inet_pton(AF_INET, host.c_str(), &four) == 1) return ntohl(four.s_addr) >> 24 == 127;
  return host == "localhost" || host == "::1";
}

}  // namespace

absl::StatusOr<ExternalUrl> ParseExternalUrl(std::string_view url,
                                             std::span<const std::string> hosts) {
  const auto wrong = [url](const std::string& what) {
    return runtime::InvalidArgument("\"url\" " + http::WithoutUser(url) + ": " + what);
  };
  const absl::StatusOr<http::Url> parsed = http::ParseUrl(url);
  if (!parsed.ok() || parsed->secure || url.find('#') != std::string_view::npos) {
    return wrong("not http://host:port/path");
  }
  const http::Address& address = parsed->address;
  if (!IsThisMachine(address.host) &&
      std::find(hosts.begin(), hosts.end(), address.host) == hosts.end()) {
    return wrong("the host is not this machine, nor one of external_handler_hosts");
  }
  return ExternalUrl{http::Format(address), parsed->target};
}

}  // namespace shoal::mockserver
