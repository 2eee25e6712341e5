// SPDX-License-Identifier: Apache-2.0
#include "platform/http/message.h"

#include <algorithm>
#include <boost/beast/http/status.hpp>

namespace shoal::http {
namespace {

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

bool SameName(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return Lower(x) == Lower(y); });
}

std::string_view Headers::Find(std::string_view name) const {
  for (const auto& [field, value] : fields_) {
    if (SameName(field, name)) return value;
  }
  return {};
}

void AppendHeader(std::string& lines, std::string_view name, std::string_view value) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  lines.append(name).append(": ");
  const std::size_t begin = lines.size();
  lines.append(value);
  if (std::any_of(value.begin(), value.end(), is_control)) {
    lines.erase(
        std::remove_if(lines.begin() + static_cast<std::ptrdiff_t>(begin), lines.end(), is_control),
        lines.end());
  }
  lines.append("\r\n");
}

bool IsSafe(std::string_view method) {
  return method == "GET" || method == "HEAD" || method == "OPTIONS";
}

std::string_view ReasonPhrase(int status) {
  if (status < 100 || status > 599) return {};
  const auto known = boost::beast::http::int_to_status(static_cast<unsigned>(status));
  if (known == boost::beast::http::status::unknown) return {};
  const auto phrase = boost::beast::http::obsolete_reason(known);
  return {phrase.data(), phrase.size()};
}

}  // namespace shoal::http
