// SPDX-License-Identifier: Apache-2.0
#include "operate/comparison.h"

#include <algorithm>

#include "redfish/capture/redaction.h"
#include "redfish/capture/uri.h"

namespace shoal::operate {
namespace {

using Json = nlohmann::json;

const Json& ValueAt(const Json& body, const std::string& pointer) {
  static const Json kNone = nullptr;
  const Json* const found = redfish::Resolve(body, pointer);
  return found == nullptr ? kNone : *found;
}

// A whole resource counts as its link, and an absent one as null.
Json ShownOf(const Effect& effect, const Json& body) {
  if (!effect.pointer.empty()) return ValueAt(body, effect.pointer);
  return body.is_null() ? Json() : Json({{"@odata.id", effect.uri}});
}

bool Fits(const Effect& effect, const Json& shown, const Json& expected) {
  return effect.pointer.empty() ? shown.is_null() == expected.is_null() : IsSame(shown, expected);
}

// Where the twin ends to show a value, any other one will do, such as "" in place of null.
bool FitsAfter(const Effect& effect, const Json& shown, const Json& after) {
  const bool ends = !effect.pointer.empty() && after.is_null() && !effect.before.is_null();
  return ends ? !IsSame(shown, effect.before) : Fits(effect, shown, after);
}

}  // namespace

std::string OnHost(const MadeUris& made, const std::string& uri) {
  const std::string* best = nullptr;
  std::size_t length = 0;
  for (const auto& [twin, host] : made) {
    if (twin.size() < length || !redfish::IsAtOrBelow(uri, twin)) continue;
    best = &host;
    length = twin.size();
  }
  return best == nullptr ? uri : *best + uri.substr(length);
}

Json OnHost(const MadeUris& made, const Json& json) {
  if (json.is_string()) return OnHost(made, json.get_ref<const std::string&>());
  if (!json.is_structured() || made.empty()) return json;
  Json mapped = json;
  for (auto& item : mapped) item = OnHost(made, item);
  return mapped;
}

bool IsSame(const Json& host, const Json& expected) {
  if (expected.is_object() && host.is_object()) {
    return std::all_of(expected.items().begin(), expected.items().end(), [&](const auto& item) {
      if (item.key().find('@') != std::string::npos && item.key() != "@odata.id") return true;
      const auto found = host.find(item.key());
      return IsSame(found == host.end() ? Json() : *found, item.value());
    });
  }
  if (expected.is_array() && host.is_array()) {
    return std::equal(host.begin(), host.end(), expected.begin(), expected.end(), &IsSame);
  }
  return host == expected;
}

Sight SightOf(std::span<const Effect> effects, const MadeUris& made, const Bodies& bodies) {
  Sight sight;
  for (const Effect& effect : effects) {
    const auto body = bodies.find(OnHost(made, effect.uri));
    const Json shown = ShownOf(effect, body == bodies.end() ? Json() : body->second);
    sight.values[effect.uri + " " + effect.pointer] = shown;
    if (!effect.matters) continue;
    sight.is_before = sight.is_before && Fits(effect, shown, OnHost(made, effect.before));
    if (FitsAfter(effect, shown, OnHost(made, effect.after))) continue;
    sight.is_after = false;
    sight.missing.push_back(
        EffectText(effect) + " was expected, and the host shows " +
        shown.dump(-1, ' ', false, Json::error_handler_t::replace).substr(0, 200));
  }
  return sight;
}

bool ShowsRequest(const Json& request, const Json& member) {
  if (!request.is_object() || !member.is_object()) return false;
  if (redfish::TextAt(member, "@odata.type").starts_with("#Session.")) return false;
  bool shows_any = false;
  for (const auto& [name, value] : request.items()) {
    const auto shown = member.find(name);
    const bool is_open = shown != member.end() && !shown->is_null() && !value.is_null() &&
                         name.find('@') == std::string::npos && !redfish::IsSecretName(name, {});
    if (!is_open) continue;
    if (!IsSame(*shown, value)) return false;
    shows_any = true;
  }
  return shows_any;
}

bool HasMoved(const Json& before, const Json& now) {
  return std::any_of(now.items().begin(), now.items().end(), [&](const auto& item) {
    const auto found = before.find(item.key());
    return found != before.end() && *found != item.value();
  });
}

Fate FateOf(const Step& step, const Json& before, const Sight& now) {
  if (step.effects.empty()) {
    const bool is_harmless = step.method != "POST";
    return is_harmless ? Fate::kNotDone : Fate::kUnclear;
  }
  const bool any_matters = std::any_of(step.effects.begin(), step.effects.end(),
                                       [](const Effect& effect) { return effect.matters; });
  const bool has_moved = HasMoved(before, now.values);
  if (any_matters && now.is_after) return Fate::kDone;
  if (has_moved) return any_matters && !now.is_before ? Fate::kUnclear : Fate::kDone;
  return Fate::kNotDone;
}

bool IsSameClass(int status, int other) { return status / 100 == other / 100; }

}  // namespace shoal::operate
