// SPDX-License-Identifier: Apache-2.0
#include "redfish/goals/goal_definition.h"

#include <absl/strings/str_replace.h>
#include <toml++/toml.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include "redfish/capture/archive.h"
#include "redfish/goals/goal_reader.h"
#include "redfish/goals/parameter_generator.h"
#include "redfish/goals/phrase_lists.h"

namespace shoal::redfish {
namespace {

using Json = nlohmann::json;

absl::StatusOr<GoalPart> ReadDefinition(const std::string& path, const std::string& text,
                                        bool is_part);

bool IsLandmark(const std::string& name) {
  static const std::set<std::string> kNames = {"system", "chassis", "manager", "network_protocol"};
  return kNames.contains(name);
}

std::string Landmark(GoalReader& reader, const std::string& key) {
  std::string name = reader.Text(key);
  if (!IsLandmark(name)) reader.Fail(key, "no resource \"" + name + "\"");
  return name;
}

TargetProperty ReadProperty(GoalReader& parent, GoalReader& reader) {
  TargetProperty property;
  property.pointer = reader.Text("pointer");
  property.contains = reader.Boolean("contains", false);
  property.wanted = reader.List("wanted");
  property.start = reader.List("start");
  if (property.wanted.empty() || property.start.empty()) {
    reader.Fail("wanted", "\"wanted\" and \"start\" need a value each");
  }
  parent.Merge(reader.Finish());
  return property;
}

Phrasings ReadPhrasings(GoalReader& reader, const PhrasePattern::Lists& lists) {
  Phrasings phrasings{{}, reader.Texts("evaluate")};
  for (const std::string& text : reader.Texts("train")) {
    auto pattern = PhrasePattern::Parse(text, lists);
    if (!pattern.ok()) {
      reader.Fail("train", "\"train\": " + runtime::Message(pattern.status()));
      continue;
    }
    const auto repeated =
        std::find_if(phrasings.evaluate.begin(), phrasings.evaluate.end(),
                     [&](const std::string& sentence) { return pattern->Generates(sentence); });
    if (repeated != phrasings.evaluate.end()) {
      reader.Fail("evaluate", "\"evaluate\" repeats \"" + *repeated + "\" of \"train\"");
    }
    phrasings.train.push_back(*std::move(pattern));
  }
  return phrasings;
}

GoalTarget ReadTarget(GoalReader& parent, GoalReader& reader, const PhrasePattern::Lists& lists) {
  GoalTarget target;
  target.name = reader.Text("name");
  target.resource = Landmark(reader, "resource");
  target.along = reader.Texts("along");
  for (const std::string& name : target.along) {
    if (!IsLandmark(name)) reader.Fail("along", "no resource \"" + name + "\"");
  }
  target.any = reader.Boolean("any", false);
  target.in_predicate = reader.Boolean("in_predicate", true);
  target.cost = reader.Integer("cost", 1);
  target.phrasings = ReadPhrasings(reader, lists);
  for (GoalReader& property : reader.Tables("properties")) {
    target.properties.push_back(ReadProperty(reader, property));
  }
  if (target.properties.empty()) reader.Fail("properties", "\"properties\" is empty");
  parent.Merge(reader.Finish());
  return target;
}

// Reads a condition on a resource; returns null when there is none.
Json ReadCondition(GoalReader& reader, const std::string& key) {
  Json condition = reader.Value(key);
  if (condition.is_null()) return condition;
  const absl::Status status = Predicate::ParseOfResource(condition).status();
  if (!status.ok()) reader.Fail(key, runtime::Message(status));
  return condition;
}

std::vector<LandmarkProperty> ReadProperties(GoalReader& parent, const std::string& key,
                                             const std::set<std::string>& known, bool with_value) {
  std::vector<LandmarkProperty> properties;
  for (GoalReader& reader : parent.Tables(key)) {
    LandmarkProperty property;
    property.resource = reader.Text("resource");
    if (!known.contains(property.resource)) {
      reader.Fail("resource", "no resource \"" + property.resource + "\"");
    }
    property.pointer = reader.Text("pointer");
    if (with_value) property.value = reader.Value("value");
    if (!with_value) property.members = reader.Boolean("members", false);
    if (property.members) property.where = ReadCondition(reader, "where");
    parent.Merge(reader.Finish());
    properties.push_back(std::move(property));
  }
  return properties;
}

std::vector<Reading> ReadReadings(GoalReader& parent, const std::string& key,
                                  const std::set<std::string>& known) {
  std::vector<Reading> readings;
  for (GoalReader& reader : parent.Tables(key)) {
    Reading reading{.name = reader.Text("name"), .from = reader.Text("from"), .pointer = ""};
    reading.defaults = reader.Boolean("defaults", false);
    if (!reading.defaults) reading.pointer = reader.Text("pointer");
    readings.push_back(std::move(reading));
    if (!known.contains(readings.back().from)) {
      reader.Fail("from", "no place \"" + readings.back().from + "\"");
    }
    parent.Merge(reader.Finish());
  }
  return readings;
}

GoalPlace ReadPlace(GoalReader& reader, const std::set<std::string>& known) {
  GoalPlace place;
  place.name = reader.Text("name");
  if (place.name.empty() || known.contains(place.name)) {
    reader.Fail("name", "a name of its own expected");
  }
  place.from = reader.Text("from");
  if (!known.contains(place.from)) reader.Fail("from", "no place \"" + place.from + "\" before it");
  place.links = reader.Texts("links");
  place.member = ReadCondition(reader, "member");
  place.nth = reader.Integer("nth", 0);
  place.optional = reader.Boolean("optional", false);
  return place;
}

std::vector<ValueGroup> ReadChoices(GoalReader& parent) {
  std::vector<ValueGroup> choices;
  for (GoalReader& reader : parent.Tables("choices")) {
    ValueGroup choice;
    choice.where = reader.Value("where");
    const Json values = reader.Table("values");
    for (const auto& [name, value] : values.items()) choice.values.emplace(name, value);
    if (choice.values.empty()) reader.Fail("values", "\"values\" is empty");
    parent.Merge(reader.Finish());
    choices.push_back(std::move(choice));
  }
  return choices;
}

void ReadParameters(Goal::Definition& goal, GoalReader& reader) {
  const Json parameters = reader.Table("parameters");
  for (const auto& [name, generator] : parameters.items()) {
    if (!generator.is_string() || !IsGenerator(generator.get_ref<const std::string&>())) {
      reader.Fail("parameters", "parameter \"" + name + "\" has no such generator");
    } else {
      goal.parameters.emplace(name, generator);
    }
  }
}

void ReadTaken(Goal::Definition& goal, GoalReader& reader) {
  const Json taken = reader.Table("taken");
  for (const auto& [name, values] : taken.items()) {
    const bool is_list = values.is_string() || values.is_array();
    if (!goal.parameters.contains(name) || !is_list) {
      reader.Fail("taken", "\"" + name + "\" is no parameter with a list of values");
    }
    goal.taken[name] = values;
  }
}

// Reads the parts, which are files beside the goal's own, and adds them to `goal`.
std::vector<GoalPart> ReadParts(const std::string& path, Goal::Definition& goal,
                                GoalReader& reader) {
  std::vector<GoalPart> parts;
  for (const std::string& name : reader.Texts("parts")) {
    const std::string file =
        (std::filesystem::path(path).parent_path() / (name + ".toml")).string();
    const absl::StatusOr<std::string> text = ReadWholeFile(file);
    auto part = text.ok() ? ReadDefinition(file, *text, true) : text.status();
    absl::Status status = part.status();
    if (status.ok()) status = AddPart(**part, goal);
    if (status.ok()) {
      parts.push_back(*std::move(part));
    } else {
      reader.Fail("parts", "part \"" + name + "\": " + runtime::Message(status));
    }
  }
  return parts;
}

void ReadSlots(Goal::Definition& goal, GoalReader& reader) {
  const Json slots = reader.Table("slots");
  for (const auto& [name, value] : slots.items()) goal.slots.emplace(name, value);
}

// Both situations of an exchange are allowed by the same captures and cost the same.
void CheckExchanges(const Goal::Definition& goal, GoalReader& reader) {
  for (const Situation& one : goal.situations) {
    if (one.exchanged.empty()) continue;
    const auto fits = [&one](const Situation& other) {
      return &other != &one && other.name == one.exchanged && other.optimum == one.optimum &&
             other.where == one.where;
    };
    if (std::any_of(goal.situations.begin(), goal.situations.end(), fits)) continue;
    reader.Fail("situations", "no other situation \"" + one.exchanged +
                                  "\" with the optimum and the " + "condition of \"" + one.name +
                                  "\"");
  }
}

void ReadStarts(Goal::Definition& goal, const std::vector<GoalPart>& parts,
                const PhrasePattern::Lists& lists, GoalReader& reader) {
  for (GoalReader& target : reader.Tables("targets")) {
    goal.targets.push_back(ReadTarget(reader, target, lists));
  }
  for (GoalReader& situation : reader.Tables("situations")) {
    goal.situations.push_back(ReadSituation(situation));
    const absl::Status status = AddStarts(parts, goal.situations.back());
    if (!status.ok()) situation.Fail("of", runtime::Message(status));
    reader.Merge(situation.Finish());
  }
  CheckExchanges(goal, reader);
  if (goal.targets.empty() == goal.situations.empty()) {
    reader.Fail("targets", "needs \"targets\" or \"situations\", not both");
  }
}

template <typename T>
void Append(const std::vector<T>& from, std::vector<T>& into) {
  into.insert(into.end(), from.begin(), from.end());
}

absl::Status ReadInto(Goal::Definition& goal, const std::vector<GoalPart>& parts,
                      const PhrasePattern::Lists& lists, GoalReader& reader) {
  goal.id = reader.Integer("id", 0);
  if (goal.id <= 0) reader.Fail("id", "\"id\" needs a positive integer");
  goal.name = reader.Text("name");
  goal.phrasings = ReadPhrasings(reader, lists);
  if (goal.phrasings.train.empty() || goal.phrasings.evaluate.empty()) {
    reader.Fail("train", "\"train\" and \"evaluate\" need a phrasing each");
  }
  goal.sentence = reader.Table("sentence");
  std::set<std::string> known = {"root", "system", "chassis", "manager", "network_protocol"};
  for (const GoalPlace& place : goal.places) known.insert(place.name);
  for (GoalReader& place : reader.Tables("places")) {
    goal.places.push_back(ReadPlace(place, known));
    known.insert(goal.places.back().name);
    reader.Merge(place.Finish());
  }
  ReadParameters(goal, reader);
  ReadTaken(goal, reader);
  ReadSlots(goal, reader);
  ReadStarts(goal, parts, lists, reader);
  Append(ReadReadings(reader, "readings", known), goal.readings);
  Append(ReadReadings(reader, "orders", known), goal.orders);
  Append(ReadChoices(reader), goal.choices);
  Append(reader.List("milestones"), goal.milestones);
  Append(reader.List("require"), goal.require);
  goal.plan = reader.List("plan");
  const absl::Status plan = CheckPlanKeys(goal.plan);
  if (!plan.ok()) reader.Fail("plan", runtime::Message(plan));
  Append(ReadProperties(reader, "start", known, true), goal.start);
  Append(ReadProperties(reader, "allowed", known, false), goal.allowed);
  goal.reset_types = reader.Texts("reset_types");
  goal.base_cost = reader.Integer("base_cost", goal.base_cost);
  goal.satisfied_share = reader.Fraction("satisfied_share", goal.satisfied_share);
  goal.partial_share = reader.Fraction("partial_share", goal.partial_share);
  goal.no_leftovers_of = reader.Texts("no_leftovers_of");
  return reader.Finish();
}

// Adds the phrasings of each part as a list with the part's name. They stand within a sentence
// there, so what stands before and after a whole one is left out.
absl::Status AddPhrasings(const std::vector<GoalPart>& parts, PhrasePattern::Lists& lists) {
  for (const GoalPart& part : parts) {
    if (lists.contains(part->name)) {
      return runtime::InvalidArgument("part \"" + part->name + "\" has the name of a phrase list");
    }
    std::vector<PhrasePattern> phrases;
    for (const PhrasePattern& pattern : part->phrasings.train) {
      SHOAL_ASSIGN_OR_RETURN(
          PhrasePattern phrase,
          PhrasePattern::Parse(absl::StrReplaceAll(pattern.text(), {{"<hi>", ""}, {"<end>", ""}}),
                               lists));
      phrases.push_back(std::move(phrase));
    }
    lists.emplace(part->name, std::move(phrases));
  }
  return absl::OkStatus();
}

absl::StatusOr<GoalPart> ReadDefinition(const std::string& path, const std::string& text,
                                        bool is_part) {
  const toml::parse_result parsed = toml::parse(std::string_view(text), path);
  if (!parsed) {
    std::ostringstream reason;
    reason << parsed.error();
    return runtime::InvalidArgument("goal " + path + ": " + reason.str());
  }
  GoalReader reader(path, "", parsed.table());
  auto goal = std::make_unique<Goal::Definition>();
  if (is_part && reader.Has("parts")) reader.Fail("parts", "a part has no parts");
  const std::vector<GoalPart> parts =
      is_part ? std::vector<GoalPart>() : ReadParts(path, *goal, reader);
  SHOAL_ASSIGN_OR_RETURN(PhrasePattern::Lists lists,
                         LoadPhraseLists(std::filesystem::path(path).parent_path().string()));
  const absl::Status added = AddPhrasings(parts, lists);
  if (!added.ok()) reader.Fail("parts", runtime::Message(added));
  SHOAL_RETURN_IF_ERROR(ReadInto(*goal, parts, lists, reader));
  return GoalPart(std::move(goal));
}

}  // namespace

absl::StatusOr<std::unique_ptr<const Goal::Definition>> ReadGoalDefinition(
    const std::string& path, const std::string& text) {
  return ReadDefinition(path, text, false);
}

namespace {

absl::Status Clash(const std::string& name) {
  return runtime::InvalidArgument("\"" + name + "\" is something else in another part");
}

// Adds the elements of `from` by name.
template <typename T>
absl::Status AddNamed(const std::vector<T>& from, std::vector<T>& into) {
  for (const T& one : from) {
    const auto known =
        std::find_if(into.begin(), into.end(), [&](const T& it) { return it.name == one.name; });
    if (known == into.end()) {
      into.push_back(one);
    } else if (!(*known == one)) {
      return Clash(one.name);
    }
  }
  return absl::OkStatus();
}

template <typename T>
absl::Status AddNamed(const std::map<std::string, T>& from, std::map<std::string, T>& into) {
  for (const auto& [name, value] : from) {
    if (into.try_emplace(name, value).first->second != value) return Clash(name);
  }
  return absl::OkStatus();
}

template <typename T>
void AddMissing(const std::vector<T>& from, std::vector<T>& into) {
  for (const T& one : from) {
    if (std::find(into.begin(), into.end(), one) == into.end()) into.push_back(one);
  }
}

}  // namespace

absl::Status AddPart(const Goal::Definition& part, Goal::Definition& whole) {
  if (!part.targets.empty() || !part.orders.empty()) {
    return runtime::InvalidArgument("parts have situations and no orders");
  }
  if (!part.choices.empty() && !whole.choices.empty() && part.choices != whole.choices) {
    return runtime::InvalidArgument("choices of more than one part");
  }
  SHOAL_RETURN_IF_ERROR(AddNamed(part.places, whole.places));
  SHOAL_RETURN_IF_ERROR(AddNamed(part.parameters, whole.parameters));
  SHOAL_RETURN_IF_ERROR(AddNamed(part.taken, whole.taken));
  SHOAL_RETURN_IF_ERROR(AddNamed(part.slots, whole.slots));
  SHOAL_RETURN_IF_ERROR(AddNamed(part.readings, whole.readings));
  AddMissing(part.choices, whole.choices);
  AddMissing(part.milestones, whole.milestones);
  AddMissing(part.require, whole.require);
  AddMissing(part.start, whole.start);
  AddMissing(part.allowed, whole.allowed);
  return absl::OkStatus();
}

absl::Status AddStarts(const std::vector<GoalPart>& parts, Situation& situation) {
  if (situation.of.size() != parts.size()) {
    return runtime::InvalidArgument("\"of\" names a situation of each part");
  }
  std::vector<Json> start;
  Json where = Json::array();
  for (const GoalPart& part : parts) {
    const auto name = situation.of.find(part->name);
    if (name == situation.of.end()) {
      return runtime::InvalidArgument("\"of\" lacks a situation of \"" + part->name + "\"");
    }
    const auto found = std::find_if(part->situations.begin(), part->situations.end(),
                                    [&](const Situation& one) { return one.name == name->second; });
    if (found == part->situations.end()) {
      return runtime::InvalidArgument("\"" + part->name + "\" has no situation \"" + name->second +
                                      "\"");
    }
    start.insert(start.end(), found->start.begin(), found->start.end());
    if (!found->where.is_null()) where.push_back(found->where);
  }
  start.insert(start.end(), situation.start.begin(), situation.start.end());
  situation.start = std::move(start);
  if (!situation.where.is_null()) where.push_back(std::move(situation.where));
  situation.where = where.empty() ? Json() : Json{{"all", std::move(where)}};
  return absl::OkStatus();
}

}  // namespace shoal::redfish
