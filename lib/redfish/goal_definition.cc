// SPDX-License-Identifier: Apache-2.0
#include "redfish/goal_definition.h"

#include <toml++/toml.h>
#include <set>
#include <sstream>
#include <utility>

namespace shoal::redfish {
namespace {

using Json = nlohmann::json;

Json ToJson(const toml::node& node) {
  if (const auto* table = node.as_table()) {
    Json object = Json::object();
    for (const auto& [key, value] : *table) object[std::string(key.str())] = ToJson(value);
    return object;
  }
  if (const auto* array = node.as_array()) {
    Json list = Json::array();
    for (const auto& value : *array) list.push_back(ToJson(value));
    return list;
  }
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* integer = node.as_integer()) return integer->get();
  if (const auto* number = node.as_floating_point()) return number->get();
  if (const auto* boolean = node.as_boolean()) return boolean->get();
  return nullptr;
}

// Takes members out of an object; the first error stays, and what is left over is one.
class Reader {
 public:
  Reader(std::string where, Json object) : where_(std::move(where)), object_(std::move(object)) {
    if (!object_.is_object()) Fail("a table expected");
  }

  std::string Text(const std::string& key) {
    const Json value = Take(key);
    if (!value.is_string()) Fail("\"" + key + "\" needs a text");
    return value.is_string() ? value.get<std::string>() : std::string();
  }
  std::int64_t Integer(const std::string& key, std::int64_t otherwise) {
    if (!Has(key)) return otherwise;
    const Json value = Take(key);
    if (!value.is_number_integer()) Fail("\"" + key + "\" needs an integer");
    return value.is_number_integer() ? value.get<std::int64_t>() : otherwise;
  }
  double Share(const std::string& key, double otherwise) {
    if (!Has(key)) return otherwise;
    const Json value = Take(key);
    const bool fits = value.is_number() && value.get<double>() >= 0.0 && value.get<double>() <= 1.0;
    if (!fits) Fail("\"" + key + "\" needs a number from 0 to 1");
    return fits ? value.get<double>() : otherwise;
  }
  bool Boolean(const std::string& key, bool otherwise) {
    if (!Has(key)) return otherwise;
    const Json value = Take(key);
    if (!value.is_boolean()) Fail("\"" + key + "\" needs true or false");
    return value.is_boolean() ? value.get<bool>() : otherwise;
  }
  // Empty when the key is missing.
  std::vector<Json> List(const std::string& key) {
    if (!Has(key)) return {};
    const Json value = Take(key);
    if (!value.is_array()) Fail("\"" + key + "\" needs an array");
    return value.is_array() ? value.get<std::vector<Json>>() : std::vector<Json>();
  }
  std::vector<std::string> Texts(const std::string& key) {
    std::vector<std::string> texts;
    for (const Json& item : List(key)) {
      if (item.is_string()) {
        texts.push_back(item);
      } else {
        Fail("\"" + key + "\" needs texts");
      }
    }
    return texts;
  }
  // Of any type; null when the key is missing.
  Json Value(const std::string& key) { return Take(key); }
  Json Table(const std::string& key) {
    if (!Has(key)) return Json::object();
    Json value = Take(key);
    if (!value.is_object()) Fail("\"" + key + "\" needs a table");
    return value.is_object() ? value : Json::object();
  }

  bool Has(const std::string& key) const { return object_.is_object() && object_.contains(key); }
  void Fail(const std::string& what) {
    if (status_.ok()) status_ = runtime::InvalidArgument(where_ + ": " + what);
  }
  void Merge(const absl::Status& status) {
    if (status_.ok()) status_ = status;
  }
  // The first error, or one that names a key that nobody took.
  absl::Status Finish() {
    if (status_.ok() && !object_.empty()) {
      Fail("unknown key \"" + object_.begin().key() + "\"");
    }
    return status_;
  }
  const std::string& where() const { return where_; }

 private:
  Json Take(const std::string& key) {
    if (!Has(key)) return Json();
    Json value = std::move(object_[key]);
    object_.erase(key);
    return value;
  }

  const std::string where_;
  Json object_;
  absl::Status status_;
};

bool IsLandmark(const std::string& name) {
  static const std::set<std::string> kNames = {"system", "chassis", "manager", "network_protocol"};
  return kNames.contains(name);
}

std::string Landmark(Reader& reader, const std::string& key) {
  std::string name = reader.Text(key);
  if (!IsLandmark(name)) reader.Fail("no resource \"" + name + "\"");
  return name;
}

TargetProperty ReadProperty(Reader& parent, const Json& from) {
  Reader reader(parent.where() + " properties", from);
  TargetProperty property;
  property.pointer = reader.Text("pointer");
  property.contains = reader.Boolean("contains", false);
  property.wanted = reader.List("wanted");
  property.start = reader.List("start");
  if (property.wanted.empty() || property.start.empty()) {
    reader.Fail("\"wanted\" and \"start\" need a value each");
  }
  parent.Merge(reader.Finish());
  return property;
}

Phrasings ReadPhrasings(Reader& reader) {
  Phrasings phrasings{reader.Texts("train"), reader.Texts("evaluate")};
  const std::set<std::string> trained(phrasings.train.begin(), phrasings.train.end());
  for (const std::string& text : phrasings.evaluate) {
    if (trained.contains(text)) reader.Fail("\"evaluate\" repeats \"" + text + "\" of \"train\"");
  }
  return phrasings;
}

GoalTarget ReadTarget(Reader& parent, const Json& from) {
  Reader reader(parent.where() + " targets", from);
  GoalTarget target;
  target.name = reader.Text("name");
  target.resource = Landmark(reader, "resource");
  target.along = reader.Texts("along");
  for (const std::string& name : target.along) {
    if (!IsLandmark(name)) reader.Fail("no resource \"" + name + "\"");
  }
  target.any = reader.Boolean("any", false);
  target.in_predicate = reader.Boolean("in_predicate", true);
  target.cost = reader.Integer("cost", 1);
  target.phrasings = ReadPhrasings(reader);
  for (const Json& property : reader.List("properties")) {
    target.properties.push_back(ReadProperty(reader, property));
  }
  if (target.properties.empty()) reader.Fail("\"properties\" is empty");
  parent.Merge(reader.Finish());
  return target;
}

std::vector<LandmarkProperty> ReadPlaces(Reader& parent, const std::string& key, bool with_value) {
  std::vector<LandmarkProperty> places;
  for (const Json& from : parent.List(key)) {
    Reader reader(parent.where() + " " + key, from);
    LandmarkProperty place;
    place.resource = Landmark(reader, "resource");
    place.pointer = reader.Text("pointer");
    if (with_value) place.value = reader.Value("value");
    parent.Merge(reader.Finish());
    places.push_back(std::move(place));
  }
  return places;
}

absl::Status ReadInto(Goal::Definition& goal, Reader& reader) {
  goal.id = reader.Integer("id", 0);
  if (goal.id <= 0) reader.Fail("\"id\" needs a positive integer");
  goal.name = reader.Text("name");
  goal.phrasings = ReadPhrasings(reader);
  if (goal.phrasings.train.empty() || goal.phrasings.evaluate.empty()) {
    reader.Fail("\"train\" and \"evaluate\" need a phrasing each");
  }
  const Json parameters = reader.Table("parameters");
  for (const auto& [name, generator] : parameters.items()) {
    if (!generator.is_string() || !IsGenerator(generator.get_ref<const std::string&>())) {
      reader.Fail("parameter \"" + name + "\" has no such generator");
    } else {
      goal.parameters.emplace(name, generator);
    }
  }
  for (const Json& target : reader.List("targets")) {
    goal.targets.push_back(ReadTarget(reader, target));
  }
  if (goal.targets.empty()) reader.Fail("\"targets\" is empty");
  goal.require = reader.List("require");
  goal.start = ReadPlaces(reader, "start", true);
  goal.allowed = ReadPlaces(reader, "allowed", false);
  goal.reset_types = reader.Texts("reset_types");
  goal.base_cost = reader.Integer("base_cost", goal.base_cost);
  goal.satisfied_share = reader.Share("satisfied_share", goal.satisfied_share);
  goal.partial_share = reader.Share("partial_share", goal.partial_share);
  goal.no_leftovers_of = reader.Texts("no_leftovers_of");
  return reader.Finish();
}

}  // namespace

absl::StatusOr<std::unique_ptr<const Goal::Definition>> ReadGoalDefinition(
    const std::string& path, const std::string& text) {
  const toml::parse_result parsed = toml::parse(std::string_view(text), path);
  if (!parsed) {
    std::ostringstream reason;
    reason << parsed.error();
    return runtime::InvalidArgument("goal " + path + ": " + reason.str());
  }
  Reader reader("goal " + path, ToJson(parsed.table()));
  auto goal = std::make_unique<Goal::Definition>();
  SHOAL_RETURN_IF_ERROR(ReadInto(*goal, reader));
  return std::unique_ptr<const Goal::Definition>(std::move(goal));
}

}  // namespace shoal::redfish
