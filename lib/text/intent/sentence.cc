// SPDX-License-Identifier: Apache-2.0
#include "text/intent/sentence.h"

#include <absl/strings/ascii.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "text/lexical/words.h"

namespace shoal::intent {
namespace {

constexpr std::string_view kSpaces = " \t\r\n";
constexpr std::size_t kWordsOfToken = 16;
// Stems of one word may differ by an "e", as those of "secure" and "securely" do, from here on.
constexpr std::size_t kShortestStem = 4;
// A quotation with more spaces is long.
constexpr std::ptrdiff_t kMostSpaces = 3;

bool IsLetter(char byte) { return absl::ascii_isalpha(static_cast<unsigned char>(byte)); }
bool IsDigit(char byte) { return absl::ascii_isdigit(static_cast<unsigned char>(byte)); }

bool IsAllOf(std::string_view text, bool (*is)(char)) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is);
}

bool IsUrl(std::string_view text) {
  if (text.find("://") != text.npos) return true;
  constexpr std::array<std::string_view, 4> kEndings = {".iso", ".img", ".bin", ".exe"};
  const std::string lower = absl::AsciiStrToLower(std::string(text));
  const bool is_file = std::any_of(kEndings.begin(), kEndings.end(), [&](std::string_view ending) {
    return lower.size() > ending.size() && std::string_view(lower).ends_with(ending);
  });
  return is_file && text.find('/') != text.npos;
}

// Returns the parts of `text` between dots, or nothing when one is empty.
std::vector<std::string_view> DottedParts(std::string_view text) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::string_view part = text.substr(0, text.find('.'));
    if (part.empty()) return {};
    parts.push_back(part);
    if (part.size() == text.size()) return parts;
    text.remove_prefix(part.size() + 1);
  }
}

bool IsVersion(std::string_view text) {
  if (text.starts_with('v') || text.starts_with('V')) text.remove_prefix(1);
  const std::vector<std::string_view> parts = DottedParts(text);
  if (parts.size() < 2 || parts.size() > 5 || !IsAllOf(parts[0], IsDigit)) return false;
  return IsDigit(parts[1].front());
}

bool IsHost(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  const bool has_port = colon != text.npos && IsAllOf(text.substr(colon + 1), IsDigit);
  if (text.find("::") != text.npos || std::count(text.begin(), text.end(), ':') >= 4) return true;
  if (has_port) text = text.substr(0, colon);
  const std::vector<std::string_view> parts = DottedParts(text);
  if (parts.size() < 2) return false;
  for (const std::string_view part : parts) {
    for (const char byte : part) {
      if (!IsLetter(byte) && !IsDigit(byte) && byte != '-' && byte != '_') return false;
    }
  }
  if (parts.size() == 4 && std::all_of(parts.begin(), parts.end(), [](std::string_view part) {
        return IsAllOf(part, IsDigit) && part.size() <= 3;
      })) {
    return true;
  }
  return IsAllOf(parts.back(), IsLetter) && parts.back().size() >= 2 && parts[0].size() >= 2;
}

TokenKind KindOf(std::string_view text) {
  if (IsUrl(text)) return TokenKind::kUrl;
  if (IsHost(text)) return TokenKind::kHost;
  if (IsVersion(text)) return TokenKind::kVersion;
  return TokenKind::kWord;
}

std::string_view WithoutMarks(std::string_view text) {
  constexpr std::string_view kBefore = "([{<\"'`,;:-";
  constexpr std::string_view kAfter = ")]}>\"'`,;:.?";
  while (!text.empty() && kBefore.find(text.front()) != text.npos) text.remove_prefix(1);
  while (!text.empty() && kAfter.find(text.back()) != text.npos) text.remove_suffix(1);
  return text;
}

// Returns whether the sign at `cut` gives a value to a name, as in "user=kim" and "Numa=Disabled".
// In a password such as "Winter=Coat" or "Rt2=X" it does not: what stands before it is neither a
// word in small letters, nor a property's name, nor one that goals say but for behind "password:",
// and behind it stands no state.
bool IsAssignment(std::string_view text, std::size_t cut, bool is_password,
                  const Speller* speller) {
  static constexpr std::array<std::string_view, 10> kStates = {
      "enabled", "disabled", "enable", "disable", "on", "off", "true", "false", "auto", "no"};
  const std::string_view name = text.substr(0, cut);
  std::string_view behind = WithoutMarks(text.substr(cut + 1));
  while (behind.ends_with('!')) behind.remove_suffix(1);
  const std::string state = absl::AsciiStrToLower(std::string(behind));
  if (std::find(kStates.begin(), kStates.end(), state) != kStates.end()) return true;
  if (!IsAllOf(name, IsLetter)) return false;
  const auto is_capital = [](char byte) {
    return absl::ascii_isupper(static_cast<unsigned char>(byte));
  };
  // "Winter" has one capital in front, "AssetTag" another one.
  const auto capitals = std::count_if(name.begin(), name.end(), is_capital);
  const bool is_plain_word = capitals == 1 && is_capital(name.front());
  return !is_plain_word || speller == nullptr || (!is_password && speller->IsPhrased(name));
}

// Returns whether a slash is part of a value, as in "INV/3007" and "Roter/Hut8", rather than
// between a user and a password or two passwords: what stands before it has a capital and is no
// administrator, and only one side has a digit.
bool HasSlashInside(std::string_view text) {
  static constexpr std::array<std::string_view, 3> kUsers = {"administrator", "admin", "root"};
  const std::string_view before = text.substr(0, text.find('/'));
  const bool has_capital = std::any_of(before.begin(), before.end(), [](char byte) {
    return absl::ascii_isupper(static_cast<unsigned char>(byte));
  });
  const bool is_user = std::find(kUsers.begin(), kUsers.end(),
                                 absl::AsciiStrToLower(std::string(before))) != kUsers.end();
  const std::string_view after = text.substr(before.size());
  const auto has_digit = [](std::string_view side) {
    return std::any_of(side.begin(), side.end(), IsDigit);
  };
  return has_capital && !is_user && has_digit(before) != has_digit(after);
}

bool EndsClause(char byte) {
  return std::string_view(",;.!?").find(byte) != std::string_view::npos;
}

// Returns whether a word is the number of an item of a list: "2)", "(b)", and "b)" where no
// parenthesis is open.
bool IsItem(std::string_view text, bool is_open) {
  constexpr std::size_t kLongest = 2;
  if (!text.ends_with(')')) return false;
  text.remove_suffix(1);
  const bool is_enclosed = text.starts_with('(');
  if (is_enclosed) text.remove_prefix(1);
  if (text.size() > kLongest) return false;
  const bool is_letter = text.size() == 1 && IsLetter(text.front());
  return IsAllOf(text, IsDigit) || (is_letter && (is_enclosed || !is_open));
}

// Returns whether a word of signs begins an item of a list.
bool IsBullet(std::string_view text) {
  static constexpr std::array<std::string_view, 5> kBullets = {"\u2022", "*", "|", "[", "[]"};
  return std::find(kBullets.begin(), kBullets.end(), text) != kBullets.end();
}

// Returns whether a word of signs stands between what is said apart: a dash, or the box of a list.
bool IsSeparator(std::string_view text) {
  static constexpr std::array<std::string_view, 4> kDashes = {"-", "--", "\u2013", "\u2014"};
  return IsBullet(text) || std::find(kDashes.begin(), kDashes.end(), text) != kDashes.end();
}

// Returns the length of the ticket's number at the beginning, with what separates it from the rest.
std::size_t TicketLength(std::string_view text) {
  static constexpr std::array<std::string_view, 12> kNames = {"ticket", "inc",      "chg",  "req",
                                                              "task",   "case",     "jira", "issue",
                                                              "change", "incident", "ritm", "sr"};
  std::size_t at = text.find_first_not_of("([ #");
  if (at == text.npos) return 0;
  const std::size_t start = at;
  while (at < text.size() && IsLetter(text[at])) ++at;
  const std::string name = absl::AsciiStrToLower(std::string(text.substr(start, at - start)));
  const bool known = std::find(kNames.begin(), kNames.end(), name) != kNames.end();
  if (!known && !(name.empty() && at > 0)) return 0;
  at = std::min(text.find_first_not_of("- #:", at), text.size());
  const std::size_t digits = at;
  while (at < text.size() && (IsDigit(text[at]) || text[at] == '-')) ++at;
  if (at == digits) return 0;
  const std::size_t end = text.find_first_not_of(")]:- ,", at);
  if (end == text.npos) return 0;
  const bool separated = text.substr(at, end - at).find_first_not_of(' ') != text.npos;
  return separated ? end : 0;
}

// Returns whether a quotation is what somebody said, and no value: it is long, and none of the
// tokens shortly before it asks for a value.
bool IsSaying(std::string_view quotation, const std::vector<Token>& before) {
  static constexpr std::array<std::string_view, 5> kNaming = {"tag", "label", "number", "password",
                                                              "passphrase"};
  constexpr std::size_t kReach = 3;
  if (std::count(quotation.begin(), quotation.end(), ' ') <= kMostSpaces) return false;
  for (std::size_t back = 1; back <= std::min(kReach, before.size()); ++back) {
    const std::string text = absl::AsciiStrToLower(before[before.size() - back].text);
    if (std::find(kNaming.begin(), kNaming.end(), text) != kNaming.end()) return false;
  }
  return true;
}

// Returns where the first of `marks` stands that ends a word; npos where none does. A comma before
// "or" only goes on.
std::size_t FirstMark(std::string_view text, std::string_view marks) {
  for (std::size_t at = text.find_first_of(marks); at != text.npos;
       at = text.find_first_of(marks, at + 1)) {
    const bool ends_word = at + 1 == text.size() || kSpaces.find(text[at + 1]) != kSpaces.npos;
    if (ends_word && !text.substr(at).starts_with(", or ")) return at;
  }
  return text.npos;
}

bool AsksForInformation(std::string_view text) {
  static constexpr std::array<std::string_view, 13> kAsking = {
      "is ",      "are ",           "was ",         "does ",     "do ",
      "did ",     "has ",           "can i use ",   "should i ", "should we ",
      "shall i ", "would it hurt ", "do you think "};
  // "Is it possible to", "is there a way to", "do you mind" ask for an action.
  static constexpr std::array<std::string_view, 6> kWondering = {"what ", "which ", "who ",
                                                                 "how ",  "where ", "why "};
  static constexpr std::array<std::string_view, 6> kRequesting = {
      "is it ", "is there ", "do you ", "are you ", "how about ", "what about "};
  std::string lower = absl::AsciiStrToLower(std::string(text));
  lower.erase(lower.find_last_not_of(kSpaces) + 1);
  if (!lower.ends_with('?')) return false;
  const auto begins = [&lower](std::string_view start) { return lower.starts_with(start); };
  const bool wonders = std::any_of(kWondering.begin(), kWondering.end(), begins) &&
                       FirstMark(lower, "?!;") == lower.size() - 1 &&
                       lower.find(". ") == lower.npos &&
                       std::none_of(kRequesting.begin(), kRequesting.end(), begins);
  if (wonders) return true;
  return std::any_of(kAsking.begin(), kAsking.end(), begins) &&
         (lower.starts_with("do you think ") ||
          std::none_of(kRequesting.begin(), kRequesting.end(), begins)) &&
         FirstMark(lower, "?!;:,") == lower.size() - 1 && lower.find(". ") == lower.npos;
}

}  // namespace

Sentence::Sentence(std::string_view text, const Speller* speller) {
  text = text.substr(0, kMaxBytes);
  text.remove_prefix(TicketLength(text));
  is_question_ = AsksForInformation(text);
  const std::size_t mark = FirstMark(text, "?");
  const std::string_view behind_question =
      !is_question_ && mark != text.npos && AsksForInformation(text.substr(0, mark + 1))
          ? text.substr(mark + 1)
          : std::string_view();
  const std::size_t last_byte = text.find_last_not_of(kSpaces);
  has_question_ = last_byte != text.npos && text[last_byte] == '?';
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kQuotes = {
      {{"\"", "\""}, {"`", "`"}, {"\u201c", "\u201d"}, {"'", "'"}}};
  // How many parentheses are open.
  std::ptrdiff_t open = 0;
  while (!text.empty()) {
    const std::size_t start = std::min(text.find_first_not_of(kSpaces), text.size());
    text.remove_prefix(start);
    if (text.empty()) break;
    bool quoted = false;
    for (const auto& [open, close] : kQuotes) {
      const std::size_t inside = open.size() + (text.starts_with("(") ? 1 : 0);
      const bool opens = text.substr(inside - open.size()).starts_with(open);
      const std::size_t end = opens ? text.find(close, inside) : text.npos;
      if (end == text.npos || end == inside) continue;
      const std::string_view inner = text.substr(inside, end - inside);
      if (IsSaying(inner, tokens_)) continue;
      Add(inner, true, speller);
      text.remove_prefix(end + close.size());
      if (!text.empty() && EndsClause(text.front())) {
        ++clause_;
        statement_ += text.front() == ',' ? 0 : 1;
      }
      quoted = true;
      break;
    }
    if (quoted) continue;
    const std::size_t end = std::min(text.find_first_of(kSpaces), text.size());
    const std::string_view part = text.substr(0, end);
    const bool is_item = IsItem(part, open > 0);
    if (IsBullet(part) || is_item) ++statement_;
    if (IsSeparator(part) || is_item) ++clause_;
    if (!is_item) {
      open += std::count(part.begin(), part.end(), '(') - std::count(part.begin(), part.end(), ')');
      open = std::max<std::ptrdiff_t>(open, 0);
    }
    if (!IsSeparator(part)) Add(part, false, speller);
    const std::size_t last = part.find_last_not_of(")]\"'");
    if (last != part.npos && EndsClause(part[last])) {
      ++clause_;
      statement_ += part[last] == ',' ? 0 : 1;
    }
    if (part.ends_with(':') && !tokens_.empty()) tokens_.back().before_colon = true;
    text.remove_prefix(end);
    if (!behind_question.empty() && clause_behind_question_ == 0 &&
        text.size() <= behind_question.size()) {
      clause_behind_question_ = clause_;
    }
  }
  AddWords(speller);
}

void Sentence::AddToken(std::string text, TokenKind kind) {
  tokens_.push_back(
      {.text = std::move(text), .kind = kind, .clause = clause_, .statement = statement_});
}

void Sentence::Add(std::string_view text, bool quoted, const Speller* speller) {
  if (quoted) {
    const TokenKind kind = KindOf(text);
    AddToken(std::string(text), kind == TokenKind::kWord ? TokenKind::kQuoted : kind);
    return;
  }
  const std::size_t arrow = std::min({text.find("->"), text.find("=>"), text.find("\u2192")});
  if (arrow != text.npos) {
    Add(text.substr(0, arrow), false, speller);
    AddToken("to", TokenKind::kWord);
    Add(text.substr(arrow + (text[arrow] == '-' || text[arrow] == '=' ? 2 : 3)), false, speller);
    return;
  }
  if (text == "=" || text == ":=") text = "to";
  if (text == "w/") text = "with";
  text = WithoutMarks(text);
  if (text.empty()) return;
  const TokenKind kind = KindOf(text);
  if (kind == TokenKind::kWord) {
    static constexpr std::array<std::string_view, 4> kPasswords = {"password", "passwd", "pass",
                                                                   "pw"};
    const bool is_password =
        !tokens_.empty() && tokens_.back().before_colon &&
        std::find(kPasswords.begin(), kPasswords.end(),
                  absl::AsciiStrToLower(tokens_.back().text)) != kPasswords.end();
    std::size_t cut = text.find('=');
    if (cut != text.npos && !IsAssignment(text, cut, is_password, speller)) cut = text.npos;
    if (cut == text.npos && !HasSlashInside(text)) cut = text.find('/');
    if (cut == text.npos || cut == 0) {
      cut = text.find(':');
      if (cut != text.npos && !IsAllOf(text.substr(0, cut), IsLetter)) cut = text.npos;
    }
    if (cut != text.npos && cut > 0 && cut + 1 < text.size()) {
      Add(text.substr(0, cut), false, speller);
      Add(text.substr(cut + 1), false, speller);
      return;
    }
  }
  AddToken(std::string(text), kind);
}

void Sentence::AddWords(const Speller* speller) {
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    Token& token = tokens_[i];
    lower_.push_back(absl::AsciiStrToLower(token.text));
    token.first_word = words_.size();
    if (token.kind == TokenKind::kUrl) {
      words_.push_back("<url>");
    } else if (token.kind == TokenKind::kHost && token.text.find("invalid") == token.text.npos) {
      words_.push_back("<host>");
    } else if (token.kind == TokenKind::kVersion) {
      words_.push_back("<version>");
    } else {
      const bool is_word = token.kind == TokenKind::kWord;
      if (is_word && speller != nullptr) {
        token.meant = speller->Meant(token.text).value_or("");
        token.is_right = !token.meant.empty() || speller->Knows(token.text);
      }
      if (is_word && MeansOff(i)) token.meant = "off";
      tokens::AppendWords(token.meant.empty() ? token.text : token.meant,
                          words_.size() + kWordsOfToken, words_);
    }
    token.end_word = words_.size();
    token_of_.resize(words_.size(), i);
  }
}

// "Switch of the WLAN" has lost a letter, "the power switch of the server" has not.
bool Sentence::MeansOff(std::size_t token) const {
  static constexpr std::array<std::string_view, 4> kVerbs = {"switch", "switched", "turn",
                                                             "turned"};
  static constexpr std::array<std::string_view, 12> kBefore = {"please", "pls", "kindly", "just",
                                                               "to",     "and", "then",   "must",
                                                               "should", "can", "could",  "you"};
  const auto is_one = [this](const auto& all, std::size_t at) {
    return std::find(all.begin(), all.end(), lower_[at]) != all.end();
  };
  if (token == 0 || lower_[token] != "of" || !is_one(kVerbs, token - 1)) return false;
  const std::size_t clause = tokens_[token].clause;
  if (tokens_[token - 1].clause != clause) return false;
  return token == 1 || tokens_[token - 2].clause != clause || is_one(kBefore, token - 2);
}

bool Sentence::Says(std::size_t at, std::string_view stem) const {
  const std::string_view word = words_[at];
  if (word == stem) return true;
  const auto is_other_with_e = [](std::string_view shorter, std::string_view longer) {
    return shorter.size() >= kShortestStem && longer.size() == shorter.size() + 1 &&
           longer.ends_with('e') && longer.starts_with(shorter);
  };
  if (is_other_with_e(word, stem) || is_other_with_e(stem, word)) return true;
  return !tokens_[token_of_[at]].is_right && IsNearly(word, stem);
}

Sentence Sentence::WithAttributes(const std::set<std::size_t>& words) const {
  Sentence changed = *this;
  std::vector<std::string> stems;
  tokens::AppendWords("attribute", 1, stems);
  for (const std::size_t word : words) {
    changed.words_[word] = stems.front();
    // The classifier learns attributes by this one.
    changed.tokens_[token_of_[word]].meant = "ProcVirtualization";
  }
  return changed;
}

bool IsNearly(std::string_view word, std::string_view stem) {
  if (word == stem) return true;
  constexpr std::size_t kShortest = 5;
  if (word.size() > stem.size()) std::swap(word, stem);
  if (word.size() + 1 < kShortest || stem.size() < kShortest) return false;
  if (word.front() != stem.front() || stem.size() - word.size() > 1) return false;
  std::size_t same = 0;
  while (same < word.size() && word[same] == stem[same]) ++same;
  const std::string_view word_rest = word.substr(same);
  const std::string_view stem_rest = stem.substr(same);
  if (word.size() < stem.size()) return word_rest == stem_rest.substr(1);
  return word_rest.size() >= 2 && word_rest[0] == stem_rest[1] && word_rest[1] == stem_rest[0] &&
         word_rest.substr(2) == stem_rest.substr(2);
}

}  // namespace shoal::intent
