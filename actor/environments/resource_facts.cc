// SPDX-License-Identifier: Apache-2.0
#include "actor/environments/resource_facts.h"

#include <absl/strings/ascii.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "redfish/capture/uri.h"
#include "redfish/goals/sentence_values.h"

namespace shoal::actor {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMaximumNames = 64;
constexpr std::size_t kShortestName = 2;
constexpr std::size_t kLongestName = 64;
constexpr std::size_t kDeepest = 4;

// Combines what two properties of a request say.
Held Both(Held a, Held b) {
  if (a == Held::kOther || b == Held::kOther) return Held::kOther;
  return a == Held::kUnknown ? b : a;
}

Held CompareValues(const Json& wanted, const Json& held) {
  if (held.is_null()) return Held::kUnknown;
  return wanted == held ? Held::kAll : Held::kOther;
}

bool IsSlot(const redfish::Candidate& candidate, const std::string& pointer) {
  return std::any_of(
      candidate.slots.begin(), candidate.slots.end(),
      [&](const redfish::Slot& slot) { return redfish::IsAtOrBelow(slot.pointer, pointer); });
}

// Compares the values of `wanted` that are no slots with those at the same places of `body`.
Held CompareFixed(const redfish::Candidate& candidate, const Json& wanted,
                  const std::string& pointer, const Json& body) {
  if (wanted.is_object()) {
    Held all = Held::kUnknown;
    for (const auto& [name, value] : wanted.items()) {
      all = Both(all, CompareFixed(candidate, value, redfish::AppendPointer(pointer, name), body));
    }
    return all;
  }
  if (IsSlot(candidate, pointer)) return Held::kUnknown;
  const Json* const held = redfish::Resolve(body, pointer);
  return held == nullptr ? Held::kUnknown : CompareValues(wanted, *held);
}

// Returns a scalar, or the first member of a list, as a text in lower case.
std::string TextOf(const Json& held) {
  const Json& one = held.is_array() && !held.empty() ? held.front() : held;
  return absl::AsciiStrToLower(one.is_string() ? one.get<std::string>() : one.dump());
}

}  // namespace

Held CompareFixed(const redfish::Candidate& candidate, const Json& body) {
  return candidate.body.is_object() ? CompareFixed(candidate, candidate.body, "", body)
                                    : Held::kUnknown;
}

ResourceFacts::ResourceFacts(Candidates candidates, const Json& body,
                             const redfish::Schema& schema) {
  constexpr std::string_view kFirst = "/0";
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const redfish::Candidate& candidate = *candidates[i];
    fixed_.push_back(candidate.method == "PATCH" ? CompareFixed(candidate, body) : Held::kUnknown);
    if (candidate.method != "PATCH") continue;
    for (const redfish::Slot& slot : candidate.slots) {
      std::string_view pointer = slot.pointer;
      if (pointer.ends_with(kFirst)) pointer.remove_suffix(kFirst.size());
      const Json* const held = redfish::Resolve(body, std::string(pointer));
      if (held != nullptr && !held->is_null()) slots_.push_back({i, TextOf(*held)});
    }
  }
  AddNames(body, redfish::TextAt(body, "@odata.type"), "", schema);
}

void ResourceFacts::AddNames(const Json& object, const std::string& type,
                             const std::string& pointer, const redfish::Schema& schema) {
  const auto depth = static_cast<std::size_t>(std::count(pointer.begin(), pointer.end(), '/'));
  if (depth > kDeepest) return;
  for (const auto& [key, value] : object.items()) {
    const bool is_annotation = object.is_object() && key.find('@') != std::string::npos;
    if (is_annotation || key == "Links" || key == "Actions") continue;
    const std::string place = redfish::AppendPointer(pointer, key);
    if (value.is_structured()) {
      AddNames(value, type, place, schema);
      continue;
    }
    if (!value.is_string() || names_.size() >= kMaximumNames) continue;
    std::string name = absl::AsciiStrToLower(value.get<std::string>());
    if (name.size() < kShortestName || name.size() > kLongestName) continue;
    const redfish::Property* const property = schema.Find(type, place);
    if (property != nullptr && property->kind == redfish::PropertyKind::kEnumeration) continue;
    names_.push_back(std::move(name));
  }
}

Held ResourceFacts::Compare(std::size_t index, std::string_view text) const {
  if (index >= fixed_.size()) return Held::kUnknown;
  Held all = fixed_[index];
  auto slot = std::lower_bound(slots_.begin(), slots_.end(), index,
                               [](const SlotFact& fact, std::size_t i) { return fact.index < i; });
  for (; slot != slots_.end() && slot->index == index; ++slot) {
    const bool is_wanted = !slot->held.empty() && redfish::ContainsWords(text, slot->held);
    all = Both(all, is_wanted ? Held::kAll : Held::kOther);
  }
  return all;
}

bool ResourceFacts::IsNamedIn(std::string_view text) const {
  return std::any_of(names_.begin(), names_.end(), [text](const std::string& name) {
    return redfish::ContainsWords(text, name);
  });
}

std::size_t ResourceFacts::FindName(std::span<const std::string> words) const {
  const auto is_name = [this](const std::string& word) {
    return std::find(names_.begin(), names_.end(), word) != names_.end();
  };
  return static_cast<std::size_t>(std::find_if(words.begin(), words.end(), is_name) -
                                  words.begin());
}

std::size_t ResourceFacts::bytes() const {
  // The place in the map.
  constexpr std::size_t kPlace = 100;
  std::size_t bytes = sizeof(*this) + fixed_.capacity() + kPlace;
  for (const SlotFact& slot : slots_) bytes += sizeof(slot) + slot.held.size();
  for (const std::string& name : names_) bytes += sizeof(name) + name.size();
  return bytes;
}

ResourceFactsCache::Pointer ResourceFactsCache::Of(const ServiceCatalog& service,
                                                   const ServiceResponse& response,
                                                   const BodyText& text,
                                                   ResourceFacts::Candidates candidates) {
  const auto make = [&]() -> Pointer {
    return std::make_shared<const ResourceFacts>(candidates, *JsonOf(response), *service.schema);
  };
  return of_.FindOrMake({service.catalog.get(), candidates.size(), text.content.key.bytes}, make,
                        [](const Pointer& facts) { return facts->bytes(); });
}

}  // namespace shoal::actor
