// SPDX-License-Identifier: Apache-2.0
#include "mockserver/resources/patch.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "mockserver/messages/extended_info.h"
#include "mockserver/messages/secrets.h"
#include "mockserver/resources/apply_time.h"
#include "mockserver/resources/new_object.h"
#include "mockserver/resources/settings.h"
#include "mockserver/service/handler.h"
#include "redfish/capture/uri.h"
#include "redfish/schema/schema.h"

namespace shoal::mockserver {
namespace {

using redfish::Property;
using redfish::PropertyKind;

// Judges a body and collects the changes to write and the problems to report.
class Judge {
 public:
  struct Change {
    std::string pointer;
    Json value;
  };
  Judge(const Editor& editor, ResourceId id, const PatchRules& rules)
      : editor_(editor),
        id_(id),
        active_(editor.world().ActiveOf(id)),
        rules_(rules),
        type_(TypeFor(editor, id)) {}

  void Visit(const Json& members, const std::string& parent) {
    for (const auto& [name, value] : members.items()) {
      if (name.find('@') != std::string::npos) continue;
      VisitMember(name, value, parent);
    }
  }

  std::vector<Change> changes;
  std::vector<Problem> problems;

 private:
  void VisitMember(const std::string& name, const Json& value, const std::string& parent) {
    const std::string pointer = redfish::AppendPointer(parent, name);
    if (pointer == "/Attributes" && HasBiosAttributes(editor_, id_)) {
      return VisitAttributes(value, pointer);
    }
    const Property* const property = editor_.world().schema().Find(type_, pointer);
    const Json* const present = Present(pointer);
    if (present == nullptr) return Complain("PropertyUnknown", {name}, pointer);
    if (IsOem(pointer)) return VisitOem(name, value, *present, pointer);
    if (property == nullptr) return Complain("PropertyNotWritable", {name}, pointer);
    switch (property->kind) {
      case PropertyKind::kComplex:
        if (!value.is_object()) return Misplaced(name, value, pointer);
        if (!present->is_object()) return Complain("PropertyNotWritable", {name}, pointer);
        return Visit(value, pointer);
      case PropertyKind::kArray:
        return VisitArray(*property, value, *present, pointer);
      default:
        if (!Fits(*property, value, pointer, parent)) return;
        Accept(pointer, value);
    }
  }

  // Returns whether the standard is silent about `pointer`, and clients may write there.
  bool IsOem(const std::string& pointer) const {
    if (!editor_.world().options().writes_oem) return false;
    const std::vector<std::string> tokens = redfish::PointerTokens(pointer);
    const bool is_in_oem = std::find(tokens.begin(), tokens.end(), "Oem") != tokens.end();
    return is_in_oem || !editor_.world().schema().Knows(type_);
  }

  void VisitOem(const std::string& name, const Json& value, const Json& present,
                const std::string& pointer) {
    constexpr std::array kFixed = {"Id", "Name", "Description", "Links", "Actions", "Members"};
    const bool is_link = present.is_object() && present.contains("@odata.id");
    if (is_link || std::find(kFixed.begin(), kFixed.end(), name) != kFixed.end()) {
      return Complain("PropertyNotWritable", {name}, pointer);
    }
    if (present.is_object() && value.is_object() && !present.empty()) return Visit(value, pointer);
    if (!IsAlike(present, value)) return Misplaced(name, value, pointer);
    Accept(pointer, value);
  }

  static bool IsAlike(const Json& present, const Json& value) {
    if (present.is_null() || (present.is_object() && present.empty())) {
      return present.is_null() ? !value.is_structured() : value.is_object();
    }
    if (present.is_number()) return value.is_number();
    if (present.type() != value.type()) return false;
    return !present.is_array() || present.empty() ||
           std::all_of(value.begin(), value.end(),
                       [&](const Json& element) { return IsAlike(present.front(), element); });
  }

  // A settings object need not list what it takes; its active resource does.
  const Json* Present(const std::string& pointer) const {
    const Json* const own = editor_.Read(id_, pointer);
    return own != nullptr || !active_ ? own : editor_.Read(*active_, pointer);
  }

  void Accept(const std::string& pointer, Json value) {
    if (auto objection = rules_.objection ? rules_.objection(pointer, value) : std::nullopt) {
      problems.push_back({pointer, *std::move(objection)});
    } else {
      changes.push_back({pointer, std::move(value)});
    }
  }

  void VisitAttributes(const Json& attributes, const std::string& pointer) {
    if (!attributes.is_object()) return Misplaced("Attributes", attributes, pointer);
    std::set<std::string> wrong;
    for (const AttributeProblem& problem : JudgeAttributes(editor_, id_, attributes)) {
      const std::string at = redfish::AppendPointer(pointer, problem.name);
      if (problem.message == "PropertyUnknown" || problem.message == "PropertyNotWritable") {
        Complain(problem.message, {problem.name}, at);
      } else {
        Complain(problem.message,
                 {Excerpt(attributes.at(problem.name), problem.name), problem.name}, at);
      }
      wrong.insert(problem.name);
    }
    for (const auto& [name, value] : attributes.items()) {
      if (!wrong.contains(name)) changes.push_back({redfish::AppendPointer(pointer, name), value});
    }
  }

  // Returns whether `value` may stand at `pointer`, and reports a problem when it may not.
  bool Fits(const Property& property, const Json& value, const std::string& pointer,
            const std::string& parent) {
    if (!property.writable) {
      Complain("PropertyNotWritable", {property.name}, pointer);
      return false;
    }
    const std::string_view misfit = redfish::Misfit(property, value);
    if (!misfit.empty()) {
      Complain(misfit, {Excerpt(value, property.name), property.name}, pointer);
      return false;
    }
    const Json* const allowed =
        Present(redfish::AppendPointer(parent, property.name + "@Redfish.AllowableValues"));
    const bool is_listed = allowed == nullptr || !allowed->is_array() || allowed->empty() ||
                           value.is_null() ||
                           std::any_of(allowed->begin(), allowed->end(), [&](const Json& one) {
                             // The standard lists allowable values of all types as texts.
                             return one == value || one == Json(Serialise(value));
                           });
    if (!is_listed)
      Complain("PropertyValueNotInList", {Excerpt(value, property.name), property.name}, pointer);
    return is_listed;
  }

  void VisitArray(const Property& property, const Json& value, const Json& present,
                  const std::string& pointer) {
    if (!value.is_array()) {
      if (!property.writable) return Complain("PropertyNotWritable", {property.name}, pointer);
      return Misplaced(property.name, value, pointer);
    }
    const Json elements = present.is_array() ? present : Json::array();
    const bool is_complex =
        property.element != nullptr && property.element->kind == PropertyKind::kComplex;
    const bool keeps_shape = value.size() == elements.size() &&
                             std::all_of(value.begin(), value.end(),
                                         [](const Json& element) { return element.is_object(); });
    if (is_complex && keeps_shape) {
      for (std::size_t i = 0; i < value.size(); ++i) {
        Visit(value[i], redfish::AppendPointer(pointer, std::to_string(i)));
      }
      return;
    }
    if (!property.writable && !(is_complex && HasWritable(*property.element))) {
      return Complain("PropertyNotWritable", {property.name}, pointer);
    }
    Json result = Json::array();
    for (std::size_t i = 0; i < value.size(); ++i) {
      const Json& element = value[i];
      if (element.is_null()) continue;
      const bool is_present = i < elements.size();
      if (element.is_object() && element.empty()) {
        if (is_present) result.push_back(elements[i]);
      } else if (is_complex && element.is_object()) {
        Json merged = is_present && elements[i].is_object() ? elements[i] : Json::object();
        std::vector<Problem> wrong =
            JudgeNewObject(editor_.world().schema(), type_,
                           redfish::AppendPointer(pointer, std::to_string(i)), element);
        if (!wrong.empty()) {
          std::move(wrong.begin(), wrong.end(), std::back_inserter(problems));
          return;
        }
        merged.update(element);
        result.push_back(std::move(merged));
      } else if (!FitsElement(property, element, pointer)) {
        return;
      } else {
        result.push_back(element);
      }
    }
    Accept(pointer, std::move(result));
  }

  // The standard decides for each member of an array's elements whether clients may write it.
  bool HasWritable(const Property& complex) const {
    const std::vector<const Property*> members = editor_.world().schema().Members(type_, complex);
    return std::any_of(members.begin(), members.end(), [&](const Property* member) {
      return member->writable || (member->kind == PropertyKind::kComplex && HasWritable(*member));
    });
  }

  bool FitsElement(const Property& property, const Json& element, const std::string& pointer) {
    if (property.element == nullptr) return true;
    const std::string_view misfit = redfish::Misfit(*property.element, element);
    if (misfit.empty()) return true;
    Complain(misfit, {Excerpt(element, property.name), property.name}, pointer);
    return false;
  }

  void Misplaced(const std::string& name, const Json& value, const std::string& pointer) {
    Complain("PropertyValueTypeError", {Excerpt(value, name), name}, pointer);
  }

  void Complain(std::string_view id, std::initializer_list<std::string> args,
                const std::string& pointer) {
    problems.push_back({pointer, ExtendedInfo(id, args, pointer)});
  }

  // A settings object whose own type takes no PATCH ("Settings") is judged as its active resource.
  static const std::string& TypeFor(const Editor& editor, ResourceId id) {
    const std::string& own = editor.resource(id).odata_type;
    const auto active = editor.world().ActiveOf(id);
    if (!active || editor.world().schema().Methods(own).update) return own;
    return editor.resource(*active).odata_type;
  }

  const Editor& editor_;
  const ResourceId id_;
  const std::optional<ResourceId> active_;
  const PatchRules& rules_;
  const std::string& type_;
};

// Creates the objects along `pointer` that a settings object does not list yet.
void MakeRoom(Editor& editor, ResourceId settings, const std::string& pointer) {
  std::vector<std::string> tokens = redfish::PointerTokens(pointer);
  tokens.pop_back();
  std::string above;
  for (const std::string& token : tokens) {
    above = redfish::AppendPointer(above, token);
    if (editor.Read(settings, above) == nullptr) editor.Set(settings, above, Json::object());
  }
}

void Apply(Editor& editor, ResourceId id, std::vector<Judge::Change> changes,
           const PatchRules& rules, const ApplyTimeChoice& when) {
  std::vector<std::string> pointers;
  const bool is_settings = editor.world().ActiveOf(id).has_value();
  for (Judge::Change& change : changes) {
    if (rules.take && rules.take(change.pointer, change.value)) continue;
    HideSecrets(editor.world().schema(), editor.resource(id).odata_type, change.pointer,
                change.value);
    if (change.value.is_array()) {
      editor.SetPresent(id, change.pointer + "@odata.count", change.value.size());
    }
    if (is_settings) MakeRoom(editor, id, change.pointer);
    editor.Set(id, change.pointer, std::move(change.value));
    pointers.push_back(std::move(change.pointer));
  }
  if (is_settings) AwaitApplyTime(editor, id, pointers, when);
}

Response PartlyDone(Editor& editor, ResourceId id, std::vector<Problem> problems) {
  Json body = editor.Read(id);
  Json all = Json::array();
  for (Problem& problem : problems) {
    all.push_back(problem.info);
    redfish::Assign(body, problem.pointer + "@Message.ExtendedInfo",
                    Json::array({std::move(problem.info)}));
  }
  body["@Message.ExtendedInfo"] = std::move(all);
  Response response = JsonResponse(200, std::move(body));
  response.etag = editor.ETag(id);
  return response;
}

}  // namespace

Response Patch(Editor& editor, ResourceId id, const Json& body, const PatchRules& rules) {
  const ApplyTimeChoice when = SettingsApplyTime(editor, id, body);
  if (when.refusal.has_value()) return *when.refusal;
  Judge judge(editor, id, rules);
  judge.Visit(body, "");
  if (judge.changes.empty() && judge.problems.empty()) return ErrorResponse(400, "NoOperation");
  if (judge.changes.empty()) {
    std::vector<Json> messages;
    for (Problem& problem : judge.problems) messages.push_back(std::move(problem.info));
    return ErrorResponse(400, std::move(messages));
  }
  Apply(editor, id, std::move(judge.changes), rules, when);
  if (rules.follow) rules.follow();
  if (!judge.problems.empty()) return PartlyDone(editor, id, std::move(judge.problems));
  if (editor.world().options().style == WorldOptions::Style::kRepresentation) {
    return editor.Representation(id);
  }
  Response response = Done(editor);
  response.etag = editor.ETag(id);
  return response;
}

}  // namespace shoal::mockserver
