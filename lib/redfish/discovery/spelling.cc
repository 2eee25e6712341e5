// SPDX-License-Identifier: Apache-2.0
#include "redfish/discovery/spelling.h"

#include <absl/strings/ascii.h>

#include <algorithm>

namespace shoal::discovery {
namespace {

// Calls `visit` with the end of each segment, first to last.
template <typename Visit>
void ForEachSegment(std::string_view uri, const Visit& visit) {
  for (std::size_t begin = 0; begin < uri.size();) {
    const std::size_t end = std::min(uri.find('/', begin + 1), uri.size());
    visit(uri.substr(begin, end - begin), end);
    begin = end;
  }
}

}  // namespace

Spelling::Spelling(const std::vector<std::string>& uris) {
  std::map<std::string, std::map<std::string, int, std::less<>>> counts;
  for (const std::string& uri : uris) {
    const std::string lower = absl::AsciiStrToLower(uri);
    ForEachSegment(uri, [&](std::string_view segment, std::size_t end) {
      ++counts[lower.substr(0, end)][std::string(segment)];
    });
  }
  for (const auto& [prefix, spellings] : counts) {
    const auto most =
        std::max_element(spellings.begin(), spellings.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    segments_.emplace(prefix, most->first);
  }
}

std::string Spelling::Of(std::string_view uri) const {
  const std::string lower = absl::AsciiStrToLower(std::string(uri));
  std::string spelled;
  ForEachSegment(uri, [&](std::string_view segment, std::size_t end) {
    const auto found = segments_.find(std::string_view(lower).substr(0, end));
    spelled += found == segments_.end() ? segment : std::string_view(found->second);
  });
  return spelled;
}

}  // namespace shoal::discovery
