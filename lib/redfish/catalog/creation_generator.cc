// SPDX-License-Identifier: Apache-2.0
// The part of CandidateGenerator that makes members of collections, and fills members that are
// slots.
#include <utility>

#include "redfish/capture/uri.h"
#include "redfish/catalog/candidate_generator.h"

namespace shoal::redfish {
namespace {

using Json = nlohmann::json;

// The switch of a resource, which its creator wants on.
constexpr const char* kEnabled = "Enabled";

}  // namespace

std::vector<CandidateGenerator::Parameter> CandidateGenerator::CreationParameters(
    const std::string& type, bool writable) const {
  std::vector<Parameter> parameters;
  for (const Property* property : schema_.Properties(type)) {
    if (!property->required_on_create) continue;
    if (writable && !property->writable) return {};
    Parameter& parameter = parameters.emplace_back();
    parameter.name = property->name;
    parameter.required = true;
    parameter.kind = property->kind;
    parameter.format = property->format;
    parameter.values = ValuesOf(*property, Json());
  }
  return parameters;
}

void CandidateGenerator::AddCreations(const std::string& uri, const Json& collection) {
  std::vector<Parameter> parameters = CreationParameters(outline_.MemberType(uri), false);
  if (parameters.empty()) return LeaveOut("new members of which the standard requires nothing");
  Candidate base = Start("POST", uri, collection);
  base.body = Json::object();
  KeepChoices(base, std::move(parameters), "new members");
}

// A resource that POST made, or a slot that stands for one, gets all the required properties at
// once.
void CandidateGenerator::AddFillings(const Place& place) {
  std::vector<Parameter> parameters = CreationParameters(place.type, true);
  if (parameters.empty()) return;
  Candidate base = Start("PATCH", place.uri, place.resource);
  base.body = Json::object();
  const Property* const enabled = schema_.Find(place.type, AppendPointer("", kEnabled));
  const bool has_switch = enabled != nullptr && enabled->writable &&
                          enabled->kind == PropertyKind::kBoolean &&
                          place.resource.contains(kEnabled);
  if (has_switch) base.body[kEnabled] = true;
  KeepChoices(base, std::move(parameters), "members made anew");
}

}  // namespace shoal::redfish
