// SPDX-License-Identifier: Apache-2.0
#include "platform/content/json_node.h"

#include <limits>
#include <utility>

#include "platform/content/nesting.h"

namespace shoal::content {

using nlohmann::json;

JsonNode JsonNode::At(const std::string& key) const {
  static const json kNull;
  const bool has_it = value->is_object() && value->contains(key);
  return {has_it ? &value->at(key) : &kNull, pointer + "/" + key};
}

JsonNode JsonNode::At(std::size_t index) const {
  return {&(*value)[index], pointer + "/" + std::to_string(index)};
}

absl::Status JsonNode::Wrong(const std::string& why) const {
  return runtime::InvalidArgument((pointer.empty() ? "the document" : pointer) + " " + why);
}

absl::StatusOr<std::string> JsonNode::String() const {
  if (!value->is_string()) return Wrong("is no string");
  return value->get_ref<const std::string&>();
}

absl::StatusOr<bool> JsonNode::Bool(bool missing) const {
  if (value->is_null()) return missing;
  if (!value->is_boolean()) return Wrong("is neither true nor false");
  return value->get<bool>();
}

absl::StatusOr<bool> JsonNode::Bool() const {
  if (!value->is_boolean()) return Wrong("is neither true nor false");
  return value->get<bool>();
}

absl::StatusOr<std::int64_t> JsonNode::Count() const {
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
  if (!value->is_number_unsigned() || value->get<std::uint64_t>() > kMost) {
    return Wrong("is no count");
  }
  return value->get<std::int64_t>();
}

absl::StatusOr<std::string> JsonNode::Sha256() const {
  const auto* const text = value->get_ptr<const std::string*>();
  if (text == nullptr || text->size() != 64 ||
      text->find_first_not_of("0123456789abcdef") != std::string::npos) {
    return Wrong("is no SHA-256 of 64 hexadecimal digits");
  }
  return *text;
}

absl::StatusOr<std::int32_t> JsonNode::Id() const {
  constexpr std::int64_t kLimit = std::int64_t{1} << 30;
  if (!value->is_number_integer()) return Wrong("is no whole number");
  const bool fits = value->is_number_unsigned()
                        ? value->get<std::uint64_t>() < static_cast<std::uint64_t>(kLimit)
                        : value->get<std::int64_t>() >= 0;
  if (!fits) return Wrong("is no id: negative, or not below 2^30");
  return static_cast<std::int32_t>(value->get<std::int64_t>());
}

absl::StatusOr<std::string> JsonNode::Type() const {
  if (!value->is_object()) return Wrong("is no object");
  return At("type").String();
}

absl::StatusOr<JsonNode> JsonNode::List(const std::string& key) const {
  JsonNode list = At(key);
  if (!list.value->is_array()) return list.Wrong("is no list");
  return list;
}

absl::StatusOr<std::vector<std::string>> JsonNode::Strings(const std::string& key) const {
  SHOAL_ASSIGN_OR_RETURN(const JsonNode list, List(key));
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < list.value->size(); ++i) {
    SHOAL_ASSIGN_OR_RETURN(std::string text, list.At(i).String());
    texts.push_back(std::move(text));
  }
  return texts;
}

absl::Status JsonNode::RequireNull() const {
  return value->is_null() ? absl::OkStatus() : Wrong("is not null, which is not supported");
}

absl::Status JsonNode::RequireFalse() const {
  SHOAL_ASSIGN_OR_RETURN(const bool is_true, Bool(false));
  return is_true ? Wrong("is true, which is not supported") : absl::OkStatus();
}

absl::Status JsonNode::RequireEmptyString() const {
  if (value->is_null()) return absl::OkStatus();
  SHOAL_ASSIGN_OR_RETURN(const std::string text, String());
  return text.empty() ? absl::OkStatus() : Wrong("is not supported");
}

// Exceptions of the JSON library do not leave this function.
absl::StatusOr<json> ParseJsonDocument(std::string_view text) {
  if (NestsDeeperThan(text, kMaximumNesting)) {
    return runtime::InvalidArgument("nests deeper than " + std::to_string(kMaximumNesting) +
                                    " levels");
  }
  try {
    return json::parse(text);
  } catch (const json::parse_error& error) {
    return runtime::InvalidArgument("is no JSON at byte " + std::to_string(error.byte) + ": " +
                                    error.what());
  } catch (const json::exception& error) {
    return runtime::InvalidArgument(std::string("is no JSON: ") + error.what());
  }
}

}  // namespace shoal::content
