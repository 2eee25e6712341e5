// SPDX-License-Identifier: Apache-2.0
// The values that a sentence offers to the slots of a request: its words, its numbers, and its
// lists, each described by its shape and its neighbours.
//
// "Add an operator account omar17 with password XK-9." offers among others "omar17", described as
// "value lower digits after operator account before with". Descriptions leave out what looks like a
// value, so the sentences of one phrasing share them, and a policy that has learned where a
// password stands finds one that it never saw. Words of letters alone stay as they are, also names
// of properties such as "SetupPassword", since a slot may have the same words in its name. A URL is
// described by the kind of file that it names, "value url image after from before once", since the
// host in it says nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace shoal::redfish {

struct SentenceValue {
  // A text, an integer, or a list of texts.
  nlohmann::json value;
  std::string description;
  // Whether it is no plain word of the language: a number, a list, or a word with a digit, a
  // capital after its first letter, or punctuation inside. Of a number that is written out, the
  // number is literal and the word is not.
  bool is_literal = false;
  // The place among the words of the sentence that stand for values by more than their letters,
  // such as names with digits, dashes or dots, counted from 0; -1 for everything else.
  int place = -1;
};

// The most values of a sentence. Of more, plain words are left out, those at the end first.
inline constexpr std::size_t kMaximumSentenceValues = 64;

// The kind of file at the end of a URL, by its ending, whatever query follows.
enum class UrlFile : std::uint8_t {
  // A path without an ending, or no path.
  kNone,
  // What a virtual drive takes: .iso or .img.
  kImage,
  kOther,
};
UrlFile FileOfUrl(std::string_view url);

// Returns the number that a word stands for, in figures or, up to twelve, written out; null for
// any other word.
nlohmann::json NumberOf(const std::string& word);

// Returns the values in the order of the sentence: each word without the punctuation around it
// and without the "'s" of an owner,
// each number (also those up to twelve that are written out), and each list of at least two words
// that look like values, such as "a.example, b.example and c.example". "Name=value" gives the name,
// the value and the whole.
std::vector<SentenceValue> ValuesOf(std::string_view sentence);

// Returns the values that have a place, by place, in small letters.
std::vector<std::string> NamesOf(std::string_view sentence);

// Returns the words before, between and after the values of a sentence that have a place: of "drop
// kim7, set omar17 to Operator", "drop", "set" and "to Operator". Returns nothing where fewer than
// two values have one, since then nothing has to be told apart.
std::vector<std::string> TextsAroundValues(std::string_view sentence);

// Returns whether `text`, in lower case, contains `words` as whole words.
bool ContainsWords(std::string_view text, std::string_view words);

}  // namespace shoal::redfish
