// SPDX-License-Identifier: Apache-2.0
#include "replay/signature.h"

#include <absl/strings/str_split.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <utility>
#include <vector>

namespace shoal::replay {
namespace {

constexpr std::size_t kMaxBytes = std::size_t{64} << 10;
constexpr std::size_t kMaxColumns = 512;
constexpr std::string_view kOptional = " optional";

// Takes what stands before the first space, and the space.
std::string_view TakeWord(std::string_view& text) {
  const std::string_view word = text.substr(0, text.find(' '));
  text.remove_prefix(std::min(text.size(), word.size() + 1));
  return word;
}

bool IsDType(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isupper(c) != 0 || std::isdigit(c) != 0;
  });
}

bool IsDimension(std::string_view text) {
  constexpr std::size_t kMaxDigits = 18;
  return text == "?" ||
         (!text.empty() && text.size() <= kMaxDigits &&
          std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c); }));
}

bool IsShape(std::string_view text) {
  if (text.size() < 2 || !text.starts_with('[') || !text.ends_with(']')) return false;
  text = text.substr(1, text.size() - 2);
  if (text.empty()) return true;
  const std::vector<std::string> dimensions = absl::StrSplit(std::string(text), ", ");
  return std::all_of(dimensions.begin(), dimensions.end(), IsDimension);
}

}  // namespace

absl::StatusOr<Signature> Signature::Parse(std::string_view text) {
  if (text.size() > kMaxBytes) {
    return runtime::InvalidArgument("a signature has " + std::to_string(text.size()) +
                                    " bytes, the limit is " + std::to_string(kMaxBytes));
  }
  Signature out;
  const std::vector<std::string> lines = absl::StrSplit(std::string(text), '\n', absl::SkipEmpty());
  for (const std::string& line : lines) {
    SHOAL_RETURN_IF_ERROR(ParseLine(line, out));
  }
  if (out.columns_.empty()) return runtime::InvalidArgument("a signature has no column");
  if (out.columns_.size() > kMaxColumns) {
    return runtime::InvalidArgument("a signature has " + std::to_string(out.columns_.size()) +
                                    " columns, the limit is " + std::to_string(kMaxColumns));
  }
  return out;
}

absl::Status Signature::ParseLine(std::string_view line, Signature& out) {
  Column column;
  std::string_view type = line;
  column.optional = type.ends_with(kOptional);
  if (column.optional) type.remove_suffix(kOptional.size());
  const std::string_view name = TakeWord(type);
  column.type = type;
  const std::string_view dtype = TakeWord(type);
  if (name.empty() || !IsDType(dtype) || !IsShape(type)) {
    return runtime::InvalidArgument("'" + std::string(line) +
                                    "' is not \"NAME DTYPE [D, D, ...]\" of a column");
  }
  if (!out.columns_.emplace(name, std::move(column)).second) {
    return runtime::InvalidArgument("'" + std::string(line) + "' names a column again");
  }
  return absl::OkStatus();
}

absl::Status Signature::Admit(const Signature& item) {
  const auto differs = [](const std::string& name, const std::string& here,
                          const std::string& there) {
    return runtime::FailedPrecondition("column " + name + " is " + here + " in the table and " +
                                       there + " in the item");
  };
  for (const auto& [name, column] : columns_) {
    const auto found = item.columns_.find(name);
    const bool missing = found == item.columns_.end();
    if (missing ? column.optional : found->second.type == column.type) continue;
    return differs(name, column.type, missing ? "missing" : found->second.type);
  }
  for (const auto& [name, column] : item.columns_) {
    if (!column.optional && !columns_.contains(name)) return differs(name, "missing", column.type);
  }
  for (const auto& [name, column] : item.columns_) columns_.emplace(name, column);
  return absl::OkStatus();
}

absl::Status Signature::CheckReader(const Signature& reader) const {
  for (const auto& [name, column] : reader.columns_) {
    const auto found = columns_.find(name);
    const bool missing = found == columns_.end();
    if (missing ? column.optional : found->second.type == column.type) continue;
    return runtime::FailedPrecondition("column " + name + " is " +
                                       (missing ? "missing" : found->second.type) +
                                       " in the table and " + column.type + " for the reader");
  }
  return absl::OkStatus();
}

std::string Signature::Text() const {
  std::string text;
  for (const auto& [name, column] : columns_) {
    text += (text.empty() ? "" : "\n") + name + " " + column.type;
    if (column.optional) text += kOptional;
  }
  return text;
}

}  // namespace shoal::replay
