// SPDX-License-Identifier: Apache-2.0
#include "encoder/schema_descriptions.h"

#include <algorithm>
#include <utility>

#include "redfish/capture/archive.h"

namespace shoal::encoder {
namespace {

using nlohmann::json;

constexpr std::string_view kSuffix = ".json";
constexpr std::string_view kDefinitions = "#/definitions/";
constexpr int kMaxReferences = 8;
// Nested objects of a body are bounded by the catalog; this bounds a body that is not.
constexpr std::size_t kMaxDepth = 16;

std::string TextAt(const json& object, std::string_view key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

const json* MemberAt(const json& object, std::string_view key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

// "#ComputerSystem.v1_18_0.ComputerSystem": "ComputerSystem".
std::string_view Namespace(std::string_view type) {
  if (type.starts_with('#')) type.remove_prefix(1);
  return type.substr(0, type.find('.'));
}

std::string Plain(std::string text) {
  std::erase(text, '`');
  return text;
}

std::string Joined(const std::string& first, const std::string& second) {
  if (first.empty() || second.empty()) return first + second;
  return first + " " + second;
}

}  // namespace

absl::StatusOr<std::unique_ptr<const SchemaDescriptions>> SchemaDescriptions::Load(
    const std::string& path) {
  SHOAL_ASSIGN_OR_RETURN(const redfish::Archive archive, redfish::ReadArchive(path, kSuffix));
  auto descriptions = std::unique_ptr<SchemaDescriptions>(new SchemaDescriptions());
  for (const redfish::ArchiveFile& file : archive.files) {
    json document = json::parse(file.bytes, nullptr, false);
    if (!document.is_object()) {
      return absl::DataLossError(path + ": " + file.path + " is no JSON object");
    }
    const std::string_view name = redfish::FileName(file.path);
    descriptions->documents_.emplace(name.substr(0, name.size() - kSuffix.size()),
                                     std::move(document));
  }
  return std::unique_ptr<const SchemaDescriptions>(std::move(descriptions));
}

const json* SchemaDescriptions::DocumentOf(std::string_view type) const {
  const std::string name = std::string(Namespace(type)) + ".v";
  // The newest of the versions that are there, which has all properties of the older ones.
  const json* newest = nullptr;
  for (auto it = documents_.lower_bound(name); it != documents_.end(); ++it) {
    if (!it->first.starts_with(name)) break;
    newest = &it->second;
  }
  return newest;
}

SchemaDescriptions::Place SchemaDescriptions::Followed(Place place) const {
  for (int hop = 0; hop < kMaxReferences && place.schema != nullptr; ++hop) {
    std::string reference = TextAt(*place.schema, "$ref");
    if (const json* any = MemberAt(*place.schema, "anyOf"); any != nullptr && any->is_array()) {
      for (const json& choice : *any) {
        if (reference.empty() && choice.is_object()) reference = TextAt(choice, "$ref");
      }
    }
    const std::size_t mark = reference.find(kDefinitions);
    if (mark == reference.npos) return place;
    if (mark > 0) {
      const std::string_view file = redfish::FileName(std::string_view(reference).substr(0, mark));
      if (!file.ends_with(kSuffix)) return {};
      const auto found = documents_.find(file.substr(0, file.size() - kSuffix.size()));
      if (found == documents_.end()) return {};
      place.document = &found->second;
    }
    const json* definitions = MemberAt(*place.document, "definitions");
    if (definitions == nullptr) return {};
    place.schema =
        MemberAt(*definitions, std::string_view(reference).substr(mark + kDefinitions.size()));
  }
  return place;
}

void SchemaDescriptions::AddLeaves(Place place, const json& value,
                                   std::set<std::string>& texts) const {
  struct Step {
    Place place;
    const json* value;
    std::string said;
    std::size_t depth;
  };
  std::vector<Step> steps = {{place, &value, "", 0}};
  while (!steps.empty()) {
    const Step step = std::move(steps.back());
    steps.pop_back();
    if (step.place.schema == nullptr || step.depth > kMaxDepth) continue;
    const Place target = Followed(step.place);
    if (target.schema == nullptr) continue;
    if (step.value->is_array()) {
      const json* items = MemberAt(*target.schema, "items");
      for (const json& element : *step.value) {
        steps.push_back({{items, target.document}, &element, step.said, step.depth + 1});
      }
      continue;
    }
    if (step.value->is_object()) {
      // An action has parameters, and properties that no request has.
      const json* properties = MemberAt(*target.schema, "parameters");
      if (properties == nullptr) properties = MemberAt(*target.schema, "properties");
      if (properties == nullptr) continue;
      for (const auto& member : step.value->items()) {
        const json* property = MemberAt(*properties, member.key());
        if (property == nullptr) continue;
        steps.push_back({{property, target.document},
                         &member.value(),
                         TextAt(*property, "description"),
                         step.depth + 1});
      }
      continue;
    }
    std::string meaning;
    if (const json* meanings = MemberAt(*target.schema, "enumDescriptions");
        meanings != nullptr && step.value->is_string()) {
      meaning = TextAt(*meanings, step.value->get<std::string>());
    } else if (step.value->is_boolean()) {
      meaning = step.value->get<bool>() ? "Enabled, true." : "Disabled, false.";
    }
    std::string text = Plain(Joined(step.said, meaning));
    if (!text.empty()) texts.insert(std::move(text));
    if (!meaning.empty() && !step.value->is_boolean()) texts.insert(Plain(std::move(meaning)));
  }
}

std::set<std::string> SchemaDescriptions::Of(const redfish::Candidate& candidate) const {
  std::set<std::string> texts;
  if (!candidate.IsMutation() || candidate.composes()) return texts;
  const json* document = DocumentOf(candidate.action.empty() ? candidate.type : candidate.action);
  const json* definitions = document == nullptr ? nullptr : MemberAt(*document, "definitions");
  if (definitions == nullptr) return texts;
  const json none = json::object();
  const json& body = candidate.body.is_null() ? none : candidate.body;
  if (candidate.action.empty()) {
    const Place type = {MemberAt(*definitions, Namespace(candidate.type)), document};
    if (candidate.method == "PATCH") AddLeaves(type, body, texts);
    return texts;
  }
  const std::size_t dot = candidate.action.rfind('.');
  const json* action = MemberAt(*definitions, std::string_view(candidate.action).substr(dot + 1));
  if (action == nullptr) return texts;
  const std::string said = Plain(TextAt(*action, "description"));
  if (body.empty() && !said.empty()) texts.insert(said);
  std::set<std::string> leaves;
  AddLeaves({action, document}, body, leaves);
  for (const std::string& leaf : leaves) texts.insert(Joined(said, leaf));
  return texts;
}

}  // namespace shoal::encoder
