// SPDX-License-Identifier: Apache-2.0
#include "redfish/goals/plan.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "redfish/capture/uri.h"
#include "redfish/goals/predicate.h"
#include "redfish/schema/allowable_values.h"

namespace shoal::redfish {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kEach = "$each";
constexpr std::string_view kWait = "WAIT";
constexpr int kAccepted = 202;

bool IsFleeting(int status) { return status == 0 || status == 412 || status == 503; }

// The service's state as GET shows it. Each resource is requested once until something may have
// changed.
class Shown final : public StateView {
 public:
  Shown(PlanClient& client, const PlanOptions& options, PlanOutcome& outcome)
      : client_(client), options_(options), outcome_(outcome) {}

  const Json* Find(std::string_view uri) const override {
    auto [seen, is_new] = seen_.try_emplace(std::string(uri));
    if (is_new) seen->second = Look(seen->first);
    return seen->second ? &*seen->second : nullptr;
  }
  const std::vector<HistoryRecord>& history() const override { return none_; }

  // Reads a collection together with its members where that is possible and the collection has not
  // been read.
  void Expand(const std::string& uri) {
    if (seen_.contains(uri) || !client_.Expands(uri)) return;
    std::optional<Json> collection = Look(uri + std::string(kExpandQuery));
    if (!collection) return;
    const auto members = collection->find("Members");
    if (members == collection->end() || !members->is_array()) return;
    for (Json& member : *members) {
      std::string member_uri = LinkTarget(member);
      if (member_uri.empty() || member.size() < 2) continue;
      Json link = {{"@odata.id", member_uri}};
      seen_.insert_or_assign(std::move(member_uri), std::exchange(member, std::move(link)));
    }
    seen_.insert_or_assign(uri, std::move(collection));
  }
  void Forget() { seen_.clear(); }

 private:
  std::optional<Json> Look(const std::string& uri) const {
    for (int attempt = 0; attempt < options_.attempts; ++attempt) {
      ++outcome_.requests;
      PlanReply reply = client_.Send({.method = "GET", .uri = uri, .body = nullptr, .token = ""});
      if (reply.status == 200) return std::move(reply.body);
      if (!IsFleeting(reply.status)) return std::nullopt;
      client_.Wait(options_.pause);
    }
    return std::nullopt;
  }

  PlanClient& client_;
  const PlanOptions& options_;
  PlanOutcome& outcome_;
  mutable std::map<std::string, std::optional<Json>> seen_;
  const std::vector<HistoryRecord> none_;
};

// Returns `json` with every text that is "$name", or begins with "$name/", resolved to its URI.
Json Follow(const Json& json, const std::map<std::string, std::string>& uris) {
  if (json.is_string()) {
    const std::string& text = json.get_ref<const std::string&>();
    const auto found = uris.find(text.substr(0, text.find('/')));
    if (found == uris.end()) return json;
    return found->second + text.substr(found->first.size());
  }
  if (!json.is_structured()) return json;
  Json followed = json;
  for (auto& item : followed) item = Follow(item, uris);
  return followed;
}

class Runner {
 public:
  Runner(PlanClient& client, PlanOptions options)
      : client_(client), options_(options), shown_(client_, options_, outcome_) {}

  absl::StatusOr<PlanOutcome> Run(const Plan& plan) {
    for (std::size_t i = 0; i < plan.size(); ++i) {
      SHOAL_RETURN_IF_ERROR(
          runtime::Annotate(RunStep(plan[i]), "step " + std::to_string(i + 1) + " of the plan"));
    }
    return outcome_;
  }

 private:
  absl::Status RunStep(const Json& step) {
    const auto each = step.find("each");
    if (each == step.end()) return RunOne(Follow(step, uris_));
    const Json quantifier = Follow(*each, uris_);
    SHOAL_ASSIGN_OR_RETURN(const Predicate where,
                           Predicate::ParseOfResource(quantifier.at("where")));
    const std::string members = CanonicalUri(TextAt(quantifier, "members"));
    shown_.Expand(members);
    const Json* const collection = shown_.Find(members);
    std::vector<std::string> chosen;
    if (collection != nullptr) chosen = MemberUris(*collection);
    std::erase_if(chosen, [&](const std::string& uri) { return !where.Evaluate(shown_, uri); });
    for (const std::string& uri : chosen) {
      uris_[std::string(kEach)] = uri;
      SHOAL_RETURN_IF_ERROR(RunOne(Follow(step, uris_)));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<bool> Shows(const Json& step, const char* key) {
    SHOAL_ASSIGN_OR_RETURN(const Predicate condition, Predicate::Parse(step.at(key)));
    return condition.Evaluate(shown_);
  }

  absl::Status RunOne(const Json& step) {
    if (TextAt(step, "method") == kWait) return AwaitUntil(step);
    PlanReply reply;
    for (int attempt = 0; attempt < options_.attempts; ++attempt) {
      if (step.contains("when") && !options_.unseen) {
        // The condition is evaluated before each attempt: a request whose answer was lost may have
        // taken effect.
        SHOAL_ASSIGN_OR_RETURN(const bool due, Shows(step, "when"));
        if (!due) return absl::OkStatus();
      }
      SHOAL_ASSIGN_OR_RETURN(const PlanRequest request, RequestOf(step));
      ++outcome_.requests;
      ++outcome_.mutations;
      reply = client_.Send(request);
      shown_.Forget();
      if (reply.status == kAccepted) SHOAL_RETURN_IF_ERROR(AwaitTask(reply.body));
      if (!IsFleeting(reply.status)) return Conclude(step, reply);
      client_.Wait(options_.pause);
    }
    return runtime::Unavailable("no lasting answer, at last " + std::to_string(reply.status));
  }

  absl::Status Conclude(const Json& step, const PlanReply& reply) {
    // A DELETE of a missing resource is success, since an earlier answer may have been lost.
    if (reply.status == 404 && TextAt(step, "method") == "DELETE") return absl::OkStatus();
    if (reply.status < 300) {
      const std::string name = TextAt(step, "keep");
      if (!name.empty()) {
        if (reply.status == kAccepted) {
          return runtime::FailedPrecondition(
              "a task does not tell what it made, which is to be kept");
        }
        uris_["$" + name] = CanonicalUri(reply.location);
        tokens_[name] = reply.token;
      }
      return absl::OkStatus();
    }
    if (step.contains("shows") && (reply.status == 400 || reply.status == 409)) {
      SHOAL_ASSIGN_OR_RETURN(const bool shows, Shows(step, "shows"));
      if (shows) return absl::OkStatus();
    }
    return runtime::FailedPrecondition("answered " + std::to_string(reply.status) + " " +
                                       reply.body.dump().substr(0, 300));
  }

  // Waits until the work of a Task is over or goes no further without another request, as that of
  // an update which starts with the next boot.
  absl::Status AwaitTask(const Json& task) {
    static const std::set<std::string> kWorking = {"New", "Pending", "Running", "Stopping",
                                                   "Cancelling"};
    static const std::set<std::string> kFailed = {"Exception", "Killed", "Cancelled"};
    const std::string uri = CanonicalUri(TextAt(task, "@odata.id"));
    std::string state = TextAt(task, "TaskState");
    for (int look = 0; kWorking.contains(state) && look < options_.looks; ++look) {
      client_.Wait(options_.pause);
      shown_.Forget();
      const Json* const now = shown_.Find(uri);
      if (now == nullptr) return runtime::Unavailable(uri + " does not show itself");
      state = TextAt(*now, "TaskState");
    }
    if (kWorking.contains(state)) return runtime::Unavailable(uri + " stays " + state);
    if (kFailed.contains(state)) return runtime::FailedPrecondition(uri + " ended as " + state);
    return absl::OkStatus();
  }

  absl::Status AwaitUntil(const Json& step) {
    for (int look = 0; look < options_.looks; ++look) {
      SHOAL_ASSIGN_OR_RETURN(const bool shows, Shows(step, "until"));
      if (shows) return absl::OkStatus();
      client_.Wait(options_.pause);
      shown_.Forget();
    }
    return runtime::Unavailable("what was waited for did not show");
  }

  // Returns the resource that describes an action, as it was captured or as a look shows it.
  const Json* Describing(const std::string& uri) const {
    const Json* const captured = options_.captured ? options_.captured(uri) : nullptr;
    return captured != nullptr ? captured : shown_.Find(uri);
  }

  absl::StatusOr<PlanRequest> RequestOf(const Json& step) {
    PlanRequest request{.method = TextAt(step, "method"),
                        .uri = TextAt(step, "uri"),
                        .body = step.value("body", Json()),
                        .token = ""};
    const std::string action = TextAt(step, "action");
    if (!action.empty()) {
      const Json* const resource = Describing(CanonicalUri(request.uri));
      const Json* const found =
          resource == nullptr ? nullptr : Resolve(*resource, AppendPointer("/Actions", action));
      if (found == nullptr) return runtime::FailedPrecondition(request.uri + " has no " + action);
      request.method = "POST";
      request.uri = TextAt(*found, "target");
      Choose(step, *found, request.body);
    }
    SHOAL_RETURN_IF_ERROR(Copy(step, request.body));
    const auto token = tokens_.find(TextAt(step, "as"));
    if (token != tokens_.end()) request.token = token->second;
    return request;
  }

  absl::Status Copy(const Json& step, Json& body) const {
    const Json copies = step.value("copy", Json::object());
    for (const auto& [place, from] : copies.items()) {
      const std::string uri = CanonicalUri(TextAt(from, "uri"));
      const std::string pointer = TextAt(from, "pointer");
      const Json* const resource = shown_.Find(uri);
      const Json* const value = resource == nullptr ? nullptr : Resolve(*resource, pointer);
      if (value == nullptr || !Assign(body, place, *value)) {
        return runtime::FailedPrecondition(uri + " has nothing to copy at " + pointer);
      }
    }
    return absl::OkStatus();
  }

  void Choose(const Json& step, const Json& action, Json& body) {
    const Json parameters = step.value("one_of", Json::object());
    for (const auto& [name, choices] : parameters.items()) {
      const Json* const allowable =
          AllowableValues(action, name, [this](const std::string& uri) { return Describing(uri); });
      const auto is_listed = [&](const Json& choice) {
        return allowable == nullptr ||
               std::find(allowable->begin(), allowable->end(), choice) != allowable->end();
      };
      const auto chosen = std::find_if(choices.begin(), choices.end(), is_listed);
      body[name] = chosen == choices.end() ? choices.front() : *chosen;
    }
  }

  PlanClient& client_;
  const PlanOptions options_;
  PlanOutcome outcome_;
  Shown shown_;
  std::map<std::string, std::string> uris_;
  std::map<std::string, std::string> tokens_;
};

absl::Status CheckConditions(const Json& step) {
  for (const char* key : {"when", "until", "shows"}) {
    if (!step.contains(key)) continue;
    SHOAL_RETURN_IF_ERROR(runtime::Annotate(Predicate::Parse(step.at(key)).status(), key));
  }
  const auto each = step.find("each");
  if (each == step.end()) return absl::OkStatus();
  return runtime::Annotate(Predicate::ParseOfResource(each->at("where")).status(), "each");
}

absl::Status CheckEach(const Json& step) {
  const auto each = step.find("each");
  const bool complete =
      each == step.end() || (each->is_object() && each->size() == 2 && each->contains("where") &&
                             each->value("members", Json()).is_string());
  return complete ? absl::OkStatus()
                  : runtime::InvalidArgument("\"each\" needs \"members\" and \"where\"");
}

absl::Status CheckChoices(const Json& step) {
  const auto choices = step.find("one_of");
  if (choices == step.end()) return absl::OkStatus();
  if (!choices->is_object() || !step.contains("action")) {
    return runtime::InvalidArgument("\"one_of\" is a table and of an action");
  }
  for (const auto& [name, values] : choices->items()) {
    if (!values.is_array() || values.empty()) {
      return runtime::InvalidArgument("\"one_of\" needs a list for \"" + name + "\"");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckCopies(const Json& step) {
  const auto copies = step.find("copy");
  if (copies == step.end()) return absl::OkStatus();
  if (!copies->is_object()) return runtime::InvalidArgument("\"copy\" needs a table");
  for (const auto& [place, from] : copies->items()) {
    const bool complete = from.is_object() && from.size() == 2 &&
                          from.value("uri", Json()).is_string() &&
                          from.value("pointer", Json()).is_string();
    if (complete) continue;
    return runtime::InvalidArgument("\"copy\" needs \"uri\" and \"pointer\" for " + place);
  }
  return absl::OkStatus();
}

absl::Status CheckStep(const Json& step) {
  static const std::set<std::string> kTexts = {"method", "uri", "action", "keep", "as"};
  static const std::set<std::string> kOthers = {"body", "copy",  "when", "one_of",
                                                "each", "shows", "until"};
  if (!step.is_object()) return runtime::InvalidArgument("a table expected");
  for (const auto& [key, value] : step.items()) {
    if (!kTexts.contains(key) && !kOthers.contains(key)) {
      return runtime::InvalidArgument("unknown key \"" + key + "\"");
    }
    if (kTexts.contains(key) && !value.is_string()) {
      return runtime::InvalidArgument("\"" + key + "\" needs a text");
    }
  }
  if (step.contains("body") && !step.at("body").is_object()) {
    return runtime::InvalidArgument("\"body\" needs a table");
  }
  const bool waits = TextAt(step, "method") == kWait;
  if (waits != step.contains("until")) {
    return runtime::InvalidArgument("\"until\" belongs to the method WAIT, and WAIT needs it");
  }
  if (!waits && !step.contains("uri")) return runtime::InvalidArgument("needs a \"uri\"");
  if (step.contains("method") == step.contains("action")) {
    return runtime::InvalidArgument("needs one of \"method\" and \"action\"");
  }
  SHOAL_RETURN_IF_ERROR(CheckEach(step));
  SHOAL_RETURN_IF_ERROR(CheckCopies(step));
  return CheckChoices(step);
}

}  // namespace

absl::Status CheckPlanKeys(const Plan& plan) {
  for (std::size_t i = 0; i < plan.size(); ++i) {
    SHOAL_RETURN_IF_ERROR(
        runtime::Annotate(CheckStep(plan[i]), "plan step " + std::to_string(i + 1)));
  }
  return absl::OkStatus();
}

absl::Status CheckPlan(const Plan& plan) {
  SHOAL_RETURN_IF_ERROR(CheckPlanKeys(plan));
  for (std::size_t i = 0; i < plan.size(); ++i) {
    SHOAL_RETURN_IF_ERROR(
        runtime::Annotate(CheckConditions(plan[i]), "plan step " + std::to_string(i + 1)));
  }
  return absl::OkStatus();
}

absl::StatusOr<PlanOutcome> RunPlan(const Plan& plan, PlanClient& client, PlanOptions options) {
  SHOAL_RETURN_IF_ERROR(CheckPlan(plan));
  return Runner(client, options).Run(plan);
}

namespace {

const Candidate& Of(const Candidate& candidate) { return candidate; }
const Candidate& Of(const Candidate* candidate) { return *candidate; }

template <typename Candidates, typename Fits>
std::int64_t FirstWhere(const Candidates& candidates, const Fits& fits) {
  const auto found = std::find_if(candidates.begin(), candidates.end(),
                                  [&fits](const auto& candidate) { return fits(Of(candidate)); });
  return found == candidates.end() ? -1 : found - candidates.begin();
}

template <typename Candidates>
std::int64_t FindRequest(const Candidates& candidates, const PlanRequest& request, bool composes) {
  std::string uri = CanonicalUri(request.uri);
  if (request.uri.ends_with(kExpandQuery)) uri += kExpandQuery;
  return FirstWhere(candidates, [&](const Candidate& candidate) {
    return candidate.method == request.method && candidate.uri == uri &&
           candidate.composes() == composes && (composes || Unify(candidate, request.body));
  });
}

}  // namespace

std::int64_t FindCandidate(std::span<const Candidate> candidates, const PlanRequest& request,
                           bool composes) {
  return FindRequest(candidates, request, composes);
}

std::int64_t FindCandidate(std::span<const Candidate* const> candidates, const PlanRequest& request,
                           bool composes) {
  return FindRequest(candidates, request, composes);
}

std::int64_t FindWait(std::span<const Candidate> candidates) {
  return FirstWhere(candidates,
                    [](const Candidate& candidate) { return candidate.method == kWaitMethod; });
}

}  // namespace shoal::redfish
