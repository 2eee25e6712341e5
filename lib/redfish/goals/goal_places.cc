// SPDX-License-Identifier: Apache-2.0
#include "redfish/goals/goal_places.h"

#include <absl/strings/match.h>

#include <algorithm>
#include <utility>

#include "redfish/capture/uri.h"

namespace shoal::redfish {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kMembers = "members:";
constexpr std::string_view kValues = "values:";

// Returns the captured spelling of `uri`; services that ignore case link to other spellings than
// those in which they answer.
std::string Present(const Capture& capture, const std::string& uri) {
  if (uri.empty() || capture.Find(uri) != nullptr) return uri;
  for (const auto& [captured, body] : capture.resources()) {
    if (absl::EqualsIgnoreCase(captured, uri)) return captured;
  }
  return {};
}

std::vector<std::string> MembersOf(const Capture& capture, const std::string& uri) {
  std::vector<std::string> uris;
  const Json* const collection = capture.Find(uri);
  if (collection == nullptr) return uris;
  for (const std::string& member : MemberUris(*collection)) {
    std::string present = Present(capture, member);
    if (!present.empty()) uris.push_back(std::move(present));
  }
  return uris;
}

absl::StatusOr<std::string> FindPlace(const GoalPlace& place, const Places& known,
                                      const Capture& capture) {
  const auto from = known.find(place.from);
  if (from == known.end()) {
    return runtime::InvalidArgument("place \"" + place.name + "\": no place \"" + place.from +
                                    "\" before it");
  }
  std::string uri = from->second;
  for (const std::string& pointer : place.links) {
    const Json* const body = capture.Find(uri);
    const Json* const link = body == nullptr ? nullptr : Resolve(*body, pointer);
    uri = link == nullptr ? std::string() : Present(capture, LinkTarget(*link));
    if (uri.empty()) return uri;
  }
  if (place.member.is_null()) return capture.Find(uri) == nullptr ? std::string() : uri;
  SHOAL_ASSIGN_OR_RETURN(const Json condition, PutPlaces(place.member, known, capture));
  SHOAL_ASSIGN_OR_RETURN(const std::vector<std::string> members,
                         MembersWhere(capture, uri, condition));
  const auto nth = static_cast<std::size_t>(place.nth);
  return nth < members.size() ? members[nth] : std::string();
}

// Returns the URI of the place in ":-place"; empty when `rest` is empty.
absl::StatusOr<std::string> LeftOut(const std::string& text, std::string_view rest,
                                    const Places& places) {
  if (rest.empty()) return std::string();
  const auto place = rest.starts_with(":-") ? places.find(rest.substr(2)) : places.end();
  if (place == places.end())
    return runtime::InvalidArgument("\"" + text + "\" leaves out no place");
  return place->second;
}

absl::StatusOr<Json> PutOne(const std::string& text, const Places& places, const Capture& capture) {
  std::string_view name = std::string_view(text).substr(1);
  const bool lists = name.starts_with(kMembers);
  const bool reads = name.starts_with(kValues);
  if (lists) name.remove_prefix(kMembers.size());
  if (reads) name.remove_prefix(kValues.size());
  const std::size_t end = name.find_first_of(reads || lists ? ":" : "/");
  const std::string_view rest = end == std::string_view::npos ? "" : name.substr(end);
  const auto place = places.find(name.substr(0, end));
  if (place == places.end()) {
    return runtime::InvalidArgument("\"" + text + "\" names no place");
  }
  const std::string uri = place->second.empty() ? std::string(kAbsent) : place->second;
  if (!lists && !reads) return Json(uri + std::string(rest));
  SHOAL_ASSIGN_OR_RETURN(const std::string left_out,
                         lists ? LeftOut(text, rest, places) : std::string());
  Json values = Json::array();
  for (const std::string& member : MembersOf(capture, uri)) {
    if (lists) {
      if (member != left_out) values.push_back(member);
      continue;
    }
    const std::string_view pointer = rest.empty() ? rest : rest.substr(1);
    const Json* const value = Resolve(*capture.Find(member), pointer);
    if (value != nullptr) values.push_back(*value);
  }
  return values;
}

}  // namespace

absl::StatusOr<Places> FindPlaces(const std::vector<GoalPlace>& places, const Landmarks& landmarks,
                                  const Capture& capture) {
  Places known = {{"root", std::string(kServiceRoot)},
                  {"system", landmarks.system},
                  {"chassis", landmarks.chassis},
                  {"manager", landmarks.manager},
                  {"network_protocol", landmarks.network_protocol}};
  for (const GoalPlace& place : places) {
    SHOAL_ASSIGN_OR_RETURN(std::string uri, FindPlace(place, known, capture));
    if (uri.empty() && !place.optional) {
      return runtime::NotFound(capture.name() + " has no \"" + place.name + "\"");
    }
    known[place.name] = std::move(uri);
  }
  return known;
}

absl::StatusOr<std::vector<std::string>> MembersWhere(const Capture& capture,
                                                      const std::string& collection,
                                                      const Json& condition) {
  std::vector<std::string> members = MembersOf(capture, collection);
  if (condition.is_null()) return members;
  SHOAL_ASSIGN_OR_RETURN(const Predicate holds, Predicate::ParseOfResource(condition));
  const CapturedState state(capture);
  std::erase_if(members, [&](const std::string& uri) { return !holds.Evaluate(state, uri); });
  return members;
}

absl::StatusOr<Json> PutPlaces(const Json& json, const Places& places, const Capture& capture,
                               const std::vector<std::string>& later) {
  if (json.is_string()) {
    const std::string& text = json.get_ref<const std::string&>();
    if (!text.starts_with('$')) return json;
    const std::string name = text.substr(
        1, text.find('/') == std::string::npos ? std::string::npos : text.find('/') - 1);
    const bool waits = name == "each" || std::find(later.begin(), later.end(), name) != later.end();
    if (waits) return json;
    return PutOne(text, places, capture);
  }
  if (!json.is_structured()) return json;
  Json placed = json;
  for (auto& item : placed) {
    SHOAL_ASSIGN_OR_RETURN(item, PutPlaces(item, places, capture, later));
  }
  return placed;
}

}  // namespace shoal::redfish
