// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <regex>

#include "platform/runtime/mutex.h"
#include "redfish/schema/schema.h"

namespace shoal::redfish {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kTypeError = "PropertyValueTypeError";
constexpr std::string_view kNotInList = "PropertyValueNotInList";
constexpr std::string_view kOutOfRange = "PropertyValueOutOfRange";
constexpr std::string_view kFormatError = "PropertyValueFormatError";

// Longer texts are not matched: std::regex recurses once for each character.
constexpr std::size_t kMaximumMatched = 1024;

std::string_view NumberMisfit(const Property& property, const Json& value) {
  const double number = value.get<double>();
  const bool low = property.minimum && number < *property.minimum;
  const bool high = property.maximum && number > *property.maximum;
  return low || high ? kOutOfRange : std::string_view();
}

// Returns a pattern that matches everything when the library cannot read `pattern`.
std::regex Compile(const std::string& pattern) {
  try {
    return std::regex(pattern, std::regex::ECMAScript);
  } catch (const std::regex_error&) {
    return std::regex("");
  }
}

// Caches compiled patterns: compiling costs a hundred times what matching does. The patterns are
// the schema's, so they are few.
const std::regex& Compiled(const std::string& pattern) {
  static runtime::Mutex mutex;
  static std::map<std::string, std::regex> compiled;
  const runtime::MutexLock lock(mutex);
  const auto found = compiled.find(pattern);
  return found != compiled.end() ? found->second
                                 : compiled.emplace(pattern, Compile(pattern)).first->second;
}

bool Matches(const std::string& text, const std::string& pattern) {
  if (pattern.empty()) return true;
  return text.size() <= kMaximumMatched && std::regex_search(text, Compiled(pattern));
}

bool HasFormat(const std::string& text, StringFormat format) {
  static const std::regex kDateTime(
      R"(^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$)");
  static const std::regex kDuration(R"(^-?P(\d+D)?(T(\d+H)?(\d+M)?(\d+(\.\d+)?S)?)?$)");
  static const std::regex kGuid(R"(^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$)");
  if (format == StringFormat::kPlain) return true;
  if (text.size() > kMaximumMatched) return false;
  const std::regex& wanted = format == StringFormat::kDateTime   ? kDateTime
                             : format == StringFormat::kDuration ? kDuration
                                                                 : kGuid;
  return std::regex_match(text, wanted);
}

std::string_view StringMisfit(const Property& property, const Json& value) {
  if (!value.is_string()) return kTypeError;
  const std::string& text = value.get_ref<const std::string&>();
  if (property.kind == PropertyKind::kEnumeration) {
    const auto& values = property.values;
    return std::find(values.begin(), values.end(), text) == values.end() ? kNotInList
                                                                         : std::string_view();
  }
  const bool fits = HasFormat(text, property.format) && Matches(text, property.pattern);
  return fits ? std::string_view() : kFormatError;
}

}  // namespace

std::string_view Name(PropertyKind kind) {
  switch (kind) {
    case PropertyKind::kBoolean:
      return "boolean";
    case PropertyKind::kString:
      return "string";
    case PropertyKind::kInteger:
      return "integer";
    case PropertyKind::kNumber:
      return "number";
    case PropertyKind::kEnumeration:
      return "enumeration";
    case PropertyKind::kComplex:
      return "complex";
    case PropertyKind::kArray:
      return "array";
    case PropertyKind::kLink:
      return "link";
    case PropertyKind::kAny:
      return "any";
  }
  return "any";
}

std::string_view Misfit(const Property& property, const Json& value) {
  if (value.is_null()) return property.nullable ? std::string_view() : kTypeError;
  switch (property.kind) {
    case PropertyKind::kBoolean:
      return value.is_boolean() ? std::string_view() : kTypeError;
    case PropertyKind::kInteger:
      return value.is_number_integer() ? NumberMisfit(property, value) : kTypeError;
    case PropertyKind::kNumber:
      return value.is_number() ? NumberMisfit(property, value) : kTypeError;
    case PropertyKind::kString:
    case PropertyKind::kEnumeration:
      return StringMisfit(property, value);
    case PropertyKind::kComplex:
    case PropertyKind::kLink:
      return value.is_object() ? std::string_view() : kTypeError;
    case PropertyKind::kArray: {
      if (!value.is_array()) return kTypeError;
      for (const Json& element : value) {
        // An empty object keeps an element as it is.
        if (element.is_object() && element.empty()) continue;
        if (element.is_null() || property.element == nullptr) continue;
        const std::string_view misfit = Misfit(*property.element, element);
        if (!misfit.empty()) return misfit;
      }
      return {};
    }
    case PropertyKind::kAny:
      return {};
  }
  return {};
}

}  // namespace shoal::redfish
