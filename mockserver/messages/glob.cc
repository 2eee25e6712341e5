// SPDX-License-Identifier: Apache-2.0
#include "mockserver/messages/glob.h"

#include <utility>

namespace shoal::mockserver {
namespace {

// A wildcard that has taken path[begin, end), and the place where the pattern goes on after it.
struct Taken {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t next = 0;
  bool across = false;
};

// Lets the last wildcard that can be retried take one more character, and forgets the wildcards
// after it. Of several `*` only the last must be retried: whatever an earlier one could take in its
// segment, the last can take as well. The same holds for several `**`.
bool TakeMore(std::vector<Taken>& taken, std::string_view path) {
  const auto can = [path](const Taken& one) {
    return one.end < path.size() && (one.across || path[one.end] != '/');
  };
  if (taken.empty()) return false;
  if (!can(taken.back())) {
    while (!taken.empty() && !taken.back().across) taken.pop_back();
    if (taken.empty() || !can(taken.back())) return false;
  }
  ++taken.back().end;
  return true;
}

}  // namespace

absl::StatusOr<Glob> Glob::Parse(std::string pattern) {
  if (!pattern.starts_with('/') || pattern.size() > kMaximumLength) {
    return runtime::InvalidArgument("a path begins with '/' and has at most " +
                                    std::to_string(kMaximumLength) + " characters");
  }
  Glob glob(std::move(pattern));
  const std::string& text = glob.pattern_;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '*') {
      ++glob.literal_length_;
      continue;
    }
    ++glob.wildcards_;
    if (text.compare(at, 2, "**") == 0) ++at;
  }
  if (glob.wildcards_ > kMaximumWildcards) {
    return runtime::InvalidArgument("a path has at most " + std::to_string(kMaximumWildcards) +
                                    " wildcards");
  }
  return glob;
}

std::optional<std::vector<std::string_view>> Glob::Match(std::string_view path) const {
  if (path.size() > kMaximumLength) return std::nullopt;
  const std::string_view pattern = pattern_;
  std::vector<Taken> taken;
  std::size_t at = 0;
  std::size_t next = 0;
  while (at < path.size() || next < pattern.size()) {
    if (next < pattern.size() && pattern[next] == '*') {
      const bool across = pattern.substr(next).starts_with("**");
      next += across ? 2 : 1;
      taken.push_back({at, at, next, across});
      continue;
    }
    if (at < path.size() && next < pattern.size() && path[at] == pattern[next]) {
      ++at;
      ++next;
      continue;
    }
    if (!TakeMore(taken, path)) return std::nullopt;
    at = taken.back().end;
    next = taken.back().next;
  }
  std::vector<std::string_view> pieces;
  for (const Taken& one : taken) pieces.push_back(path.substr(one.begin, one.end - one.begin));
  return pieces;
}

}  // namespace shoal::mockserver
