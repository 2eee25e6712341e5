// SPDX-License-Identifier: Apache-2.0
#include "platform/content/value_bytes.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace shoal::content {
namespace {

// The kind of the next value. Texts carry their length; lists and objects end with kEnd.
enum class Tag : char {
  kNull = 'n',
  kTrue = 't',
  kFalse = 'f',
  kText = 's',
  kNumber = 'u',
  kNegative = 'i',
  kFloat = 'd',
  kList = '[',
  kObject = '{',
  kEnd = '.',
};

std::size_t ShapeOf(std::string_view name) {
  if (name.empty()) return 0;
  const auto low_bits = [](char letter) { return static_cast<std::size_t>(letter) % 32; };
  return (name.size() % 16 * 32 + low_bits(name.front())) * 32 + low_bits(name.back());
}

void AppendTag(std::string& out, Tag tag) { out.push_back(static_cast<char>(tag)); }

template <typename Number>
void AppendNumber(std::string& out, Tag tag, Number number) {
  char bytes[1 + sizeof(number)] = {static_cast<char>(tag)};
  std::memcpy(bytes + 1, &number, sizeof(number));
  out.append(bytes, sizeof(bytes));
}

// Appends a short text, the common case, with a single call.
void AppendText(std::string& out, std::string_view text) {
  constexpr std::size_t kShort = 55;
  const auto size = static_cast<std::uint64_t>(text.size());
  char bytes[1 + sizeof(size) + kShort] = {static_cast<char>(Tag::kText)};
  std::memcpy(bytes + 1, &size, sizeof(size));
  const std::size_t head = std::min(text.size(), kShort);
  std::memcpy(bytes + 1 + sizeof(size), text.data(), head);
  out.append(bytes, 1 + sizeof(size) + head);
  if (head < text.size()) out.append(text.substr(head));
}

}  // namespace

ValueBytes::ValueBytes(const VolatileNames& dropped) : dropped_(dropped) {
  for (const std::string& name : dropped) shapes_.set(ShapeOf(name));
}

bool ValueBytes::IsDropped(const std::string& name) const {
  return shapes_.test(ShapeOf(name)) && dropped_.contains(name);
}

void ValueBytes::Append(std::string& out, const nlohmann::json& value) const {
  using Type = nlohmann::json::value_t;
  switch (value.type()) {
    case Type::object:
      AppendTag(out, Tag::kObject);
      for (const auto& [name, member] : value.get_ref<const nlohmann::json::object_t&>()) {
        if (IsDropped(name)) continue;
        AppendText(out, name);
        Append(out, member);
      }
      return AppendTag(out, Tag::kEnd);
    case Type::array:
      AppendTag(out, Tag::kList);
      for (const nlohmann::json& element : value) Append(out, element);
      return AppendTag(out, Tag::kEnd);
    case Type::string:
      return AppendText(out, value.get_ref<const std::string&>());
    case Type::boolean:
      return AppendTag(out, value.get<bool>() ? Tag::kTrue : Tag::kFalse);
    case Type::number_unsigned:
      return AppendNumber(out, Tag::kNumber, value.get<std::uint64_t>());
    case Type::number_integer: {
      const auto number = value.get<std::int64_t>();
      return AppendNumber(out, number < 0 ? Tag::kNegative : Tag::kNumber, number);
    }
    case Type::number_float:
      return AppendNumber(out, Tag::kFloat, value.get<double>());
    default:
      return AppendTag(out, Tag::kNull);
  }
}

}  // namespace shoal::content
