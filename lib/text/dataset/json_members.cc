// SPDX-License-Identifier: Apache-2.0
#include "text/dataset/json_members.h"

#include <limits>

namespace shoal::dataset {

absl::StatusOr<std::int64_t> ReadCount(const tokens::JsonNode& node) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
  if (!node.value->is_number_unsigned() || node.value->get<std::uint64_t>() > kMost) {
    return node.Wrong("is no count");
  }
  return node.value->get<std::int64_t>();
}

absl::StatusOr<bool> ReadBool(const tokens::JsonNode& node) {
  if (!node.value->is_boolean()) return node.Wrong("is neither true nor false");
  return node.value->get<bool>();
}

absl::StatusOr<std::string> ReadSha256(const tokens::JsonNode& node) {
  const auto* const text = node.value->get_ptr<const std::string*>();
  if (text == nullptr || text->size() != 64 ||
      text->find_first_not_of("0123456789abcdef") != std::string::npos) {
    return node.Wrong("is no SHA-256 of 64 hexadecimal digits");
  }
  return *text;
}

absl::StatusOr<std::vector<std::string>> ReadStrings(const tokens::JsonNode& node,
                                                     const std::string& key) {
  SHOAL_ASSIGN_OR_RETURN(const tokens::JsonNode list, node.List(key));
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < list.value->size(); ++i) {
    SHOAL_ASSIGN_OR_RETURN(std::string text, list.At(i).String());
    texts.push_back(std::move(text));
  }
  return texts;
}

}  // namespace shoal::dataset
