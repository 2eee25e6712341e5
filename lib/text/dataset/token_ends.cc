// SPDX-License-Identifier: Apache-2.0
#include "text/dataset/token_ends.h"

#include <string>

namespace shoal::dataset {
namespace {

bool IsAscii(char c) { return (static_cast<unsigned char>(c) & 0x80U) == 0; }
bool Continues(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }
char Small(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// After the code point at `at`.
std::size_t AfterCodePoint(std::string_view text, std::size_t at) {
  for (++at; at < text.size() && Continues(text[at]); ++at) {
  }
  return at;
}

// For each byte of `decoded`, and its end, where it comes from in `text`.
absl::StatusOr<std::vector<std::size_t>> Origins(std::string_view text, std::string_view decoded) {
  std::vector<std::size_t> origins;
  origins.reserve(decoded.size() + 1);
  std::size_t from = 0;
  while (origins.size() < decoded.size()) {
    const std::size_t at = origins.size();
    const char there = decoded[at];
    const bool left = from < text.size();
    if (left && (text[from] == there || Small(text[from]) == Small(there))) {
      origins.push_back(from++);
    } else if (there == ' ') {
      origins.push_back(from);
    } else if (left && text[from] == ' ') {
      ++from;
    } else if (left && !IsAscii(text[from])) {
      origins.resize(AfterCodePoint(decoded, at), from);
      from = AfterCodePoint(text, from);
    } else if (!IsAscii(there)) {
      origins.push_back(from);
    } else {
      return runtime::FailedPrecondition(
          "byte " + std::to_string(from) +
          ": the tokenizer changes more than blanks and the case of letters");
    }
  }
  while (from < text.size() && text[from] == ' ') ++from;
  if (from < text.size()) {
    return runtime::FailedPrecondition("byte " + std::to_string(from) +
                                       ": the tokenizer leaves out the rest");
  }
  origins.push_back(text.size());
  return origins;
}

}  // namespace

absl::StatusOr<std::vector<std::size_t>> TokenEnds(const tokens::Tokenizer& tokenizer,
                                                   std::string_view text,
                                                   std::span<const std::int32_t> ids) {
  std::vector<std::size_t> ends;
  ends.reserve(ids.size());
  std::string decoded;
  for (const std::int32_t id : ids) {
    decoded += tokenizer.TokenBytes(id);
    ends.push_back(decoded.size());
  }
  if (decoded == text) return ends;
  SHOAL_ASSIGN_OR_RETURN(const std::vector<std::size_t> origins, Origins(text, decoded));
  for (std::size_t& end : ends) end = origins[end];
  return ends;
}

}  // namespace shoal::dataset
