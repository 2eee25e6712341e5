// SPDX-License-Identifier: Apache-2.0
#include "redfish/goals/phrase_pattern.h"

#include <absl/strings/ascii.h>
#include <absl/strings/str_format.h>

#include <algorithm>
#include <utility>

namespace shoal::redfish {

struct PhrasePattern::Node {
  // A text, or a sequence of `parts`, or one of `parts`.
  enum Kind { kText, kSequence, kChoice } kind = kText;
  std::string text;
  std::vector<std::shared_ptr<const Node>> parts;
  // For a choice: half of the draws are empty.
  bool optional = false;
  // The number of texts, counted with repetitions.
  double count = 1.0;
};

namespace {

using PatternNode = PhrasePattern::Node;
using NodePointer = std::shared_ptr<const PatternNode>;
using Random = runtime::Random;

bool IsMark(char byte) { return std::string_view(" ,.;:!?").find(byte) != std::string_view::npos; }

NodePointer TextNode(std::string_view text) {
  return std::make_shared<PatternNode>(
      PatternNode{PatternNode::kText, std::string(text), {}, false, 1.0});
}

NodePointer Combine(PatternNode::Kind kind, std::vector<NodePointer> parts, bool optional) {
  double count = kind == PatternNode::kSequence ? 1.0 : 0.0;
  for (const NodePointer& part : parts) {
    count = kind == PatternNode::kSequence ? count * part->count : count + part->count;
  }
  return std::make_shared<PatternNode>(
      PatternNode{kind, "", std::move(parts), optional, count + (optional ? 1.0 : 0.0)});
}

class PatternParser {
 public:
  PatternParser(std::string_view text, const PhrasePattern::Lists& lists)
      : text_(text), lists_(lists) {}

  absl::StatusOr<NodePointer> Whole() {
    SHOAL_ASSIGN_OR_RETURN(NodePointer root, Sequence(0));
    if (at_ < text_.size()) return Wrong("has no partner");
    return root;
  }

 private:
  absl::Status Wrong(const std::string& what) const {
    return runtime::InvalidArgument(
        absl::StrFormat("\"%s\": the bracket at byte %d %s", std::string(text_), at_, what));
  }

  // Reads up to a bracket that closes, a '|' inside of brackets, or the end.
  absl::StatusOr<NodePointer> Sequence(int depth) {
    std::vector<NodePointer> parts;
    while (at_ < text_.size()) {
      const std::size_t next = std::min(text_.find_first_of("<>[]|", at_), text_.size());
      if (next > at_) parts.push_back(TextNode(text_.substr(at_, next - at_)));
      at_ = next;
      if (at_ == text_.size() || (depth > 0 && text_[at_] == '|')) break;
      if (text_[at_] == '>' || text_[at_] == ']') break;
      if (text_[at_] == '|') return Wrong("is a '|' outside of brackets");
      SHOAL_ASSIGN_OR_RETURN(NodePointer part, Bracket(depth + 1));
      parts.push_back(std::move(part));
    }
    return parts.size() == 1 ? parts.front()
                             : Combine(PatternNode::kSequence, std::move(parts), false);
  }

  absl::StatusOr<NodePointer> Bracket(int depth) {
    if (depth > PhrasePattern::kMaxDepth) {
      return Wrong(absl::StrFormat("is nested more than %d deep", PhrasePattern::kMaxDepth));
    }
    const std::size_t open = at_++;
    const char close = text_[open] == '<' ? '>' : ']';
    std::vector<NodePointer> parts;
    for (bool more = true; more;) {
      SHOAL_ASSIGN_OR_RETURN(NodePointer part, Sequence(depth));
      parts.push_back(std::move(part));
      more = at_ < text_.size() && text_[at_] == '|';
      if (more) ++at_;
    }
    if (at_ == text_.size() || text_[at_] != close) {
      at_ = open;
      return Wrong("has no partner");
    }
    ++at_;
    if (close == '>' && parts.size() == 1) return List(text_.substr(open + 1, at_ - open - 2));
    return Combine(PatternNode::kChoice, std::move(parts), close == ']');
  }

  absl::StatusOr<NodePointer> List(std::string_view name) {
    const auto found = lists_.find(name);
    if (found == lists_.end()) {
      return runtime::InvalidArgument("\"" + std::string(text_) + "\": no list \"" +
                                      std::string(name) + "\"");
    }
    std::vector<NodePointer> parts;
    for (const PhrasePattern& pattern : found->second) {
      PatternParser parser(pattern.text(), lists_);
      SHOAL_ASSIGN_OR_RETURN(NodePointer part, parser.Whole());
      parts.push_back(std::move(part));
    }
    return Combine(PatternNode::kChoice, std::move(parts), false);
  }

  const std::string_view text_;
  const PhrasePattern::Lists& lists_;
  std::size_t at_ = 0;
};

void DrawInto(const PatternNode& node, Random& random, std::string& text) {
  if (node.kind == PatternNode::kText) {
    text += node.text;
  } else if (node.kind == PatternNode::kSequence) {
    for (const NodePointer& part : node.parts) DrawInto(*part, random, text);
  } else if (!node.optional || random.Below(2) == 0) {
    DrawInto(*node.parts[random.Below(node.parts.size())], random, text);
  }
}

std::string Tidy(std::string_view text) {
  std::string tidy;
  for (const char byte : text) {
    const bool after_space = tidy.empty() || tidy.back() == ' ';
    if (byte == ' ' && after_space) continue;
    if (byte != ' ' && IsMark(byte) && !tidy.empty() && after_space) tidy.pop_back();
    tidy += byte;
  }
  while (!tidy.empty() && tidy.back() == ' ') tidy.pop_back();
  return tidy;
}

std::vector<std::string> TextsOf(const PatternNode& node, std::size_t limit) {
  if (node.kind == PatternNode::kText) return {node.text};
  std::vector<std::string> texts;
  if (node.kind == PatternNode::kSequence) {
    texts.emplace_back();
    for (const NodePointer& part : node.parts) {
      const std::vector<std::string> ends = TextsOf(*part, limit);
      std::vector<std::string> longer;
      for (const std::string& end : ends) {
        for (const std::string& text : texts) {
          if (longer.size() < limit) longer.push_back(text + end);
        }
      }
      texts = std::move(longer);
    }
    return texts;
  }
  if (node.optional) texts.emplace_back();
  for (const NodePointer& part : node.parts) {
    if (texts.size() >= limit) break;
    const std::vector<std::string> more = TextsOf(*part, limit - texts.size());
    texts.insert(texts.end(), more.begin(), more.end());
  }
  return texts;
}

// The sentence's letters, without marks and capitals.
std::string LettersAndDigits(std::string_view text) {
  std::string letters;
  for (const char byte : text) {
    if (!IsMark(byte)) letters += absl::ascii_tolower(static_cast<unsigned char>(byte));
  }
  return letters;
}

// Returns the places in `letters` at which the node can end when it begins at one of `starts`.
std::set<std::size_t> Ends(const PatternNode& node, const std::string& letters,
                           const std::set<std::size_t>& starts) {
  std::set<std::size_t> ends;
  if (starts.empty()) return ends;
  if (node.kind == PatternNode::kText) {
    const std::string own = LettersAndDigits(node.text);
    for (const std::size_t start : starts) {
      if (letters.compare(start, own.size(), own) == 0) ends.insert(start + own.size());
    }
  } else if (node.kind == PatternNode::kSequence) {
    ends = starts;
    for (const NodePointer& part : node.parts) ends = Ends(*part, letters, ends);
  } else {
    if (node.optional) ends = starts;
    for (const NodePointer& part : node.parts) ends.merge(Ends(*part, letters, starts));
  }
  return ends;
}

}  // namespace

PhrasePattern::PhrasePattern(std::string text, std::shared_ptr<const PatternNode> root)
    : text_(std::move(text)), root_(std::move(root)) {}

absl::StatusOr<PhrasePattern> PhrasePattern::Parse(std::string_view text, const Lists& lists) {
  if (text.size() > kMaxBytes) {
    return runtime::InvalidArgument(
        absl::StrFormat("a phrasing of %d bytes; at most %d", text.size(), kMaxBytes));
  }
  SHOAL_ASSIGN_OR_RETURN(NodePointer root, PatternParser(text, lists).Whole());
  if (root->count > kMaxTexts) {
    return runtime::InvalidArgument(
        absl::StrFormat("\"%s\" stands for more than %g texts", std::string(text), kMaxTexts));
  }
  return PhrasePattern(std::string(text), std::move(root));
}

std::string PhrasePattern::Draw(Random& random) const {
  std::string text;
  DrawInto(*root_, random, text);
  return Tidy(text);
}

void PhrasePattern::AddTexts(std::size_t limit, std::set<std::string>& texts) const {
  if (texts.size() >= limit) return;
  for (const std::string& text : TextsOf(*root_, limit)) {
    if (texts.size() >= limit) return;
    texts.insert(Tidy(text));
  }
}

bool PhrasePattern::Generates(std::string_view sentence) const {
  const std::string letters = LettersAndDigits(sentence);
  return Ends(*root_, letters, {0}).contains(letters.size());
}

}  // namespace shoal::redfish
