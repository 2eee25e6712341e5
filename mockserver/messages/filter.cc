// SPDX-License-Identifier: Apache-2.0
#include "mockserver/messages/filter.h"

#include <array>
#include <cctype>
#include <string>
#include <utility>

#include "redfish/capture/uri.h"

namespace shoal::mockserver {
namespace {

using Json = nlohmann::json;

enum class FilterKind { kAnd, kOr, kNot, kEqual, kNotEqual, kGreater, kAtLeast, kLess, kAtMost };

constexpr std::array<std::pair<std::string_view, FilterKind>, 6> kComparisons = {
    {{"eq", FilterKind::kEqual},
     {"ne", FilterKind::kNotEqual},
     {"gt", FilterKind::kGreater},
     {"ge", FilterKind::kAtLeast},
     {"lt", FilterKind::kLess},
     {"le", FilterKind::kAtMost}}};

bool IsOrdered(const Json& a, const Json& b) {
  return (a.is_number() && b.is_number()) || (a.is_string() && b.is_string());
}

bool IsWordCharacter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
         std::string_view("@._/#-+").find(c) != std::string_view::npos;
}

}  // namespace

struct Filter::Node {
  FilterKind kind = FilterKind::kEqual;
  std::shared_ptr<const Node> left = nullptr;
  std::shared_ptr<const Node> right = nullptr;
  // The operands of a comparison.
  std::string pointer = {};
  Json literal = {};
};

class Filter::Parser {
 public:
  explicit Parser(std::string_view text) : rest_(text) {}

  // Returns null when the text is not a valid condition.
  std::shared_ptr<const Node> Whole() {
    auto node = Either(0);
    SkipSpace();
    return rest_.empty() ? node : nullptr;
  }

 private:
  using Pointer = std::shared_ptr<const Node>;

  Pointer Either(int depth) {
    Pointer left = Both(depth);
    while (left != nullptr && TakeWord("or")) {
      left = Join(FilterKind::kOr, std::move(left), Both(depth));
    }
    return left;
  }
  Pointer Both(int depth) {
    Pointer left = Single(depth);
    while (left != nullptr && TakeWord("and")) {
      left = Join(FilterKind::kAnd, std::move(left), Single(depth));
    }
    return left;
  }
  Pointer Single(int depth) {
    if (depth >= kMaximumDepth) return nullptr;
    if (TakeWord("not")) {
      Pointer inner = Single(depth + 1);
      if (inner == nullptr) return nullptr;
      return std::make_shared<Node>(Node{.kind = FilterKind::kNot, .left = std::move(inner)});
    }
    if (!TakeSign('(')) return Comparison();
    Pointer inner = Either(depth + 1);
    return TakeSign(')') ? inner : nullptr;
  }
  Pointer Comparison() {
    const std::string property(TakeAnyWord());
    if (property.empty() || ++comparisons_ > kMaximumComparisons) return nullptr;
    const std::string_view name = TakeAnyWord();
    for (const auto& [word, kind] : kComparisons) {
      if (word != name) continue;
      std::optional<Json> literal = Literal();
      if (!literal) return nullptr;
      return std::make_shared<Node>(
          Node{.kind = kind, .pointer = "/" + property, .literal = *std::move(literal)});
    }
    return nullptr;
  }
  std::optional<Json> Literal() {
    SkipSpace();
    if (rest_.starts_with('\'')) return Text();
    const std::string_view word = TakeAnyWord();
    if (word.empty()) return std::nullopt;
    Json value = Json::parse(word, nullptr, false);
    if (value.is_discarded() || value.is_structured() || value.is_string()) return std::nullopt;
    return value;
  }
  std::optional<Json> Text() {
    std::string text;
    for (std::size_t i = 1; i < rest_.size(); ++i) {
      if (rest_[i] != '\'') {
        text += rest_[i];
      } else if (i + 1 < rest_.size() && rest_[i + 1] == '\'') {
        text += rest_[i++];
      } else {
        rest_.remove_prefix(i + 1);
        return Json(std::move(text));
      }
    }
    return std::nullopt;
  }

  static Pointer Join(FilterKind kind, Pointer left, Pointer right) {
    if (right == nullptr) return nullptr;
    return std::make_shared<Node>(
        Node{.kind = kind, .left = std::move(left), .right = std::move(right)});
  }
  void SkipSpace() {
    while (!rest_.empty() && rest_.front() == ' ') rest_.remove_prefix(1);
  }
  std::string_view PeekWord() {
    SkipSpace();
    std::size_t length = 0;
    while (length < rest_.size() && IsWordCharacter(rest_[length])) ++length;
    return rest_.substr(0, length);
  }
  std::string_view TakeAnyWord() {
    const std::string_view word = PeekWord();
    rest_.remove_prefix(word.size());
    return word;
  }
  bool TakeWord(std::string_view word) {
    if (PeekWord() != word) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  bool TakeSign(char sign) {
    SkipSpace();
    if (!rest_.starts_with(sign)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  std::string_view rest_;
  int comparisons_ = 0;
};

std::optional<Filter> Filter::Parse(std::string_view text) {
  std::shared_ptr<const Node> root = Parser(text).Whole();
  if (root == nullptr) return std::nullopt;
  return Filter(std::move(root));
}

bool Filter::Matches(const Json& resource) const { return Holds(*root_, resource); }

bool Filter::Holds(const Node& node, const Json& resource) {
  static const Json kNull;
  switch (node.kind) {
    case FilterKind::kAnd:
      return Holds(*node.left, resource) && Holds(*node.right, resource);
    case FilterKind::kOr:
      return Holds(*node.left, resource) || Holds(*node.right, resource);
    case FilterKind::kNot:
      return !Holds(*node.left, resource);
    default:
      break;
  }
  const Json* const found = redfish::Resolve(resource, node.pointer);
  const Json& value = found == nullptr ? kNull : *found;
  if (node.kind == FilterKind::kEqual) return value == node.literal;
  if (node.kind == FilterKind::kNotEqual) return value != node.literal;
  if (!IsOrdered(value, node.literal)) return false;
  switch (node.kind) {
    case FilterKind::kGreater:
      return value > node.literal;
    case FilterKind::kAtLeast:
      return value >= node.literal;
    case FilterKind::kLess:
      return value < node.literal;
    default:
      return value <= node.literal;
  }
}

}  // namespace shoal::mockserver
