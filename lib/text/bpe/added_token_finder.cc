// SPDX-License-Identifier: Apache-2.0
#include "text/bpe/added_token_finder.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "text/bpe/code_points.h"

namespace shoal::tokens {
namespace {

constexpr std::uint32_t kNoNode = 0;
constexpr std::uint32_t kFewEdges = 8;

bool HasClass(const CodePoint& read, std::uint8_t bit) {
  return (ClassesOf(read.value) & bit) != 0;
}

bool StandsAlone(std::string_view text, std::size_t begin, std::size_t end) {
  if (begin > 0 && HasClass(ReadCodePointBefore(text, begin), kWordCharacter)) return false;
  return end == text.size() || !HasClass(ReadCodePoint(text, end), kWordCharacter);
}

std::size_t SpacesBegin(std::string_view text, std::size_t end, std::size_t earliest) {
  while (end > earliest) {
    const CodePoint read = ReadCodePointBefore(text, end);
    if (!HasClass(read, kSpace) || read.bytes > end - earliest) break;
    end -= read.bytes;
  }
  return end;
}

std::size_t AfterSpaces(std::string_view text, std::size_t at) {
  while (at < text.size()) {
    const CodePoint read = ReadCodePoint(text, at);
    if (!HasClass(read, kSpace)) break;
    at += read.bytes;
  }
  return at;
}

}  // namespace

AddedTokenFinder::AddedTokenFinder(std::vector<AddedToken> tokens,
                                   const std::vector<std::string>& forms)
    : tokens_(std::move(tokens)), nodes_(1) {
  std::vector<std::size_t> sorted(forms.size());
  std::iota(sorted.begin(), sorted.end(), std::size_t{0});
  std::erase_if(sorted, [&](std::size_t i) { return forms[i].empty(); });
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](std::size_t a, std::size_t b) { return forms[a] < forms[b]; });
  // The forms that share their first `depth` bytes. The children of one node are made together.
  struct Task {
    std::uint32_t node;
    std::size_t begin;
    std::size_t end;
    std::size_t depth;
  };
  std::vector<Task> tasks = {{0, 0, sorted.size(), 0}};
  while (!tasks.empty()) {
    const Task task = tasks.back();
    tasks.pop_back();
    std::size_t begin = task.begin;
    while (begin < task.end && forms[sorted[begin]].size() == task.depth) {
      std::int32_t& token = nodes_[task.node].token;
      if (token < 0) token = static_cast<std::int32_t>(sorted[begin]);
      ++begin;
    }
    nodes_[task.node].first_edge = static_cast<std::uint32_t>(edges_.size());
    while (begin < task.end) {
      const char byte = forms[sorted[begin]][task.depth];
      std::size_t end = begin;
      while (end < task.end && forms[sorted[end]][task.depth] == byte) ++end;
      const auto child = static_cast<std::uint32_t>(nodes_.size());
      nodes_.emplace_back();
      edges_.push_back({static_cast<std::uint8_t>(byte), child});
      ++nodes_[task.node].edges;
      tasks.push_back({child, begin, end, task.depth + 1});
      begin = end;
    }
  }
  for (std::uint32_t i = 0; i < nodes_[0].edges; ++i) root_[edges_[i].byte] = edges_[i].node;
  if (nodes_[0].edges == 1) only_start_ = edges_[0].byte;
}

std::uint32_t AddedTokenFinder::ChildOf(std::uint32_t node, std::uint8_t byte) const {
  const Edge* begin = edges_.data() + nodes_[node].first_edge;
  const Edge* end = begin + nodes_[node].edges;
  const Edge* found =
      nodes_[node].edges <= kFewEdges
          ? std::find_if(begin, end, [byte](const Edge& edge) { return edge.byte >= byte; })
          : std::lower_bound(begin, end, byte,
                             [](const Edge& edge, std::uint8_t b) { return edge.byte < b; });
  return found != end && found->byte == byte ? found->node : kNoNode;
}

std::size_t AddedTokenFinder::NextStart(std::string_view text, std::size_t at) const {
  if (only_start_ >= 0) {
    const void* found = std::memchr(text.data() + at, only_start_, text.size() - at);
    return found == nullptr
               ? text.size()
               : static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
  }
  while (at < text.size() && root_[static_cast<std::uint8_t>(text[at])] == kNoNode) ++at;
  return at;
}

AddedTokenFinder::Match AddedTokenFinder::LongestAt(std::string_view text, std::size_t at) const {
  Match longest;
  std::uint32_t node = root_[static_cast<std::uint8_t>(text[at])];
  while (node != kNoNode) {
    ++at;
    if (nodes_[node].token >= 0) longest = {nodes_[node].token, at};
    node = at < text.size() ? ChildOf(node, static_cast<std::uint8_t>(text[at])) : kNoNode;
  }
  return longest;
}

void AddedTokenFinder::Split(std::string_view text, std::vector<TextPiece>& pieces) const {
  std::size_t done = 0;
  std::size_t at = empty() ? text.size() : 0;
  while (at < text.size()) {
    at = NextStart(text, at);
    if (at == text.size()) break;
    const Match match = LongestAt(text, at);
    if (match.token < 0) {
      ++at;
      continue;
    }
    const AddedToken& token = tokens_[static_cast<std::size_t>(match.token)];
    std::size_t begin = at;
    std::size_t end = match.end;
    at = match.end;
    if (token.single_word && !StandsAlone(text, begin, end)) continue;
    if (token.lstrip) begin = std::max(SpacesBegin(text, begin, 0), done);
    if (token.rstrip) end = AfterSpaces(text, end);
    if (begin > done) pieces.push_back({{done, begin}, TextPiece::kText});
    pieces.push_back({{begin, end}, token.id});
    done = end;
  }
  if (done < text.size()) pieces.push_back({{done, text.size()}, TextPiece::kText});
}

}  // namespace shoal::tokens
