// SPDX-License-Identifier: Apache-2.0
#include "operate/announcement.h"

#include <utility>

#include "operate/secret_digest.h"
#include "redfish/capture/uri.h"

namespace shoal::operate {
namespace {

using Json = nlohmann::json;

// A text that is not UTF-8 is written with U+FFFD in it.
std::string TextOf(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Step Hidden(Step step, const Secrets& secrets) {
  step.body = secrets.Hide(step.body);
  for (Effect& effect : step.effects) {
    effect.before = secrets.Hide(effect.before, effect.pointer);
    effect.after = secrets.Hide(effect.after, effect.pointer);
  }
  return step;
}

std::string StepText(const Step& step, std::size_t number) {
  std::string text = std::to_string(number) + ". " + RequestText(step) + "\n";
  std::size_t others = 0;
  for (const Effect& effect : step.effects) {
    if (effect.matters) {
      text += "     changes " + EffectText(effect) + "\n";
    } else {
      ++others;
    }
  }
  if (others > 0) {
    text += "     and " + std::to_string(others) + " properties that follow from it\n";
  }
  if (step.effects.empty()) text += "     changes nothing that the twin shows\n";
  return text;
}

// FAILED_PRECONDITION naming a secret that is not the one with which `json` was written.
absl::Status CheckSecrets(const Json& json, const Secrets& secrets) {
  const Json* const digests = json.is_object() ? redfish::Resolve(json, "/secrets") : nullptr;
  if (digests == nullptr || !digests->is_object()) {
    return runtime::DataLoss("no announcement: it has no digests of secrets");
  }
  for (const auto& [name, digest] : digests->items()) {
    const auto known = secrets.values().find(name);
    if (known == secrets.values().end()) {
      return runtime::FailedPrecondition("the value of " + name + " is needed");
    }
    if (!digest.is_string()) return runtime::DataLoss("no announcement: no digest of " + name);
    SHOAL_ASSIGN_OR_RETURN(const bool is_same,
                           IsDigestOf(digest.get_ref<const std::string&>(), known->second));
    if (!is_same) {
      return runtime::FailedPrecondition("the value of " + name +
                                         " is not the one with which the operation began");
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Json> ToJson(const Announcement& announcement, const Secrets& secrets) {
  Json steps = Json::array();
  for (const Step& step : announcement.steps) steps.push_back(ToJson(Hidden(step, secrets)));
  Json history = Json::array();
  for (const redfish::HistoryRecord& record : announcement.history) {
    history.push_back(
        {{"kind", record.kind}, {"uri", record.uri}, {"detail", secrets.Hide(record.detail)}});
  }
  Json json = {{"command", announcement.command},
               {"host", announcement.host},
               {"goal", announcement.goal},
               {"sentence", secrets.HideIn(announcement.sentence)},
               {"understood", announcement.is_understood},
               {"given", announcement.given},
               {"values", secrets.Hide(announcement.values)},
               {"solver", announcement.solver},
               {"steps", std::move(steps)},
               {"predicate", secrets.Hide(announcement.predicate)},
               {"history", std::move(history)}};
  const std::string text = TextOf(json);
  Json digests = Json::object();
  for (const auto& [name, value] : secrets.values()) {
    if (text.find("{" + name + "}") == std::string::npos) continue;
    SHOAL_ASSIGN_OR_RETURN(digests[name], DigestOf(value));
  }
  json["secrets"] = std::move(digests);
  return json;
}

absl::StatusOr<Announcement> ParseAnnouncement(const Json& json, const Secrets& secrets) {
  SHOAL_RETURN_IF_ERROR(CheckSecrets(json, secrets));
  return ParseOwnAnnouncement(json, secrets);
}

absl::StatusOr<Announcement> ParseOwnAnnouncement(const Json& json, const Secrets& secrets) {
  SHOAL_ASSIGN_OR_RETURN(const Json shown, secrets.Show(json));
  Announcement announcement;
  try {
    announcement.command = shown.value("command", std::string());
    shown.at("host").get_to(announcement.host);
    shown.at("goal").get_to(announcement.goal);
    shown.at("sentence").get_to(announcement.sentence);
    announcement.is_understood = shown.value("understood", false);
    announcement.given = shown.value("given", std::vector<std::string>());
    announcement.values = shown.at("values");
    shown.at("solver").get_to(announcement.solver);
    announcement.predicate = shown.at("predicate");
    for (const Json& record : shown.at("history")) {
      announcement.history.push_back({.kind = record.at("kind").get<std::string>(),
                                      .uri = record.at("uri").get<std::string>(),
                                      .detail = record.at("detail")});
    }
    for (const Json& json_step : shown.at("steps")) {
      SHOAL_ASSIGN_OR_RETURN(Step step, ParseStep(json_step));
      announcement.steps.push_back(std::move(step));
    }
  } catch (const Json::exception& error) {
    return runtime::DataLoss(std::string("no announcement: ") + error.what());
  }
  return announcement;
}

std::optional<Secrets> RecallSecrets(const Json& plan, std::string_view sentence,
                                     const redfish::Values& given) {
  std::vector<std::string> names;
  for (const auto& [name, value] : given) names.push_back(name);
  const bool is_said = plan.is_object() && plan.value("understood", Json()) == true &&
                       plan.value("given", Json()) == names;
  const Json digests = is_said ? plan.value("secrets", Json()) : Json();
  if (!digests.is_object()) return std::nullopt;
  const auto said = Secrets::Recall(redfish::TextAt(plan, "sentence"), sentence);
  if (!said) return std::nullopt;
  std::map<std::string, std::string> secrets = said->values();
  for (const auto& [name, value] : given) {
    if (digests.contains(name) && value.is_string()) secrets[name] = value.get<std::string>();
  }
  // Braces in a sentence may be its own.
  for (const auto& [name, secret] : secrets) {
    if (!digests.contains(name)) return std::nullopt;
  }
  return Secrets(std::move(secrets));
}

std::string AnnouncementText(const Announcement& announcement, const Secrets& secrets) {
  std::string text = announcement.host + ": goal " + announcement.goal;
  if (!announcement.values.empty()) text += " " + TextOf(secrets.Hide(announcement.values));
  if (announcement.steps.empty()) return text + "\nNothing needs to change.\n";
  text += "\n" + std::to_string(announcement.steps.size()) +
          " requests, which reach the goal on the twin by " + announcement.solver + ":\n";
  for (std::size_t i = 0; i < announcement.steps.size(); ++i) {
    text += StepText(Hidden(announcement.steps[i], secrets), i + 1);
  }
  return text;
}

}  // namespace shoal::operate
