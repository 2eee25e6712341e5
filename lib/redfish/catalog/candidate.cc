// SPDX-License-Identifier: Apache-2.0
#include "redfish/catalog/candidate.h"

#include <absl/strings/match.h>
#include <absl/strings/str_format.h>
#include <absl/strings/str_join.h>
#include <absl/strings/str_split.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "platform/content/canonical_json.h"
#include "redfish/capture/uri.h"

namespace shoal::redfish {
namespace {

using Json = nlohmann::json;

constexpr std::array<const char*, 8> kOrdinals = {"first", "second", "third",   "fourth",
                                                  "fifth", "sixth",  "seventh", "eighth"};
constexpr double kDefaultMaximum = 65535.0;
constexpr std::size_t kRandomTextLength = 8;

std::string RandomText(std::size_t length, std::string_view alphabet, runtime::Random& random) {
  std::string text;
  for (std::size_t i = 0; i < length; ++i) text += alphabet[random.Below(alphabet.size())];
  return text;
}

std::string RandomString(StringFormat format, runtime::Random& random) {
  constexpr std::string_view kHex = "0123456789abcdef";
  const auto number = [&](std::uint64_t low, std::uint64_t high) {
    return static_cast<int>(low + random.Below(high - low + 1));
  };
  switch (format) {
    case StringFormat::kDateTime: {
      const int year = number(2020, 2029);
      const int month = number(1, 12);
      const int day = number(1, 28);
      const int hour = number(0, 23);
      const int minute = number(0, 59);
      return absl::StrFormat("%04d-%02d-%02dT%02d:%02d:00Z", year, month, day, hour, minute);
    }
    case StringFormat::kDuration:
      return absl::StrFormat("PT%dS", number(1, 3600));
    case StringFormat::kGuid: {
      std::string text = RandomText(8, kHex, random);
      for (const std::size_t length : {4u, 4u, 4u, 12u}) {
        text += '-' + RandomText(length, kHex, random);
      }
      return text;
    }
    case StringFormat::kPlain:
      break;
  }
  return RandomText(kRandomTextLength, "abcdefghijklmnopqrstuvwxyz0123456789", random);
}

Json RandomValue(const Slot& slot, runtime::Random& random) {
  if (slot.kind == PropertyKind::kBoolean) return random.Below(2) == 1;
  if (slot.kind != PropertyKind::kInteger && slot.kind != PropertyKind::kNumber) {
    return RandomString(slot.format, random);
  }
  const double low = slot.minimum.value_or(std::min(0.0, slot.maximum.value_or(0.0)));
  const double high = slot.maximum.value_or(std::max(low, kDefaultMaximum));
  const double value = low + std::floor(random.Uniform() * (std::max(high, low) - low + 1.0));
  const double clamped = std::clamp(value, low, std::max(high, low));
  // A whole number is sent as an integer even where the property allows fractions.
  if (slot.kind == PropertyKind::kNumber && std::floor(clamped) != clamped) return clamped;
  return static_cast<std::int64_t>(std::clamp(clamped, -9.0e15, 9.0e15));
}

bool Fits(const Slot& slot, const Json& value) {
  switch (slot.kind) {
    case PropertyKind::kBoolean:
      return value.is_boolean();
    case PropertyKind::kInteger:
      return value.is_number_integer();
    case PropertyKind::kNumber:
      return value.is_number();
    default:
      return value.is_string();
  }
}

// Returns the pointer of the list whose only element the slot is; empty when it is no element.
std::string ListOf(const Slot& slot) {
  constexpr std::string_view kFirst = "/0";
  if (!slot.pointer.ends_with(kFirst)) return {};
  return slot.pointer.substr(0, slot.pointer.size() - kFirst.size());
}

bool FitsList(const Slot& slot, const Json& values) {
  return values.is_array() && !values.empty() && !ListOf(slot).empty() &&
         std::all_of(values.begin(), values.end(),
                     [&slot](const Json& value) { return Fits(slot, value); });
}

}  // namespace

std::string SlotText(const std::string& name) { return "<goal." + name + ">"; }

const char* Ordinal(std::size_t index) {
  return index < kOrdinals.size() ? kOrdinals[index] : "later";
}

std::string UriWithoutNames(std::string_view uri, std::span<const std::string> names) {
  if (names.empty()) return {};
  std::vector<std::string> segments = absl::StrSplit(std::string(uri), '/');
  bool has_name = false;
  for (std::string& segment : segments) {
    const auto name = std::find_if(names.begin(), names.end(), [&segment](const std::string& one) {
      return absl::EqualsIgnoreCase(one, segment);
    });
    const auto index = static_cast<std::size_t>(name - names.begin());
    if (name == names.end() || index >= kOrdinals.size()) continue;
    segment = std::string("<") + Ordinal(index) + " name>";
    has_name = true;
  }
  return has_name ? absl::StrJoin(segments, "/") : std::string();
}

void Candidate::Seal() {
  Json sentence = {{"method", method}, {"uri", UriOfText()}, {"type", type},
                   {"name", name},     {"action", action},   {"body", body}};
  if (composes()) sentence["parts"] = "several";
  text = content::CanonicalJson(sentence);
  key = content::KeyOf(text);
}

bool Accepts(const Slot& slot, const Json& value) {
  return Fits(slot, value) || FitsList(slot, value);
}

void MergePart(Json& body, const Json& part) {
  if (part.is_object() && body.is_object()) {
    for (const auto& [name, value] : part.items()) MergePart(body[name], value);
    return;
  }
  const bool adds_members =
      part.is_array() && body.is_array() && !part.empty() && part.front().is_object();
  if (!adds_members) {
    body = part;
    return;
  }
  for (const Json& member : part) {
    if (std::find(body.begin(), body.end(), member) == body.end()) body.push_back(member);
  }
}

namespace {

// Returns the slot whose place, or whose list's place, is `pointer`; null when there is none.
const Slot* SlotAt(const Candidate& candidate, const std::string& pointer) {
  if (pointer.empty()) return nullptr;
  for (const Slot& slot : candidate.slots) {
    if (slot.pointer == pointer || ListOf(slot) == pointer) return &slot;
  }
  return nullptr;
}

bool UnifyAt(const Candidate& candidate, const Json& own, const Json& wanted,
             const std::string& pointer, bool whole, SlotValues& values) {
  if (const Slot* const slot = SlotAt(candidate, pointer)) {
    const bool is_list = slot->pointer != pointer;
    if (is_list ? !FitsList(*slot, wanted) : !Fits(*slot, wanted)) return false;
    const auto [known, is_new] = values.emplace(slot->name, wanted);
    return is_new || known->second == wanted;
  }
  if (!own.is_object() || !wanted.is_object()) {
    if (whole || !own.is_array() || !wanted.is_array()) return own == wanted;
    return std::all_of(own.begin(), own.end(), [&wanted](const Json& member) {
      return std::find(wanted.begin(), wanted.end(), member) != wanted.end();
    });
  }
  if (whole && own.size() != wanted.size()) return false;
  for (const auto& [name, value] : own.items()) {
    const auto found = wanted.find(name);
    if (found == wanted.end()) return false;
    const std::string place = AppendPointer(pointer, name);
    if (!UnifyAt(candidate, value, *found, place, whole, values)) return false;
  }
  return true;
}

std::optional<SlotValues> UnifyWith(const Candidate& candidate, const Json& wanted, bool whole) {
  SlotValues values;
  const Json own = candidate.body.is_null() ? Json::object() : candidate.body;
  const Json other = wanted.is_null() ? Json::object() : wanted;
  if (!UnifyAt(candidate, own, other, "", whole, values)) return std::nullopt;
  return values;
}

}  // namespace

std::optional<SlotValues> Unify(const Candidate& candidate, const Json& wanted) {
  return UnifyWith(candidate, wanted, true);
}

std::optional<SlotValues> UnifyPart(const Candidate& candidate, const Json& wanted) {
  return UnifyWith(candidate, wanted, false);
}

Json BindSlots(const Candidate& candidate, const SlotValues& values, runtime::Random& random) {
  Json body = candidate.body;
  for (const Slot& slot : candidate.slots) {
    const auto bound = values.find(slot.name);
    if (bound != values.end() && FitsList(slot, bound->second)) {
      Assign(body, ListOf(slot), bound->second);
      continue;
    }
    const bool fits = bound != values.end() && Fits(slot, bound->second);
    Assign(body, slot.pointer, fits ? bound->second : RandomValue(slot, random));
  }
  return body;
}

}  // namespace shoal::redfish
