// SPDX-License-Identifier: Apache-2.0
#include "mockserver/access/sessions.h"

#include <absl/strings/str_format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "mockserver/access/access.h"
#include "mockserver/messages/extended_info.h"
#include "mockserver/resources/members.h"
#include "redfish/capture/uri.h"
#include "redfish/schema/schema.h"

namespace shoal::mockserver {
namespace {

constexpr const char* kNewestSessionType = "#Session.v1_5_0.Session";

struct OpenSession {
  LiveSession session;
  std::chrono::milliseconds created{0};
  std::chrono::milliseconds last_use{0};
};

struct Tokens {
  std::map<std::string, OpenSession, std::less<>> entries;
};

std::optional<ResourceId> SessionService(const Editor& editor) {
  const auto root = editor.Find(redfish::kServiceRoot);
  return root ? editor.Linked(*root, "/SessionService") : std::nullopt;
}

std::string SessionTimer(const Editor& editor, ResourceId session) {
  return "session:" + editor.Uri(session);
}

// Returns when the session ends if nobody uses it, or nothing when it does not end.
std::optional<std::chrono::milliseconds> EndOf(const Editor& editor, const OpenSession& entry) {
  const auto service = SessionService(editor);
  if (!service) return std::nullopt;
  std::optional<std::chrono::milliseconds> end;
  const auto idle = editor.Seconds(*service, "/SessionTimeout");
  if (idle && idle->count() > 0) end = entry.last_use + *idle;
  const auto absolute = editor.Seconds(*service, "/AbsoluteSessionTimeout");
  if (absolute && editor.IsTrue(*service, "/AbsoluteSessionTimeoutEnabled")) {
    const auto latest = entry.created + *absolute;
    end = end ? std::min(*end, latest) : latest;
  }
  return end;
}

void EndSession(Editor& editor, ResourceId session, std::string_view reason) {
  editor.Record(kLogoutRecord, session,
                {{"UserName", editor.Text(session, "/UserName")}, {"Reason", std::string(reason)}});
  std::erase_if(editor.Notes<Tokens>().entries,
                [session](const auto& one) { return one.second.session.id == session; });
  editor.CancelTimer(SessionTimer(editor, session));
  editor.RemoveMember(session, Membership::kBookkeeping);
}

// Ends the session when its time is over, and otherwise sets a timer for the moment when it may be.
void AwaitEnd(Editor& editor, const std::string& token) {
  const auto& entries = editor.Notes<Tokens>().entries;
  const auto found = entries.find(token);
  if (found == entries.end()) return;
  const ResourceId session = found->second.session.id;
  const auto end = EndOf(editor, found->second);
  if (!end) return;
  if (*end <= editor.now()) return EndSession(editor, session, "Expired");
  editor.SetTimer(SessionTimer(editor, session), *end - editor.now(),
                  [token](Editor& later) { AwaitEnd(later, token); });
}

std::vector<Json> JudgeLogin(const Editor& editor, const std::string& type, const Json& body) {
  std::vector<Json> problems;
  for (const char* name : {"UserName", "Password"}) {
    const auto found = body.find(name);
    if (found == body.end()) {
      problems.push_back(ExtendedInfo("PropertyMissing", {name}));
    } else if (!found->is_string()) {
      problems.push_back(ExtendedInfo("PropertyValueTypeError", {Excerpt(*found, name), name},
                                      '/' + std::string(name)));
    }
  }
  for (const auto& [name, value] : body.items()) {
    const bool is_known = name == "UserName" || name == "Password" ||
                          name.find('@') != std::string::npos ||
                          editor.world().schema().Find(type, redfish::AppendPointer("", name));
    if (!is_known) problems.push_back(ExtendedInfo("PropertyUnknown", {name}));
  }
  return problems;
}

Json NewSession(const Editor& editor, const std::string& type, const std::string& name,
                const std::string& user) {
  Json session = {{"@odata.type", type},
                  {"Id", name},
                  {"Name", "User Session"},
                  {"Description", "Manager User Session"},
                  {"UserName", user}};
  const auto add = [&](const char* property, Json value) {
    const std::string pointer = std::string("/") + property;
    if (editor.world().schema().Find(type, pointer)) session[property] = std::move(value);
  };
  add("Password", nullptr);
  add("SessionType", "Redfish");
  add("CreatedTime", editor.DateTime());
  return session;
}

// Adds the message that the password must be changed to a login's answer (DSP0266, "Password change
// required handling").
void AnnounceChange(Response& response, const std::string& account) {
  Json body = *response.json;
  body["@Message.ExtendedInfo"] = Json::array({ExtendedInfo("PasswordChangeRequired", {account})});
  response.body = std::make_shared<const std::string>(Serialise(body));
  response.json = std::make_shared<const Json>(std::move(body));
}

// Returns a token of 128 bits. With a real clock a token cannot be predicted from others; with a
// virtual clock equal seeds give equal tokens.
std::string NewToken(Editor& editor) {
  std::uint64_t high = editor.random()();
  std::uint64_t low = editor.random()();
  if (editor.options().clock == ClockKind::kReal) {
    std::random_device device;
    high ^= std::uint64_t{device()} << 32 | device();
    low ^= std::uint64_t{device()} << 32 | device();
  }
  return absl::StrFormat("%016x%016x", high, low);
}

Response MakeSession(Editor& editor, ResourceId collection, const std::string& type,
                     Identity identity) {
  const std::string name = editor.NewMemberName(collection);
  const ResourceId id = editor.AddMember(
      collection, name, NewSession(editor, type, name, identity.user), Membership::kBookkeeping);
  const std::string token = NewToken(editor);
  const bool must_change =
      identity.account && editor.IsTrue(*identity.account, "/PasswordChangeRequired");
  editor.Record(kLoginRecord, identity.account.value_or(id),
                {{"UserName", identity.user},
                 {"PasswordChangeRequired", must_change},
                 {"Session", editor.Uri(id)}});
  Response response = Created(editor, id);
  response.headers.emplace_back("X-Auth-Token", token);
  if (must_change) AnnounceChange(response, editor.Uri(*identity.account));
  editor.Notes<Tokens>().entries.emplace(
      token, OpenSession{{id, std::move(identity)}, editor.now(), editor.now()});
  AwaitEnd(editor, token);
  return response;
}

Response LogIn(Editor& editor, const Call& call) {
  if (auto refusal = RefuseDisabled(editor, SessionService(editor))) return *std::move(refusal);
  if (auto refusal = RefuseDisabled(editor, AccountService(editor))) return *std::move(refusal);
  std::string type = MemberType(editor, call.resource);
  if (type.empty()) type = kNewestSessionType;
  std::vector<Json> problems = JudgeLogin(editor, type, call.body);
  if (!problems.empty()) return ErrorResponse(400, std::move(problems));
  auto identity = Verify(editor, redfish::TextAt(call.body, "UserName"),
                         redfish::TextAt(call.body, "Password"));
  if (!identity) {
    return Unauthorized(editor, "ResourceAtUriUnauthorized",
                        {editor.Uri(call.resource), "wrong user name or password"});
  }
  if (editor.Members(call.resource).size() >= editor.options().max_sessions) {
    Response response = ErrorResponse(503, "SessionLimitExceeded");
    response.headers.emplace_back("Retry-After", "60");
    return response;
  }
  return MakeSession(editor, call.resource, type, *std::move(identity));
}

Response LogOut(Editor& editor, const Call& call) {
  if (auto refusal = RefuseDisabled(editor, SessionService(editor))) return *std::move(refusal);
  EndSession(editor, call.resource, "Deleted");
  return Done(editor);
}

}  // namespace

void AddSessions(HandlerTable& handlers) {
  handlers.On(Method::kPost, "SessionCollection", &LogIn);
  handlers.On(Method::kDelete, "Session", &LogOut);
}

std::optional<LiveSession> UseSession(Editor& editor, std::string_view token) {
  if (editor.FindNotes<Tokens>() == nullptr) return std::nullopt;
  auto& entries = editor.Notes<Tokens>().entries;
  const auto found = entries.find(token);
  if (found == entries.end()) return std::nullopt;
  const ResourceId session = found->second.session.id;
  if (editor.Find(editor.Uri(session)) != session) {
    entries.erase(found);
    return std::nullopt;
  }
  const auto end = EndOf(editor, found->second);
  if (end && *end <= editor.now()) {
    EndSession(editor, found->second.session.id, "Expired");
    return std::nullopt;
  }
  found->second.last_use = editor.now();
  return found->second.session;
}

void EndSessionsOf(Editor& editor, std::string_view user, std::string_view reason) {
  const auto service = SessionService(editor);
  const auto sessions = service ? editor.Linked(*service, "/Sessions") : std::nullopt;
  if (!sessions) return;
  for (const ResourceId session : editor.Members(*sessions)) {
    if (editor.Text(session, "/UserName") == user) EndSession(editor, session, reason);
  }
}

}  // namespace shoal::mockserver
