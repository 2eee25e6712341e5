// SPDX-License-Identifier: Apache-2.0
#include "mockserver/messages/multipart.h"

#include <absl/strings/ascii.h>
#include <absl/strings/match.h>

#include <algorithm>
#include <utility>

namespace shoal::mockserver {
namespace {

constexpr std::string_view kLineEnd = "\r\n";
constexpr std::string_view kDashes = "--";

struct HeaderParameter {
  std::string name;
  std::string value;
};

std::string_view Stripped(std::string_view text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

bool IsSame(std::string_view one, std::string_view other) {
  return absl::EqualsIgnoreCase({one.data(), one.size()}, {other.data(), other.size()});
}

// Takes a quoted text from the front of `rest`. Browsers send backslashes of Windows paths bare, so
// only \" and \\ are escapes.
std::optional<std::string> TakeQuoted(std::string_view& rest) {
  std::string value;
  for (std::size_t i = 1; i < rest.size(); ++i) {
    const bool escapes =
        rest[i] == '\\' && i + 1 < rest.size() && (rest[i + 1] == '"' || rest[i + 1] == '\\');
    if (escapes) {
      value += rest[++i];
    } else if (rest[i] == '"') {
      rest.remove_prefix(i + 1);
      return value;
    } else {
      value += rest[i];
    }
  }
  return std::nullopt;
}

// Reads `; name=value; name="value"`, and returns nothing when it is malformed.
std::optional<std::vector<HeaderParameter>> ParametersIn(std::string_view rest) {
  std::vector<HeaderParameter> parameters;
  while (true) {
    rest = Stripped(rest);
    if (rest.empty()) return parameters;
    if (rest.front() != ';') return std::nullopt;
    rest = Stripped(rest.substr(1));
    if (rest.empty()) return parameters;
    const std::size_t equals = rest.find('=');
    if (equals == std::string_view::npos) return std::nullopt;
    HeaderParameter parameter{.name = std::string(Stripped(rest.substr(0, equals))), .value = {}};
    rest = Stripped(rest.substr(equals + 1));
    if (rest.starts_with('"')) {
      std::optional<std::string> value = TakeQuoted(rest);
      if (!value) return std::nullopt;
      parameter.value = *std::move(value);
    } else {
      const std::size_t end = std::min(rest.find(';'), rest.size());
      parameter.value = std::string(Stripped(rest.substr(0, end)));
      rest.remove_prefix(end);
    }
    parameters.push_back(std::move(parameter));
  }
}

std::optional<std::string> ParameterOf(std::string_view value, std::string_view name) {
  const std::size_t end = std::min(value.find(';'), value.size());
  const auto parameters = ParametersIn(value.substr(end));
  if (!parameters) return std::nullopt;
  const auto found =
      std::find_if(parameters->begin(), parameters->end(),
                   [name](const HeaderParameter& one) { return IsSame(one.name, name); });
  return found == parameters->end() ? std::nullopt : std::optional(found->value);
}

std::string_view TypeOf(std::string_view value) {
  return Stripped(value.substr(0, value.find(';')));
}

bool IsBoundary(std::string_view text) {
  constexpr std::string_view kMarks = "'()+_,-./:=? ";
  return !text.empty() && text.size() <= kMaximumBoundary && !text.ends_with(' ') &&
         std::all_of(text.begin(), text.end(), [&](char c) {
           return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
                  kMarks.find(c) != std::string_view::npos;
         });
}

// A line of the body that separates parts.
struct Delimiter {
  std::size_t begin = 0;
  // Where the next part begins.
  std::size_t end = 0;
  bool is_last = false;
};

class MultipartReader {
 public:
  MultipartReader(std::string_view boundary, std::string_view body)
      : mark_(std::string(kDashes) + std::string(boundary)), body_(body) {}

  // Returns the first delimiter at or after `from`, which is the beginning of a line.
  std::optional<Delimiter> Next(std::size_t from) const {
    std::size_t at = from;
    while (true) {
      at = body_.find(mark_, at);
      if (at == std::string_view::npos) return std::nullopt;
      const bool begins_line =
          at == from || (at >= from + 2 && body_.substr(at - 2, 2) == kLineEnd);
      const auto delimiter = begins_line ? ReadAt(at, from) : std::nullopt;
      if (delimiter) return delimiter;
      at += mark_.size();
    }
  }

 private:
  std::optional<Delimiter> ReadAt(std::size_t at, std::size_t from) const {
    const std::string_view rest = body_.substr(at + mark_.size());
    Delimiter delimiter{.begin = at == from ? at : at - kLineEnd.size(), .end = 0};
    delimiter.is_last = rest.starts_with(kDashes);
    if (delimiter.is_last) return delimiter;
    const std::size_t padding = std::min(rest.find_first_not_of(" \t"), rest.size());
    if (!rest.substr(padding).starts_with(kLineEnd)) return std::nullopt;
    delimiter.end = at + mark_.size() + padding + kLineEnd.size();
    return delimiter;
  }

  const std::string mark_;
  const std::string_view body_;
};

absl::StatusOr<FormPart> ReadPart(std::string_view text) {
  const std::string_view start = text.substr(0, kMaximumPartHeader);
  const std::size_t blank = start.find("\r\n\r\n");
  if (blank == std::string_view::npos) {
    return runtime::InvalidArgument("the header of a part does not end");
  }
  FormPart part;
  part.content = text.substr(blank + 2 * kLineEnd.size());
  std::string_view header = text.substr(0, blank);
  bool is_named = false;
  while (!header.empty()) {
    const std::size_t end = std::min(header.find(kLineEnd), header.size());
    const std::string_view line = header.substr(0, end);
    header.remove_prefix(std::min(header.size(), end + kLineEnd.size()));
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || line.starts_with(' ') || line.starts_with('\t')) {
      return runtime::InvalidArgument("a line of a part's header is no field");
    }
    if (!IsSame(Stripped(line.substr(0, colon)), "Content-Disposition")) continue;
    const std::string_view value = line.substr(colon + 1);
    const auto name = ParameterOf(value, "name");
    is_named = IsSame(TypeOf(value), "form-data") && name.has_value() && !name->empty();
    if (!is_named) break;
    part.name = *name;
    part.file_name = ParameterOf(value, "filename");
  }
  if (!is_named) return runtime::InvalidArgument("a part has no name");
  return part;
}

}  // namespace

bool IsMultipart(std::string_view content_type) {
  return IsSame(TypeOf(content_type), "multipart/form-data");
}

absl::StatusOr<std::vector<FormPart>> ParseMultipart(std::string_view content_type,
                                                     std::string_view body) {
  if (!IsMultipart(content_type)) {
    return runtime::InvalidArgument("the media type is not multipart/form-data");
  }
  const auto boundary = ParameterOf(content_type, "boundary");
  if (!boundary || !IsBoundary(*boundary)) {
    return runtime::InvalidArgument("the media type has no valid boundary");
  }
  const MultipartReader reader(*boundary, body);
  std::optional<Delimiter> delimiter = reader.Next(0);
  std::vector<FormPart> parts;
  while (delimiter && !delimiter->is_last) {
    if (parts.size() == kMaximumFormParts)
      return runtime::InvalidArgument("there are too many parts");
    const std::size_t begin = delimiter->end;
    delimiter = reader.Next(begin);
    if (!delimiter) break;
    SHOAL_ASSIGN_OR_RETURN(FormPart part, ReadPart(body.substr(begin, delimiter->begin - begin)));
    parts.push_back(std::move(part));
  }
  if (!delimiter) return runtime::InvalidArgument("the last boundary is missing");
  return parts;
}

}  // namespace shoal::mockserver
