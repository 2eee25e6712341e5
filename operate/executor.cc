// SPDX-License-Identifier: Apache-2.0
#include "operate/executor.h"

#include <algorithm>
#include <utility>

#include "operate/host_state.h"
#include "platform/runtime/check.h"
#include "redfish/capture/uri.h"

namespace shoal::operate {
namespace {

using Json = nlohmann::json;
using std::chrono::milliseconds;

// The difference from the twin at which an operation stops.
absl::Status Difference(const std::string& text) { return runtime::FailedPrecondition(text); }

std::string Joined(const std::vector<std::string>& sentences) {
  std::string text;
  for (const std::string& sentence : sentences) text += (text.empty() ? "" : "; ") + sentence;
  return text;
}

bool IsDeclarative(const Step& step) { return step.method != "POST"; }

bool IsAction(const Step& step) {
  return step.method == "POST" && step.uri.find("/Actions/") != std::string::npos;
}

// Returns whether `uri` is a member that the step makes, or is below it, and nobody knows yet which
// one of the host's members it is. The host may have another one at this URI.
bool IsUnknownMember(const Step& step, const MadeUris& made, const std::string& uri) {
  const std::string collection = step.uri + "/";
  return std::any_of(step.effects.begin(), step.effects.end(), [&](const Effect& effect) {
    const bool is_made = effect.pointer.empty() && effect.before.is_null();
    const bool is_member = effect.uri.starts_with(collection) &&
                           effect.uri.find('/', collection.size()) == std::string::npos;
    return is_made && is_member && !made.contains(effect.uri) &&
           redfish::IsAtOrBelow(uri, effect.uri);
  });
}

// Says that the step or somebody else made new members.
std::string MakerUnknown(const std::vector<std::string>& strangers) {
  return "whether it made " + Joined(strangers) + " or somebody else did cannot be told";
}

// Returns the links of `now` that `before` lacks; each is the value of a "Members".
std::vector<std::string> Added(const Json& before, const Json& now) {
  std::vector<std::string> links = redfish::LinkTargets(&now);
  const std::vector<std::string> known = redfish::LinkTargets(&before);
  std::erase_if(links, [&](const std::string& link) {
    return std::find(known.begin(), known.end(), link) != known.end();
  });
  return links;
}

// Returns the words of a Redfish error, without those that could repeat a value.
std::string ErrorWords(const Json& body) {
  const Json* const error = body.is_object() ? redfish::Resolve(body, "/error") : nullptr;
  if (error == nullptr || !error->is_object()) return "";
  const Json* const infos = redfish::Resolve(*error, "/@Message.ExtendedInfo");
  std::string words = redfish::TextAt(*error, "code");
  if (infos != nullptr && infos->is_array() && !infos->empty() && infos->front().is_object()) {
    const std::string message = redfish::TextAt(infos->front(), "Message");
    words = redfish::TextAt(infos->front(), "MessageId") + (message.empty() ? "" : ": " + message);
  }
  return words.empty() ? "" : " (" + words.substr(0, 300) + ")";
}

// The number of times that a host may answer one request with an error of its own.
constexpr int kBroken = 3;

bool IsBroken(int status) { return status >= 500 && status != 503; }

bool HasFailed(const std::string& task_state) {
  static const std::set<std::string> kFailures = {"Exception", "Killed", "Cancelled",
                                                  "Interrupted"};
  return kFailures.contains(task_state);
}

}  // namespace

absl::Status LogPlan(const Announcement& announcement, const Secrets& secrets, AuditLog& log) {
  SHOAL_ASSIGN_OR_RETURN(Json plan, ToJson(announcement, secrets));
  const auto logged = ParseOwnAnnouncement(plan, secrets);
  if (!logged.ok() || logged->steps != announcement.steps) {
    return absl::PermissionDeniedError(
        "no log could hold the plan, as a secret in it is not known or is part of its own name");
  }
  return log.Append({{"record", "plan"}, {"plan", std::move(plan)}});
}

Executor::Executor(Host& host, AuditLog& log, const Permissions& permissions, Budget& budget,
                   const Secrets& secrets, ExecutionOptions options, Say say)
    : host_(host),
      log_(log),
      permissions_(permissions),
      budget_(budget),
      secrets_(secrets),
      options_(options),
      say_(std::move(say)),
      began_(host.clock().Now()) {}

Execution Executor::Run(const Announcement& announcement) {
  SHOAL_CHECK(log_.unfinished() != nullptr);
  const PastOperation past = *log_.unfinished();
  made_ = past.made;
  return Conclude(RunSteps(announcement, past));
}

Execution Executor::Conclude(const absl::Status& status) {
  Execution execution = {.outcome = Outcome::kReached,
                         .reason = secrets_.HideIn(runtime::Message(status)),
                         .sent = sent_};
  Json record = {{"record", "end"}, {"outcome", "reached"}, {"reason", execution.reason}};
  if (absl::IsFailedPrecondition(status) || absl::IsPermissionDenied(status)) {
    execution.outcome =
        absl::IsPermissionDenied(status) ? Outcome::kNotPermitted : Outcome::kStopped;
    record["outcome"] = "stopped";
  } else if (!status.ok()) {
    const bool stopped = absl::IsCancelled(status) || absl::IsDeadlineExceeded(status);
    execution.outcome = stopped ? Outcome::kInterrupted : Outcome::kFailed;
    record = {{"record", "interrupted"}, {"reason", execution.reason}};
  }
  const absl::Status logged = log_.Append(std::move(record));
  if (!logged.ok()) {
    execution.outcome = Outcome::kFailed;
    execution.reason += " " + runtime::Message(logged);
  }
  return execution;
}

absl::Status Executor::RunSteps(const Announcement& announcement, const PastOperation& past) {
  for (std::size_t i = 0; i < announcement.steps.size(); ++i) {
    const auto found = past.steps.find(i);
    const PastStep* const before = found == past.steps.end() ? nullptr : &found->second;
    if (before != nullptr && before->is_done) continue;
    SHOAL_RETURN_IF_ERROR(runtime::Annotate(RunStep(announcement, i, before),
                                            host_.name() + ": request " + std::to_string(i + 1)));
  }
  return runtime::Annotate(Verify(announcement), host_.name());
}

absl::Status Executor::RunStep(const Announcement& announcement, std::size_t number,
                               const PastStep* past) {
  const Step& step = announcement.steps[number];
  SHOAL_RETURN_IF_ERROR(Wait(milliseconds(0)));
  if (step.session && !tokens_.contains(*step.session)) {
    return Difference("it is sent in the session of request " + std::to_string(*step.session + 1) +
                      ", whose token is lost");
  }
  Json before;
  const bool was_sent = past != nullptr && past->before && !past->is_unsent;
  if (was_sent) {
    before = *past->before;
    const bool was_taken = past->status >= 200 && past->status < 300;
    say_("request " + std::to_string(number + 1) + " was sent before" +
         (past->status == 0 ? ", and its answer is not known" : ""));
    if (was_taken && step.status == 201 && !past->location.empty()) {
      made_[step.location] = past->location;
    }
    if (!was_taken) SHOAL_RETURN_IF_ERROR(SendUntilDone(step, number, before, true));
    return Settle(step, number, before);
  }
  SHOAL_ASSIGN_OR_RETURN(const bool is_due, Begin(step, before));
  if (!is_due) {
    say_("request " + std::to_string(number + 1) + " is not needed: the host shows its result");
    return Log({{"record", "done"}, {"how", "the host showed the result already"}}, number);
  }
  SHOAL_RETURN_IF_ERROR(SendUntilDone(step, number, before, false));
  return Settle(step, number, before);
}

absl::StatusOr<bool> Executor::Begin(const Step& step, Json& before) {
  SHOAL_ASSIGN_OR_RETURN(const Sight sight, Look(step));
  before = sight.values;
  if (sight.is_before) return true;
  if (sight.is_after && IsDeclarative(step)) return false;
  if (sight.is_after && IsAction(step)) {
    return Difference("the host already shows the result of " +
                      RequestText({.method = step.method, .uri = step.uri}) +
                      ", so somebody else acts on it");
  }
  return Difference("the host has changed since it was read: " + Joined(sight.missing));
}

absl::Status Executor::SendUntilDone(const Step& step, std::size_t number, Json& before,
                                     bool in_doubt) {
  if (in_doubt) {
    SHOAL_ASSIGN_OR_RETURN(const bool was_done, Doubt(step, before));
    if (was_done) return absl::OkStatus();
    // The ETag may have changed since.
    SHOAL_RETURN_IF_ERROR(Look(step).status());
  }
  milliseconds pause = options_.look;
  bool is_repeated = in_doubt;
  int broken = 0;
  for (std::int64_t attempt = 1; attempt <= options_.attempts; ++attempt) {
    const HostRequest request = {.method = step.method,
                                 .uri = OnHost(made_, step.uri),
                                 .body = OnHost(made_, step.body),
                                 .if_match = IsDeclarative(step) ? etag_ : std::string(),
                                 .token = step.session ? tokens_.at(*step.session) : std::string()};
    SHOAL_RETURN_IF_ERROR(permissions_.CheckRequest(request.method, request.uri));
    SHOAL_RETURN_IF_ERROR(budget_.Take());
    SHOAL_RETURN_IF_ERROR(Log({{"record", "send"},
                               {"attempt", attempt},
                               {"method", request.method},
                               {"uri", request.uri},
                               {"body", secrets_.Hide(request.body)},
                               {"before", before}},
                              number));
    say_("request " + std::to_string(number + 1) + (attempt > 1 ? " again: " : ": ") +
         RequestText(
             {.method = request.method, .uri = request.uri, .body = secrets_.Hide(request.body)}));
    const absl::StatusOr<HostAnswer> answer = host_.Send(request);
    milliseconds wait = pause;
    pause = std::min(2 * pause, options_.longest_look);
    if (absl::IsAborted(answer.status()) || absl::IsCancelled(answer.status())) {
      SHOAL_RETURN_IF_ERROR(
          Log({{"record", "unsent"}, {"reason", runtime::Message(answer.status())}}, number));
      budget_.GiveBack();
      if (absl::IsCancelled(answer.status())) return answer.status();
    } else {
      ++sent_;
      bool is_done = false;
      const bool is_broken = answer.ok() && IsBroken(answer->status);
      if (is_broken) ++broken;
      if (!answer.ok()) {
        SHOAL_RETURN_IF_ERROR(
            Log({{"record", "lost"}, {"reason", runtime::Message(answer.status())}}, number));
        const bool may_doubt =
            absl::IsUnavailable(answer.status()) || absl::IsDeadlineExceeded(answer.status());
        if (!may_doubt) return runtime::Unavailable(runtime::Message(answer.status()));
        SHOAL_ASSIGN_OR_RETURN(is_done, Doubt(step, before));
      } else {
        if (!answer->token.empty() && step.method == "POST") tokens_[number] = answer->token;
        SHOAL_RETURN_IF_ERROR(
            Log({{"record", "answer"}, {"status", answer->status}, {"location", answer->location}},
                number));
        if (step.status == 201 && answer->status == 201 && !answer->location.empty()) {
          // Later requests go to what was made, so it must be a new member of the collection.
          const std::string collection = request.uri + "/";
          const bool is_member = answer->location.starts_with(collection) &&
                                 answer->location.find('/', collection.size()) == std::string::npos;
          const bool was_there = before.dump(-1, ' ', false, Json::error_handler_t::replace)
                                     .find("\"" + answer->location + "\"") != std::string::npos;
          if (!is_member || was_there) {
            return Difference("the host says that it made " + answer->location + ", which is no " +
                              "new member of " + request.uri);
          }
          made_[step.location] = answer->location;
        }
        task_ = answer->status != 202 ? ""
                : answer->body.is_object() && !redfish::LinkTarget(answer->body).empty()
                    ? redfish::LinkTarget(answer->body)
                    : answer->location;
        SHOAL_ASSIGN_OR_RETURN(is_done, Judge(step, number, *answer, is_repeated, before));
        wait = std::max<milliseconds>(wait, answer->retry_after);
      }
      if (is_done) return absl::OkStatus();
      if (broken >= kBroken) {
        return Difference("the host answered " + std::to_string(answer->status) +
                          ErrorWords(answer->body) + " " + std::to_string(broken) +
                          " times, and the twin " + std::to_string(step.status));
      }
    }
    is_repeated = true;
    SHOAL_RETURN_IF_ERROR(Wait(wait));
    SHOAL_RETURN_IF_ERROR(Look(step).status());
  }
  return runtime::Unavailable("no lasting answer in " + std::to_string(options_.attempts) +
                              " attempts");
}

absl::StatusOr<bool> Executor::Judge(const Step& step, std::size_t number, const HostAnswer& answer,
                                     bool is_repeated, const Json& before) {
  const int status = answer.status;
  if (status >= 200 && status < 300 && IsSameClass(status, step.status)) return true;
  const bool has_session =
      host_.options().access.authentication == discovery::Authentication::kSession;
  if (status == 401 && has_session && !step.session && !is_repeated) {
    SHOAL_RETURN_IF_ERROR(host_.Enter());
    return false;
  }
  if (status == 429 || (status == 503 && answer.retry_after.count() > 0)) return false;
  if (status == 408 || status == 425 || status >= 500) return Doubt(step, before);
  // What is new after a first refusal was made by somebody else.
  SHOAL_ASSIGN_OR_RETURN(const Sight sight, is_repeated ? LookAfter(step, before) : Look(step));
  if (status == 412 && sight.is_before) return false;
  const bool shows = sight.is_after && !(sight.is_before && !IsSameClass(status, step.status));
  const bool is_gone = step.method == "DELETE" && (status == 401 || status == 404 || status == 410);
  if ((status == 400 || status == 409 || status == 412 || is_gone) && shows) return true;
  if (IsSameClass(status, step.status)) return true;
  return Difference("the host answered " + std::to_string(status) + ErrorWords(answer.body) +
                    " to request " + std::to_string(number + 1) + ", and the twin " +
                    std::to_string(step.status));
}

absl::StatusOr<bool> Executor::Doubt(const Step& step, const Json& before) {
  const runtime::TimePoint until = host_.clock().Now() + options_.doubt;
  milliseconds pause = options_.look;
  for (;;) {
    SHOAL_ASSIGN_OR_RETURN(const Sight sight, LookAfter(step, before));
    const Fate fate = sight.strangers.empty() ? FateOf(step, before, sight) : Fate::kUnclear;
    if (fate == Fate::kDone) return true;
    if (host_.clock().Now() >= until || step.effects.empty()) {
      if (fate == Fate::kNotDone) return false;
      if (!sight.strangers.empty()) {
        return Difference("the answer was lost, and " + MakerUnknown(sight.strangers));
      }
      return Difference("the answer was lost, and the host does not show whether " + step.method +
                        " " + step.uri + " was carried out" +
                        (sight.missing.empty() ? "" : ": " + Joined(sight.missing)));
    }
    SHOAL_RETURN_IF_ERROR(Wait(pause));
    pause = std::min(2 * pause, options_.longest_look);
  }
}

absl::Status Executor::AwaitTask(const Step& step) {
  const runtime::TimePoint until = host_.clock().Now() + options_.settle;
  milliseconds pause = options_.look;
  for (const std::string task = std::exchange(task_, {}); !task.empty();) {
    SHOAL_ASSIGN_OR_RETURN(const HostAnswer answer, host_.Get(task));
    const std::string state =
        answer.body.is_object() ? redfish::TextAt(answer.body, "TaskState") : "";
    if (HasFailed(state) && state != step.task_state) {
      return Difference("the task " + task + " ended as " + state);
    }
    if (answer.status != 202 && answer.status >= 400 && answer.status != 404) {
      return Difference("the task " + task + " ended with " + std::to_string(answer.status) +
                        ErrorWords(answer.body));
    }
    const bool is_open =
        answer.status == 202 || (answer.status == 200 && !state.empty() && state != "Completed");
    if (!is_open || (!state.empty() && state == step.task_state)) return absl::OkStatus();
    if (host_.clock().Now() >= until) {
      return Difference("the task " + task + " is still " + (state.empty() ? "running" : state));
    }
    SHOAL_RETURN_IF_ERROR(Wait(pause));
    pause = std::min(2 * pause, options_.longest_look);
  }
  return absl::OkStatus();
}

absl::Status Executor::Settle(const Step& step, std::size_t number, const Json& before) {
  SHOAL_RETURN_IF_ERROR(AwaitTask(step));
  const runtime::TimePoint until = host_.clock().Now() + options_.settle;
  milliseconds pause = options_.look;
  for (;;) {
    SHOAL_ASSIGN_OR_RETURN(const Sight sight, LookAfter(step, before));
    const bool is_refused = step.status >= 400;
    if (sight.is_after || is_refused) {
      Json made = Json::object();
      for (const auto& [twin, host] : made_) made[twin] = host;
      say_("request " + std::to_string(number + 1) + " is done, as on the twin");
      return Log({{"record", "done"}, {"how", "as announced"}, {"made", made}}, number);
    }
    if (host_.clock().Now() >= until) {
      return Difference("the host took it, and does not show its result: " + Joined(sight.missing) +
                        (sight.strangers.empty() ? "" : "; " + MakerUnknown(sight.strangers)));
    }
    SHOAL_RETURN_IF_ERROR(Wait(pause));
    pause = std::min(2 * pause, options_.longest_look);
  }
}

absl::Status Executor::Verify(const Announcement& announcement) {
  const runtime::TimePoint until = host_.clock().Now() + options_.settle;
  milliseconds pause = options_.look;
  HostState state(host_, announcement.history);
  for (;;) {
    SHOAL_ASSIGN_OR_RETURN(const std::vector<Json> unmet, Unmet(announcement.predicate, state));
    if (unmet.empty()) return absl::OkStatus();
    if (host_.clock().Now() >= until) {
      return Difference("every request is done, and the goal does not hold: " +
                        secrets_.Hide(unmet).dump(-1, ' ', false, Json::error_handler_t::replace));
    }
    SHOAL_RETURN_IF_ERROR(Wait(state.is_refused() ? options_.login : pause));
    pause = std::min(2 * pause, options_.longest_look);
    state.Forget();
  }
}

absl::StatusOr<Sight> Executor::Look(const Step& step) {
  const std::string own = OnHost(made_, step.uri);
  std::set<std::string> uris;
  for (const Effect& effect : step.effects) {
    if (!IsUnknownMember(step, made_, effect.uri)) uris.insert(OnHost(made_, effect.uri));
  }
  if (IsDeclarative(step)) uris.insert(own);
  Bodies bodies;
  etag_.clear();
  for (const std::string& uri : uris) {
    SHOAL_ASSIGN_OR_RETURN(HostAnswer answer, host_.Get(uri));
    if (answer.status != 200 && answer.status != 404 && answer.status != 410) {
      return Difference("GET " + uri + " is " + std::to_string(answer.status) +
                        ErrorWords(answer.body));
    }
    if (answer.status != 200 || !answer.body.is_object()) continue;
    if (uri == own) {
      etag_ = !answer.etag.empty() ? answer.etag : redfish::TextAt(answer.body, "@odata.etag");
    }
    bodies[uri] = std::move(answer.body);
  }
  Sight sight = SightOf(step.effects, made_, bodies);
  for (auto& item : sight.values.items()) {
    const std::size_t space = item.key().find(' ');
    item.value() = secrets_.Hide(item.value(), item.key().substr(space + 1));
  }
  return sight;
}

absl::StatusOr<Sight> Executor::LookAfter(const Step& step, const Json& before) {
  SHOAL_ASSIGN_OR_RETURN(Sight sight, Look(step));
  const std::size_t known = made_.size();
  SHOAL_ASSIGN_OR_RETURN(std::vector<std::string> strangers,
                         MatchMembers(step, before, sight.values));
  if (made_.size() != known) {
    SHOAL_ASSIGN_OR_RETURN(sight, Look(step));
  }
  sight.strangers = std::move(strangers);
  return sight;
}

absl::StatusOr<std::vector<std::string>> Executor::MatchMembers(const Step& step,
                                                                const Json& before,
                                                                const Json& now) {
  std::vector<std::string> strangers;
  for (const Effect& effect : step.effects) {
    const std::string key = effect.uri + " /Members";
    if (effect.pointer != "/Members" || !before.contains(key) || !now.contains(key)) continue;
    const std::vector<std::string> twins = Added(effect.before, effect.after);
    std::vector<std::string> hosts = Added(before.at(key), now.at(key));
    if (twins.size() != 1 || made_.contains(twins.front())) continue;
    if (effect.uri == step.uri) {
      std::vector<std::string> own;
      for (const std::string& uri : hosts) {
        SHOAL_ASSIGN_OR_RETURN(const HostAnswer answer, host_.Get(uri));
        const bool is_own =
            answer.status == 200 && ShowsRequest(OnHost(made_, step.body), answer.body);
        if (is_own) own.push_back(uri);
      }
      if (own.size() != 1) strangers = std::move(hosts);
      hosts = std::move(own);
    }
    if (hosts.size() == 1) made_.emplace(twins.front(), hosts.front());
  }
  return strangers;
}

absl::Status Executor::Log(Json record, std::size_t number) {
  record["step"] = number;
  return log_.Append(std::move(record));
}

absl::Status Executor::Wait(milliseconds time) {
  if (options_.deadline && host_.clock().Now() - began_ >= *options_.deadline) {
    return absl::DeadlineExceededError("the time is over");
  }
  return host_.Wait(time) ? runtime::Cancelled("stopped between two requests") : absl::OkStatus();
}

}  // namespace shoal::operate
