// SPDX-License-Identifier: Apache-2.0
#include "operate/change_report.h"

#include "operate/comparison.h"

namespace shoal::operate {
namespace {

using Json = nlohmann::json;

std::string LineOf(const Effect& effect, const PastOperation& past, const Json& before) {
  const std::string uri = OnHost(past.made, effect.uri);
  const auto found = before.find(effect.uri + " " + effect.pointer);
  const Json old = found == before.end() ? Json() : *found;
  if (effect.pointer.empty()) return uri + (old.is_null() ? " was not there" : " was there");
  return effect.pointer + " of " + uri + " was " +
         old.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string ChangeReport(const Announcement& announcement, const PastOperation& past) {
  std::string text;
  for (const auto& [number, step] : past.steps) {
    if (step.sent == 0 || !step.before || number >= announcement.steps.size()) continue;
    const Step& planned = announcement.steps[number];
    text += "  request " + std::to_string(number + 1) + ", " + planned.method + " " +
            OnHost(past.made, planned.uri) + (step.is_done ? ":\n" : ", if it was carried out:\n");
    std::string lines;
    for (const Effect& effect : planned.effects) {
      if (effect.matters) lines += "    " + LineOf(effect, past, *step.before) + "\n";
    }
    text += lines.empty() ? "    what it changed is not known\n" : lines;
  }
  return text.empty() ? text : "Changed so far, with what was there before:\n" + text;
}

}  // namespace shoal::operate
