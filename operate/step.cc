// SPDX-License-Identifier: Apache-2.0
#include "operate/step.h"

#include <utility>

namespace shoal::operate {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kShownBytes = 120;

std::string Short(const Json& value) {
  std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > kShownBytes) text = text.substr(0, kShownBytes) + "...";
  return text;
}

}  // namespace

Json ToJson(const Step& step) {
  Json effects = Json::array();
  for (const Effect& effect : step.effects) {
    effects.push_back({{"uri", effect.uri},
                       {"pointer", effect.pointer},
                       {"before", effect.before},
                       {"after", effect.after},
                       {"matters", effect.matters}});
  }
  Json json = {{"method", step.method},     {"uri", step.uri},
               {"body", step.body},         {"status", step.status},
               {"location", step.location}, {"task_state", step.task_state},
               {"effects", effects}};
  if (step.session) json["session"] = *step.session;
  return json;
}

absl::StatusOr<Step> ParseStep(const Json& json) {
  Step step;
  try {
    json.at("method").get_to(step.method);
    json.at("uri").get_to(step.uri);
    step.body = json.at("body");
    json.at("status").get_to(step.status);
    json.at("location").get_to(step.location);
    json.at("task_state").get_to(step.task_state);
    if (json.contains("session")) step.session = json.at("session").get<std::size_t>();
    for (const Json& effect : json.at("effects")) {
      step.effects.push_back({.uri = effect.at("uri").get<std::string>(),
                              .pointer = effect.at("pointer").get<std::string>(),
                              .before = effect.at("before"),
                              .after = effect.at("after"),
                              .matters = effect.at("matters").get<bool>()});
    }
  } catch (const Json::exception& error) {
    return runtime::DataLoss(std::string("no step of a plan: ") + error.what());
  }
  return step;
}

std::string RequestText(const Step& step) {
  std::string text = step.method + " " + step.uri;
  if (!step.body.is_null()) {
    text += " " + step.body.dump(-1, ' ', false, Json::error_handler_t::replace);
  }
  return text;
}

std::string EffectText(const Effect& effect) {
  if (effect.pointer.empty()) {
    return effect.uri + (effect.after.is_null() ? " is removed" : " is made");
  }
  return effect.pointer + " of " + effect.uri + ": " + Short(effect.before) + " -> " +
         Short(effect.after);
}

}  // namespace shoal::operate
