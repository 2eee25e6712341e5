// SPDX-License-Identifier: Apache-2.0
#include "platform/content/canonical_json.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "platform/content/plain_text.h"

namespace shoal::content {
namespace {

using Json = nlohmann::json;

// Returns the code point of UTF-8 at `text[position]` and moves past it; U+FFFD for invalid bytes.
char32_t NextCodePoint(std::string_view text, std::size_t& position) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t lead = byte(position);
  if (lead < 0x80) {
    ++position;
    return lead;
  }
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC2 ? 2 : 0;
  if (length == 0 || lead > 0xF4) {
    ++position;
    return 0xFFFD;
  }
  char32_t point = lead & (0xFFu >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if (position + i >= text.size() || (byte(position + i) & 0xC0) != 0x80) {
      position += i;
      return 0xFFFD;
    }
    point = (point << 6) | (byte(position + i) & 0x3Fu);
  }
  position += length;
  constexpr char32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = point >= 0xD800 && point <= 0xDFFF;
  return point < kSmallest[length] || surrogate || point > 0x10FFFF ? 0xFFFD : point;
}

void AppendUtf8(std::string& out, char32_t point) {
  const auto push = [&](char32_t byte) { out += static_cast<char>(byte); };
  if (point < 0x80) {
    push(point);
  } else if (point < 0x800) {
    push(0xC0 | (point >> 6));
    push(0x80 | (point & 0x3F));
  } else if (point < 0x10000) {
    push(0xE0 | (point >> 12));
    push(0x80 | ((point >> 6) & 0x3F));
    push(0x80 | (point & 0x3F));
  } else {
    push(0xF0 | (point >> 18));
    push(0x80 | ((point >> 12) & 0x3F));
    push(0x80 | ((point >> 6) & 0x3F));
    push(0x80 | (point & 0x3F));
  }
}

void AppendEscaped(std::string& out, char32_t point) {
  constexpr char kDigits[] = "0123456789abcdef";
  switch (point) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\b':
      out += "\\b";
      return;
    case '\f':
      out += "\\f";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      break;
  }
  if (point >= 0x20) return AppendUtf8(out, point);
  out += "\\u00";
  out += kDigits[point >> 4];
  out += kDigits[point & 15];
}

void AppendString(std::string& out, std::string_view text) {
  out += '"';
  if (IsPlain(text)) {
    out += text;
    out += '"';
    return;
  }
  for (std::size_t position = 0; position < text.size();) {
    const char c = text[position];
    if (c >= 0x20 && c != '"' && c != '\\') {
      out += c;
      ++position;
    } else {
      AppendEscaped(out, NextCodePoint(text, position));
    }
  }
  out += '"';
}

// Appends ECMAScript's Number::toString of `value`, from its digits and decimal exponent n: value =
// 0.digits * 10^n.
void AppendNumber(std::string& out, double value) {
  if (!std::isfinite(value)) {
    out += "null";
    return;
  }
  if (value == 0.0) {
    out += '0';
    return;
  }
  if (value < 0.0) out += '-';
  char buffer[40];
  const auto result = std::to_chars(buffer, buffer + sizeof(buffer), std::fabs(value),
                                    std::chars_format::scientific);
  const std::string_view text(buffer, static_cast<std::size_t>(result.ptr - buffer));
  const std::size_t e = text.find('e');
  std::string digits(1, text[0]);
  if (e > 2) digits += text.substr(2, e - 2);
  const int n = std::atoi(std::string(text.substr(e + 1)).c_str()) + 1;
  const int k = static_cast<int>(digits.size());
  if (n >= k && n <= 21) {
    out += digits;
    out.append(static_cast<std::size_t>(n - k), '0');
  } else if (n > 0 && n <= 21) {
    out += digits.substr(0, static_cast<std::size_t>(n)) + '.' +
           digits.substr(static_cast<std::size_t>(n));
  } else if (n > -6 && n <= 0) {
    out += "0.";
    out.append(static_cast<std::size_t>(-n), '0');
    out += digits;
  } else {
    out += digits[0];
    if (k > 1) out += '.' + digits.substr(1);
    out += n - 1 < 0 ? "e-" : "e+";
    out += std::to_string(std::abs(n - 1));
  }
}

std::u16string Utf16(std::string_view text) {
  std::u16string units;
  for (std::size_t position = 0; position < text.size();) {
    const char32_t point = NextCodePoint(text, position);
    if (point < 0x10000) {
      units += static_cast<char16_t>(point);
    } else {
      units += static_cast<char16_t>(0xD800 + ((point - 0x10000) >> 10));
      units += static_cast<char16_t>(0xDC00 + ((point - 0x10000) & 0x3FF));
    }
  }
  return units;
}

bool IsAscii(std::string_view text) {
  return IsPlain(text) || std::all_of(text.begin(), text.end(), [](char c) { return c >= 0; });
}

void Append(std::string& out, const Json& value, const VolatileNames* dropped);

void AppendObject(std::string& out, const Json::object_t& object, const VolatileNames* dropped) {
  out += '{';
  bool first = true;
  const auto append = [&](const std::string& name, const Json& value) {
    if (dropped != nullptr && dropped->contains(name)) return;
    if (!first) out += ',';
    first = false;
    AppendString(out, name);
    out += ':';
    Append(out, value, dropped);
  };
  // For ASCII names, byte order is UTF-16 order, and nlohmann's objects are in byte order already.
  if (std::all_of(object.begin(), object.end(),
                  [](const auto& member) { return IsAscii(member.first); })) {
    for (const auto& [name, value] : object) append(name, value);
  } else {
    std::vector<Json::object_t::const_iterator> members;
    for (auto it = object.begin(); it != object.end(); ++it) members.push_back(it);
    std::sort(members.begin(), members.end(),
              [](const auto& a, const auto& b) { return Utf16(a->first) < Utf16(b->first); });
    for (const auto& member : members) append(member->first, member->second);
  }
  out += '}';
}

void Append(std::string& out, const Json& value, const VolatileNames* dropped) {
  switch (value.type()) {
    case Json::value_t::object:
      return AppendObject(out, value.get_ref<const Json::object_t&>(), dropped);
    case Json::value_t::array: {
      out += '[';
      for (std::size_t i = 0; i < value.size(); ++i) {
        if (i > 0) out += ',';
        Append(out, value[i], dropped);
      }
      out += ']';
      return;
    }
    case Json::value_t::string:
      return AppendString(out, value.get_ref<const std::string&>());
    case Json::value_t::boolean:
      out += value.get<bool>() ? "true" : "false";
      return;
    case Json::value_t::number_integer:
      out += std::to_string(value.get<std::int64_t>());
      return;
    case Json::value_t::number_unsigned:
      out += std::to_string(value.get<std::uint64_t>());
      return;
    case Json::value_t::number_float:
      return AppendNumber(out, value.get<double>());
    default:
      out += "null";
      return;
  }
}

}  // namespace

const VolatileNames& DefaultVolatileNames() {
  static const VolatileNames names = {
      "@odata.etag",         "DateTime",      "ReadingTime",  "Timestamp",
      "SensorResetTime",     "LastResetTime", "LastUpdated",  "LastStateTime",
      "LastBootTimeSeconds", "CreatedTime",   "LastUpdate",   "SystemUpTime",
      "ServiceUptime",       "Updated",       "LastBootTime", "CurrentDateTime",
      "MeasurementTime",
  };
  return names;
}

std::string CanonicalJson(const nlohmann::json& value) {
  std::string out;
  Append(out, value, nullptr);
  return out;
}

std::string CanonicalJson(const nlohmann::json& value, const VolatileNames& volatile_names) {
  std::string out;
  Append(out, value, &volatile_names);
  return out;
}

}  // namespace shoal::content
