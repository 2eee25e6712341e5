// SPDX-License-Identifier: Apache-2.0
#include "encoder/property_values.h"

#include <algorithm>
#include <utility>

#include "encoder/capture_bodies.h"

namespace shoal::encoder {
namespace {

using nlohmann::json;
using Pointer = json::json_pointer;

constexpr std::size_t kMaxPropertyDepth = 16;

bool IsAnnotation(std::string_view name) { return name.find('@') != name.npos; }

bool MayVary(const json& value) {
  if (value.is_boolean() || value.is_number()) return true;
  return value.is_string() && !value.get_ref<const std::string&>().starts_with("/redfish/");
}

// Calls visit(place, value) for each member that may be a property.
template <typename Visit>
void EachLeaf(const json& value, const Pointer& pointer, std::size_t depth, const Visit& visit) {
  if (depth > kMaxPropertyDepth) return;
  if (value.is_array()) {
    for (std::size_t i = 0; i < value.size(); ++i) {
      if (value[i].is_structured()) EachLeaf(value[i], pointer / i, depth + 1, visit);
    }
    return;
  }
  for (const auto& [name, member] : value.items()) {
    if (IsAnnotation(name)) continue;
    if (member.is_structured()) {
      EachLeaf(member, pointer / name, depth + 1, visit);
    } else if (MayVary(member)) {
      visit(PropertyPlace{pointer / name, name}, member);
    }
  }
}

bool Leads(const Pointer& to, const std::vector<std::string>& path) {
  Pointer rest = to;
  std::vector<std::string> steps;
  for (; !rest.empty(); rest.pop_back()) steps.push_back(rest.back());
  std::ranges::reverse(steps);
  return path.size() <= steps.size() && std::equal(path.begin(), path.end(), steps.begin());
}

json CopyWithout(const json& value, const Pointer& kept, double share, runtime::Random& random,
                 std::vector<std::string>& path) {
  if (value.is_array()) {
    json copy = json::array();
    for (std::size_t i = 0; i < value.size(); ++i) {
      path.push_back(std::to_string(i));
      copy.push_back(CopyWithout(value[i], kept, share, random, path));
      path.pop_back();
    }
    return copy;
  }
  if (!value.is_object()) return value;
  json copy = json::object();
  for (const auto& [name, member] : value.items()) {
    path.push_back(name);
    const bool may_leave = !IsAnnotation(name) && (path.size() == 1 || !member.is_structured());
    const bool leaves = may_leave && random.Uniform() < share && !Leads(kept, path);
    if (!leaves) copy[name] = CopyWithout(member, kept, share, random, path);
    path.pop_back();
  }
  return copy;
}

}  // namespace

PropertyValues::PropertyValues(std::span<const json* const> bodies) {
  std::map<std::string, std::map<json, std::size_t>> counts;
  for (const json* body : bodies) {
    EachLeaf(*body, Pointer(), 0, [&](const PropertyPlace& place, const json& value) {
      std::map<json, std::size_t>& of = counts[place.name];
      if (of.size() <= kMaxValues || of.contains(value)) ++of[value];
    });
  }
  for (const auto& [name, values] : counts) {
    if (values.size() < 2 || values.size() > kMaxValues) continue;
    std::vector<Counted>& counted = properties_[name];
    for (const auto& [value, count] : values) counted.push_back({value, count});
    std::ranges::stable_sort(counted, std::ranges::greater(), &Counted::count);
  }
}

std::vector<PropertyPlace> PropertyValues::PlacesIn(const json& body) const {
  std::vector<PropertyPlace> places;
  EachLeaf(body, Pointer(), 0, [&](PropertyPlace place, const json&) {
    if (properties_.contains(place.name)) places.push_back(std::move(place));
  });
  return places;
}

std::optional<PropertyPlace> PropertyValues::ChangeOne(json& body, runtime::Random& random) const {
  const std::vector<PropertyPlace> places = PlacesIn(body);
  if (places.empty()) return std::nullopt;
  const PropertyPlace& place = places[random.Below(places.size())];
  const std::vector<Counted>& values = properties_.at(place.name);
  json& value = body[place.pointer];
  std::size_t drawn = random.Below(values.size());
  if (values[drawn].value == value) drawn = (drawn + 1) % values.size();
  value = values[drawn].value;
  return place;
}

json WithoutSome(const json& body, const Pointer& kept, double share, runtime::Random& random) {
  std::vector<std::string> path;
  return CopyWithout(body, kept, share, random, path);
}

json Shortened(json body, std::size_t bytes, runtime::Random& random) {
  while (BodyText(body).size() > bytes) {
    std::vector<std::string> names;
    for (const auto& [name, unused] : body.items()) {
      if (!IsAnnotation(name)) names.push_back(name);
    }
    if (names.empty()) break;
    body.erase(names[random.Below(names.size())]);
  }
  return body;
}

}  // namespace shoal::encoder
