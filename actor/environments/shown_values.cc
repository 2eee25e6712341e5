// SPDX-License-Identifier: Apache-2.0
#include "actor/environments/shown_values.h"

#include <absl/strings/ascii.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "platform/content/parse_json.h"
#include "redfish/capture/redaction.h"
#include "redfish/capture/uri.h"
#include "redfish/schema/schema_format.h"

namespace shoal::actor {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kDeepestValue = 4;
// Of a list, so many entries are looked at.
constexpr std::size_t kMostEntries = 8;
constexpr std::array<std::string_view, 2> kCredentials = {"#ManagerAccount.", "#Session."};

bool IsOfCredentials(std::string_view type) {
  return std::any_of(kCredentials.begin(), kCredentials.end(),
                     [type](std::string_view begin) { return type.starts_with(begin); });
}

bool IsSkipped(const std::string& name) {
  return name.find('@') != std::string::npos || name == "Actions" || name == "Links" ||
         redfish::IsSecretName(name, {});
}

bool IsValue(const Json& value) {
  if (!value.is_string()) return value.is_number();
  const std::string& text = value.get_ref<const std::string&>();
  return !text.empty() && text.size() <= ShownValuesCache::kLongestValue && !text.starts_with('/');
}

// Collects the values of a body, one level after another.
class Collector {
 public:
  Collector(std::string type, const redfish::Schema& schema)
      : type_(std::move(type)), schema_(schema) {}

  std::vector<ShownValue> Collect(const Json& body) {
    std::vector<Place> level = {{&body, "", "", ""}};
    for (std::size_t depth = 0; depth < kDeepestValue && !level.empty(); ++depth) {
      std::vector<Place> below;
      for (const Place& place : level) Visit(place, below);
      level = std::move(below);
    }
    return std::move(values_);
  }

 private:
  struct Place {
    const Json* value;
    std::string pointer;
    // The last name on the way, and all of them in words.
    std::string name;
    std::string in_words;
  };

  void Visit(const Place& place, std::vector<Place>& below) {
    if (place.value->is_array()) {
      const std::size_t count = std::min(place.value->size(), kMostEntries);
      for (std::size_t i = 0; i < count; ++i) {
        Take({&place.value->at(i), redfish::AppendPointer(place.pointer, std::to_string(i)),
              place.name, place.in_words},
             below);
      }
      return;
    }
    if (IsOfCredentials(redfish::TextAt(*place.value, "@odata.type"))) return;
    for (const auto& [name, value] : place.value->items()) {
      if (IsSkipped(name)) continue;
      const std::string words = InWords(name);
      Take({&value, redfish::AppendPointer(place.pointer, name), name,
            place.in_words.empty() ? words : place.in_words + " " + words},
           below);
    }
  }

  void Take(Place place, std::vector<Place>& below) {
    if (place.value->is_structured()) {
      below.push_back(std::move(place));
      return;
    }
    if (values_.size() >= ShownValuesCache::kMaximumValues || !IsValue(*place.value)) return;
    const redfish::Property* const property = schema_.Find(type_, place.pointer);
    if (property != nullptr && property->kind == redfish::PropertyKind::kEnumeration) return;
    ShownValue shown;
    shown.value = *place.value;
    shown.name = absl::AsciiStrToLower(place.name);
    shown.name_in_words = InWords(place.name);
    shown.place_in_words = std::move(place.in_words);
    if (property != nullptr) shown.format = property->format;
    values_.push_back(std::move(shown));
  }

  const std::string type_;
  const redfish::Schema& schema_;
  std::vector<ShownValue> values_;
};

std::size_t ShownBytes(const ShownValuesCache::Pointer& shown) {
  constexpr std::size_t kPlace = 150;
  std::size_t bytes = kPlace + sizeof(*shown);
  for (const ShownValue& value : shown->values) {
    bytes += sizeof(value) + value.name.size() + value.name_in_words.size() +
             value.place_in_words.size() + ShownValuesCache::kLongestValue;
  }
  return bytes;
}

}  // namespace

std::string InWords(std::string_view name) {
  std::string words;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool begins = i > 0 && absl::ascii_isupper(static_cast<unsigned char>(name[i])) &&
                        absl::ascii_islower(static_cast<unsigned char>(name[i - 1]));
    if (begins) words += ' ';
    words += absl::ascii_tolower(static_cast<unsigned char>(name[i]));
  }
  return words;
}

bool Fits(const redfish::Slot& slot, const ShownValue& value) {
  if (!redfish::Accepts(slot, value.value)) return false;
  if (value.value.is_string()) {
    return slot.format == redfish::StringFormat::kPlain || slot.format == value.format;
  }
  const double number = value.value.get<double>();
  return number >= slot.minimum.value_or(number) && number <= slot.maximum.value_or(number);
}

ShownValues ValuesShownBy(const Json& body, const redfish::Schema& schema) {
  const std::string type = redfish::TextAt(body, "@odata.type");
  ShownValues shown;
  shown.type_in_words = InWords(redfish::format::ParseTypeName(type).space);
  if (body.is_object()) shown.values = Collector(type, schema).Collect(body);
  return shown;
}

ShownValuesCache::Pointer ShownValuesCache::Of(const ServiceCatalog& service,
                                               const std::string& text,
                                               const content::ContentKey& key) {
  const auto make = [&]() -> Pointer {
    return std::make_shared<const ShownValues>(
        ValuesShownBy(content::ParseJson(text), *service.schema));
  };
  return of_.FindOrMake({service.catalog.get(), key.bytes}, make, ShownBytes);
}

}  // namespace shoal::actor
