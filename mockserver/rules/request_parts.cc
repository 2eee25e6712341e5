// SPDX-License-Identifier: Apache-2.0
#include "mockserver/rules/request_parts.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "mockserver/messages/extended_info.h"
#include "redfish/capture/uri.h"

namespace shoal::mockserver {
namespace {

constexpr std::string_view kPartOpens = "${";
constexpr std::string_view kBody = "body:";
constexpr std::string_view kPath = "path:";

// One part of a text, from `begin` to `end` in it.
struct Part {
  std::size_t begin = 0;
  std::size_t end = 0;
  // The text between the braces.
  std::string_view name;
};

// Returns the first part at or after `from`. Its `end` is 0 when the part is never closed.
std::optional<Part> NextPart(std::string_view text, std::size_t from) {
  const std::size_t begin = text.find(kPartOpens, from);
  if (begin == std::string_view::npos) return std::nullopt;
  const std::size_t close = text.find('}', begin);
  if (close == std::string_view::npos) return Part{begin, 0, {}};
  const std::size_t name = begin + kPartOpens.size();
  return Part{begin, close + 1, text.substr(name, close - name)};
}

// Returns the number in "path:3", counted from 1, or 0 when there is none.
std::size_t Piece(std::string_view name) {
  name.remove_prefix(kPath.size());
  std::size_t number = 0;
  const auto result = std::from_chars(name.data(), name.data() + name.size(), number);
  const bool whole = result.ec == std::errc() && result.ptr == name.data() + name.size();
  return whole ? number : 0;
}

bool IsPart(const Part& part, std::size_t wildcards) {
  if (part.name.starts_with(kPath)) {
    const std::size_t number = Piece(part.name);
    return number >= 1 && number <= wildcards;
  }
  return part.name == kBody || part.name.starts_with("body:/");
}

Json Value(const Part& part, const RequestParts& parts) {
  if (part.name.starts_with(kPath)) return std::string(parts.path[Piece(part.name) - 1]);
  const Json* const value = redfish::Resolve(parts.body, part.name.substr(kBody.size()));
  return value == nullptr ? Json() : *value;
}

class PartsJudge {
 public:
  PartsJudge(std::size_t wildcards, std::vector<std::string>& pointers)
      : wildcards_(wildcards), pointers_(pointers) {}

  absl::Status Visit(const Json& json) {
    if (json.is_string()) return VisitText(json.get_ref<const std::string&>());
    if (!json.is_structured()) return absl::OkStatus();
    for (const Json& one : json) SHOAL_RETURN_IF_ERROR(Visit(one));
    return absl::OkStatus();
  }

 private:
  absl::Status VisitText(const std::string& text) {
    for (auto part = NextPart(text, 0); part; part = NextPart(text, part->end)) {
      if (part->end == 0 || !IsPart(*part, wildcards_)) {
        return runtime::InvalidArgument("\"" + text +
                                        "\" has neither ${body:/Pointer} nor a ${path:n} that the "
                                        "path has");
      }
      if (++count_ > kMaximumParts) {
        return runtime::InvalidArgument("more than " + std::to_string(kMaximumParts) +
                                        " parts of a request");
      }
      if (part->name.starts_with(kBody)) pointers_.emplace_back(part->name.substr(kBody.size()));
    }
    return absl::OkStatus();
  }

  const std::size_t wildcards_;
  std::vector<std::string>& pointers_;
  std::size_t count_ = 0;
};

}  // namespace

bool RequestParts::Have(std::span<const std::string> pointers) const {
  return std::all_of(pointers.begin(), pointers.end(), [this](const std::string& pointer) {
    return redfish::Resolve(body, pointer) != nullptr;
  });
}

absl::Status JudgeParts(const Json& json, std::size_t wildcards,
                        std::vector<std::string>& pointers) {
  return PartsJudge(wildcards, pointers).Visit(json);
}

std::string FillParts(const std::string& text, const RequestParts& parts) {
  std::string filled;
  std::size_t from = 0;
  for (auto part = NextPart(text, 0); part; part = NextPart(text, from)) {
    filled.append(text, from, part->begin - from);
    const Json value = Value(*part, parts);
    filled += value.is_string() ? value.get<std::string>() : Serialise(value);
    from = part->end;
  }
  return filled.append(text, from);
}

Json FillParts(const Json& json, const RequestParts& parts) {
  if (json.is_string()) {
    const std::string& text = json.get_ref<const std::string&>();
    const auto part = NextPart(text, 0);
    const bool alone = part && part->begin == 0 && part->end == text.size();
    return alone ? Value(*part, parts) : Json(FillParts(text, parts));
  }
  Json filled = json;
  if (filled.is_structured()) {
    for (Json& one : filled) one = FillParts(one, parts);
  }
  return filled;
}

}  // namespace shoal::mockserver
