// SPDX-License-Identifier: Apache-2.0
#include "redfish/goals/sentence_values.h"

#include <absl/strings/ascii.h>
#include <absl/strings/numbers.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

namespace shoal::redfish {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kWordsBefore = 2;
constexpr std::size_t kWordsAfter = 1;
constexpr std::string_view kOutside = " ,.;:!?()[]{}\"'`";
constexpr std::string_view kAfterScheme = "://";

struct Word {
  std::string text;
  // What stands between the word and the next one, apart from spaces.
  std::string separator;
  // "Name=value" for the value, as a password may have the sign itself; else empty.
  std::string whole;
};

bool IsLower(char c) { return absl::ascii_islower(static_cast<unsigned char>(c)) != 0; }
bool IsUpper(char c) { return absl::ascii_isupper(static_cast<unsigned char>(c)) != 0; }
bool IsDigit(char c) { return absl::ascii_isdigit(static_cast<unsigned char>(c)) != 0; }
bool IsWordCharacter(char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)) != 0; }

// Returns the place of the "=" in a word such as "AssetTag=DC-14"; npos in other words, as in a URL
// with a query.
std::size_t FindAssignment(std::string_view word) {
  const std::size_t equals = word.find('=');
  if (equals == word.npos || equals == 0 || equals + 1 == word.size()) return word.npos;
  const std::string_view name = word.substr(0, equals);
  const bool is_name = std::all_of(name.begin(), name.end(), [](char c) {
    return IsWordCharacter(c) || c == '_' || c == '-' || c == '.';
  });
  return is_name ? equals : word.npos;
}

// Returns the length of the "'s" at the end of a word, or 0.
std::size_t PossessiveOf(std::string_view word) {
  for (const std::string_view ending : {"'s", "\u2019s"}) {
    if (word.size() > ending.size() && word.ends_with(ending)) return ending.size();
  }
  return 0;
}

std::vector<Word> WordsOf(std::string_view sentence) {
  std::vector<Word> words;
  std::size_t at = 0;
  while (at < sentence.size()) {
    const std::size_t space = std::min(sentence.find(' ', at), sentence.size());
    std::string_view word = sentence.substr(at, space - at);
    at = space + 1;
    const std::size_t begin = word.find_first_not_of(kOutside);
    if (begin == std::string_view::npos) {
      if (!words.empty()) words.back().separator += word;
      continue;
    }
    std::size_t end = word.find_last_not_of(kOutside) + 1;
    end -= PossessiveOf(word.substr(begin, end - begin));
    if (!words.empty()) words.back().separator += word.substr(0, begin);
    const std::string after(word.substr(end));
    word = word.substr(begin, end - begin);
    const std::size_t equals = FindAssignment(word);
    if (equals == std::string_view::npos) {
      words.push_back({std::string(word), after, ""});
      continue;
    }
    words.push_back({std::string(word.substr(0, equals)), "=", ""});
    words.push_back({std::string(word.substr(equals + 1)), after, std::string(word)});
  }
  return words;
}

// A word that is no plain word of the language: it has a digit, a capital after its first letter,
// or punctuation inside.
bool LooksLikeValue(std::string_view word) {
  for (std::size_t i = 0; i < word.size(); ++i) {
    if (IsDigit(word[i]) || (i > 0 && IsUpper(word[i]))) return true;
    if (!IsWordCharacter(word[i]) && word[i] != '-' && word[i] != '\'') return true;
  }
  return false;
}

std::string_view ClassOf(char c) {
  if (IsLower(c)) return "lower";
  if (IsUpper(c)) return "upper";
  if (IsDigit(c)) return "digits";
  switch (c) {
    case '-':
      return "dash";
    case '.':
      return "dot";
    case '/':
      return "slash";
    case ':':
      return "colon";
    case '_':
      return "underscore";
    case '@':
      return "at";
    default:
      return "sign";
  }
}

// Returns the classes of the word's characters, each once for a run of equal ones: "upper dash
// digits". At most six runs are told. A URL has the kind of its file instead.
std::string ShapeOf(std::string_view word) {
  constexpr std::size_t kMostRuns = 6;
  if (word.find(kAfterScheme) != word.npos) {
    switch (FileOfUrl(word)) {
      case UrlFile::kNone:
        return "url";
      case UrlFile::kImage:
        return "url image";
      case UrlFile::kOther:
        return "url file";
    }
  }
  std::string shape;
  std::string_view last;
  std::size_t runs = 0;
  for (const char c : word) {
    const std::string_view now = ClassOf(c);
    if (now == last) continue;
    if (++runs > kMostRuns) break;
    last = now;
    shape += (shape.empty() ? "" : " ") + std::string(now);
  }
  return shape;
}

// Names of properties, such as "AssetTag", have letters only.
bool IsMoreThanLetters(std::string_view word) {
  return LooksLikeValue(word) &&
         !std::all_of(word.begin(), word.end(), [](char c) { return IsLower(c) || IsUpper(c); });
}

bool HasPlace(const std::string& word) {
  return IsMoreThanLetters(word) && NumberOf(word).is_null();
}

std::string Neighbour(const Word& word) {
  return IsMoreThanLetters(word.text) ? "value" : absl::AsciiStrToLower(word.text);
}

std::string Described(const std::string& word) {
  return IsMoreThanLetters(word) ? "value " + ShapeOf(word) : "word " + word;
}

// Describes the words [begin, end) by what stands around them.
std::string Around(const std::vector<Word>& words, std::size_t begin, std::size_t end) {
  std::string text;
  for (std::size_t i = begin - std::min(begin, kWordsBefore); i < begin; ++i) {
    text += " " + Neighbour(words[i]);
  }
  text = " after" + (text.empty() ? " nothing" : text) + " before";
  for (std::size_t i = end; i < std::min(words.size(), end + kWordsAfter); ++i) {
    text += " " + Neighbour(words[i]);
  }
  return end == words.size() ? text + " nothing" : text;
}

// Returns the end of the list that begins at `begin`: words that look like values with commas or
// "and" between them.
std::size_t EndOfList(const std::vector<Word>& words, std::size_t begin) {
  std::size_t end = begin;
  for (std::size_t i = begin; i < words.size() && LooksLikeValue(words[i].text); ++i) {
    end = i + 1;
    const bool joined = words[i].separator.find(',') != std::string::npos;
    const bool before_and = end < words.size() && words[end].text == "and";
    if (before_and) {
      ++i;
    } else if (!joined) {
      break;
    }
  }
  return end;
}

// Leaves out plain words at the end of the sentence where there are too many values, and then
// literals.
void LeaveOutWords(std::vector<SentenceValue>& values) {
  const auto is_literal = [](const SentenceValue& value) { return value.is_literal; };
  const auto literals =
      static_cast<std::size_t>(std::count_if(values.begin(), values.end(), is_literal));
  std::size_t words = kMaximumSentenceValues - std::min(kMaximumSentenceValues, literals);
  std::erase_if(values, [&words](const SentenceValue& value) {
    if (value.is_literal) return false;
    if (words == 0) return true;
    --words;
    return false;
  });
  if (values.size() > kMaximumSentenceValues) {
    values.erase(values.begin() + kMaximumSentenceValues, values.end());
  }
}

}  // namespace

UrlFile FileOfUrl(std::string_view url) {
  url = url.substr(0, url.find_first_of("?#"));
  const std::size_t scheme = url.find(kAfterScheme);
  if (scheme != url.npos) url.remove_prefix(scheme + kAfterScheme.size());
  const std::size_t slash = url.rfind('/');
  const std::size_t dot = url.rfind('.');
  if (slash == url.npos || dot == url.npos || dot < slash) return UrlFile::kNone;
  const std::string ending = absl::AsciiStrToLower(std::string(url.substr(dot)));
  return ending == ".iso" || ending == ".img" ? UrlFile::kImage : UrlFile::kOther;
}

nlohmann::json NumberOf(const std::string& word) {
  static const std::array<std::string_view, 13> kNumbers = {
      "zero",  "one",   "two",  "three", "four",   "five",  "six",
      "seven", "eight", "nine", "ten",   "eleven", "twelve"};
  std::int64_t number = 0;
  if (absl::SimpleAtoi(word, &number)) return number;
  const auto found = std::find(kNumbers.begin(), kNumbers.end(), absl::AsciiStrToLower(word));
  return found == kNumbers.end() ? Json() : Json(found - kNumbers.begin());
}

std::vector<SentenceValue> ValuesOf(std::string_view sentence) {
  const std::vector<Word> words = WordsOf(sentence);
  std::vector<SentenceValue> values;
  std::size_t listed = 0;
  int place = 0;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i].text;
    const std::string around = Around(words, i, i + 1);
    const bool is_value = LooksLikeValue(word);
    const Json number = NumberOf(word);
    values.push_back({word, Described(word) + around, is_value, HasPlace(word) ? place++ : -1});
    if (const std::string& whole = words[i].whole; !whole.empty()) {
      values.push_back({whole, "value " + ShapeOf(whole) + around, /*is_literal=*/true});
    }
    if (!number.is_null()) values.push_back({number, "number" + around, /*is_literal=*/true});
    if (i < listed || !is_value) continue;
    listed = EndOfList(words, i);
    Json list = Json::array();
    for (std::size_t j = i; j < listed; ++j) {
      if (words[j].text != "and") list.push_back(words[j].text);
    }
    if (list.size() > 1) {
      values.push_back({list, "list" + Around(words, i, listed), /*is_literal=*/true});
    }
  }
  LeaveOutWords(values);
  return values;
}

std::vector<std::string> TextsAroundValues(std::string_view sentence) {
  std::vector<std::string> texts(1);
  for (const Word& word : WordsOf(sentence)) {
    if (HasPlace(word.text)) {
      texts.emplace_back();
    } else {
      texts.back() += (texts.back().empty() ? "" : " ") + word.text;
    }
  }
  if (texts.size() < 3) texts.clear();
  return texts;
}

bool ContainsWords(std::string_view text, std::string_view words) {
  for (std::size_t at = text.find(words); at != std::string_view::npos;
       at = text.find(words, at + 1)) {
    const std::size_t end = at + words.size();
    const bool begins = at == 0 || !IsWordCharacter(text[at - 1]);
    if (begins && (end == text.size() || !IsWordCharacter(text[end]))) return true;
  }
  return false;
}

std::vector<std::string> NamesOf(std::string_view sentence) {
  std::vector<std::string> names;
  for (const SentenceValue& value : ValuesOf(sentence)) {
    if (value.place >= 0) names.push_back(absl::AsciiStrToLower(value.value.get<std::string>()));
  }
  return names;
}

}  // namespace shoal::redfish
