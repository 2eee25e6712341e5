// SPDX-License-Identifier: Apache-2.0
#include "text/intent/capture_names.h"

#include <absl/strings/ascii.h>
#include <absl/strings/match.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <string_view>
#include <utility>

#include "redfish/capture/landmarks.h"
#include "redfish/capture/uri.h"
#include "redfish/goals/goal_places.h"
#include "redfish/schema/attribute_registry.h"
#include "text/lexical/words.h"

namespace shoal::intent {
namespace {

using Json = nlohmann::json;
using redfish::Capture;

constexpr std::size_t kWordsOfName = 24;

std::vector<std::string> WordsOf(std::string_view text) {
  std::vector<std::string> words;
  tokens::AppendWords(text, kWordsOfName, words);
  return words;
}

std::string Joined(const std::vector<std::string>& words) {
  std::string joined;
  for (const std::string& word : words) joined += word;
  return joined;
}

// Returns whether the word at `at` is a preposition: "on" in "on the server".
bool IsPreposition(const std::vector<std::string>& words, std::size_t at) {
  static constexpr std::array<std::string_view, 13> kAfter = {
      "the",    "this",    "that", "our", "my",   "all", "<host>",
      "server", "default", "top",  "it",  "them", "us"};
  return words[at] == "on" && at + 1 < words.size() &&
         std::find(kAfter.begin(), kAfter.end(), words[at + 1]) != kAfter.end();
}

// Returns the length of the longest run of `name`'s words that the sentence has at `at`.
std::size_t LongestRun(const std::vector<std::string>& words, std::size_t at,
                       const std::vector<std::string>& name) {
  std::size_t longest = 0;
  for (std::size_t start = 0; start < name.size(); ++start) {
    std::size_t length = 0;
    while (at + length < words.size() && start + length < name.size() &&
           words[at + length] == name[start + length]) {
      ++length;
    }
    longest = std::max(longest, length);
  }
  return longest;
}

// What a sentence says against a value.
enum class Denial {
  kNone,
  // "It is not enabled yet."
  kTold,
  // "It must not stay enabled."
  kWished,
};

// Returns how the words before the one at `at`, in its clause, deny it.
Denial DenialOf(const Sentence& sentence, std::size_t at) {
  static constexpr std::array<std::string_view, 5> kDenying = {"not", "no", "never", "dont", "don"};
  static constexpr std::array<std::string_view, 3> kStates = {"activ", "enabl", "disabl"};
  static constexpr std::array<std::string_view, 4> kUses = {"needed", "required", "used",
                                                            "allowed"};
  static constexpr std::array<std::string_view, 3> kWishing = {"must", "should", "shall"};
  constexpr std::size_t kReach = 3;
  const std::vector<std::string>& words = sentence.words();
  const auto is_one = [](const auto& all, std::string_view word) {
    return std::find(all.begin(), all.end(), word) != all.end();
  };
  for (std::size_t back = 1; back <= std::min(kReach, at); ++back) {
    const std::size_t word = at - back;
    const bool is_apart = sentence.ClauseOf(word) != sentence.ClauseOf(at);
    if (is_apart || words[word] == "but" || words[word] == "forget") return Denial::kNone;
    // "Not active (disabled)" and "not needed, off" deny what stands nearer.
    const bool is_participle = is_one(kUses, sentence.TextAt(word)) && words[word + 1] != "to";
    if (is_one(kStates, words[word]) || is_participle) return Denial::kNone;
    const bool is_number = words[word + 1].find_first_of("0123456789") != std::string::npos;
    if (!is_one(kDenying, words[word]) || is_number) continue;
    return word > 0 && is_one(kWishing, words[word - 1]) ? Denial::kWished : Denial::kTold;
  }
  return Denial::kNone;
}

bool IsAfter(const std::vector<std::string>& words, std::size_t at,
             std::initializer_list<std::string_view> before) {
  return at > 0 && std::find(before.begin(), before.end(), words[at - 1]) != before.end();
}

}  // namespace

CaptureNames::Wording::Wording(std::vector<std::string> text) : words(std::move(text)) {
  joined = Joined(words);
  has_digits = joined.find_first_of("0123456789") != joined.npos;
}

std::vector<CaptureNames::Wording> CaptureNames::WaysToSay(const Json& value) {
  // A number is compared as one.
  if (value.is_null()) return {};
  if (!value.is_string()) return {Wording(WordsOf(value.dump()))};
  const std::string text = value;
  std::vector<std::string> ways = {text};
  if (text == "Enabled" || text == "On") {
    ways.insert(ways.end(), {"on", "enable", "activate", "activation", "true"});
  }
  if (text == "Disabled" || text == "Off") {
    ways.insert(ways.end(),
                {"off", "disable", "deactivate", "false", "inactive", "kill", "deactivation",
                 "out of service", "forbid", "shut down", "get rid of"});
  }
  std::vector<Wording> wordings;
  for (const std::string& way : ways) wordings.emplace_back(WordsOf(way));
  return wordings;
}

std::size_t CaptureNames::EndOf(const Wording& wording, const std::vector<std::string>& words,
                                std::size_t at) {
  const std::string& wanted = wording.joined;
  // No slip of the finger changes the first letter (IsNearly).
  if (wanted.empty() || words[at].front() != wanted.front()) return 0;
  std::string said;
  for (std::size_t end = at; end < words.size() && said.size() < wanted.size();) {
    said += words[end++];
    if (said == wanted) return end;
    if (!wording.has_digits && said.size() + 1 >= wanted.size() && IsNearly(said, wanted)) {
      return end;
    }
  }
  return 0;
}

CaptureNames::CaptureNames(const Capture& capture) {
  const std::string system = redfish::FindLandmarks(capture).system;
  AddAttributes(capture, system);
  AddBootOptions(capture, system);
}

void CaptureNames::AddAttributeName(const std::string& attribute, const std::string& text) {
  std::vector<std::string> words = WordsOf(text);
  if (!words.empty()) attributes_.push_back({attribute, Wording(std::move(words))});
}

void CaptureNames::AddAttributes(const Capture& capture, const std::string& system) {
  redfish::GoalPlace place;
  place.name = "bios";
  place.from = "system";
  place.links = {"/Bios"};
  place.optional = true;
  const auto places = redfish::FindPlaces({place}, redfish::FindLandmarks(capture), capture);
  const auto found = places.ok() ? places->find("bios") : redfish::Places::const_iterator();
  const bool has_bios = places.ok() && found != places->end() && !system.empty();
  const Json* const bios = has_bios ? capture.Find(found->second) : nullptr;
  const Json* const all = bios == nullptr ? nullptr : redfish::Resolve(*bios, "/Attributes");
  if (all == nullptr || !all->is_object()) return;
  const auto registry =
      redfish::FindAttributeRegistry(capture, redfish::TextAt(*bios, "AttributeRegistry"));
  std::map<std::vector<std::string>, std::set<std::string>> spoken;
  for (const auto& [name, value] : all->items()) {
    if (registry && registry->IsPassword(name)) continue;
    AddAttributeName(name, name);
    std::vector<std::string> words = WordsOf(name);
    if (words.size() > 1 && words.front() == "proc") {
      words.erase(words.begin());
      spoken[words].insert(name);
      words.insert(words.begin(), {"processor"});
      spoken[words].insert(name);
    }
    std::vector<Json> values;
    const redfish::Property* const property = registry ? registry->Find(name) : nullptr;
    if (property != nullptr) {
      const std::vector<std::string> shown = WordsOf(registry->DisplayName(name));
      if (shown.size() > 1) spoken[shown].insert(name);
      values.assign(property->values.begin(), property->values.end());
    }
    if (values.empty() && value.is_string()) values = {"Enabled", "Disabled", value};
    if (value.is_boolean()) values = {true, false};
    if (value.is_number()) values = {Json()};
    std::vector<NamedValue>& named = values_[name];
    for (const Json& one : values) named.push_back({one, WaysToSay(one)});
  }
  for (const auto& [words, names] : spoken) {
    const bool long_enough = Joined(words).size() >= 8;
    if (names.size() == 1 && long_enough) attributes_.push_back({*names.begin(), Wording(words)});
  }
}

void CaptureNames::AddBootOptions(const Capture& capture, const std::string& system) {
  const Json* const body = capture.Find(system);
  const Json* const order = body == nullptr ? nullptr : redfish::Resolve(*body, "/Boot/BootOrder");
  if (order == nullptr || !order->is_array()) return;
  for (const Json& entry : *order) {
    if (!entry.is_string()) continue;
    boot_references_.push_back({entry, Wording(WordsOf(entry.get<std::string>()))});
  }
  const Json* const link = redfish::Resolve(*body, "/Boot/BootOptions");
  const Json* const options = link == nullptr ? nullptr : capture.Find(redfish::LinkTarget(*link));
  if (options == nullptr) return;
  for (const std::string& uri : redfish::MemberUris(*options)) {
    const Json* const option = capture.Find(uri);
    if (option == nullptr) continue;
    const std::string reference = redfish::TextAt(*option, "BootOptionReference");
    const bool listed = std::find(order->begin(), order->end(), reference) != order->end();
    std::vector<std::string> words = WordsOf(redfish::TextAt(*option, "DisplayName"));
    if (listed && words.size() > 1) boot_titles_.push_back({reference, Wording(std::move(words))});
  }
}

std::vector<NameMatch> CaptureNames::Attributes(const Sentence& sentence) const {
  const std::vector<std::string>& words = sentence.words();
  std::vector<NameMatch> matches;
  for (std::size_t at = 0; at < words.size();) {
    NameMatch best;
    for (const Name& name : attributes_) {
      const std::size_t end = EndOf(name.wording, words, at);
      // A name of one plain word may be an ordinary word, so it must be written as the name is.
      const bool plain = end == at + 1 && name.wording.words.size() == 1;
      const std::string& text = sentence.tokens()[sentence.TokenOf(at)].text;
      const bool whole = end != 0 && sentence.tokens()[sentence.TokenOf(at)].first_word == at &&
                         sentence.tokens()[sentence.TokenOf(end - 1)].end_word == end;
      if (!whole || (plain && text != name.name && text.size() < 9)) continue;
      const bool exact = absl::EqualsIgnoreCase(text, name.name);
      if (end > best.end || (end == best.end && exact && !best.exact)) {
        best = {name.name, at, end, exact};
      }
    }
    if (best.end == 0) {
      ++at;
      continue;
    }
    at = best.end;
    matches.push_back(std::move(best));
  }
  return matches;
}

std::optional<Json> CaptureNames::Value(const Sentence& sentence, const std::string& attribute,
                                        std::size_t begin, std::size_t end, bool loosely) const {
  const auto values = values_.find(attribute);
  if (values == values_.end()) return std::nullopt;
  const std::vector<std::string>& words = sentence.words();
  std::optional<Json> found;
  std::size_t found_at = 0;
  std::size_t found_end = 0;
  bool found_weak = true;
  Denial found_denial = Denial::kNone;
  const auto offer = [&](Json value, std::size_t at, std::size_t to) {
    const Denial denial = DenialOf(sentence, at);
    const bool weak = denial != Denial::kNone ||
                      IsAfter(words, at, {"from", "of", "than", "still", "current", "found"});
    const bool follows_to = IsAfter(words, at, {"to", "at", "is", "be", "becom", "as", "want"});
    const bool better = !found || (found_weak && !weak) ||
                        (found_weak == weak && (at == found_at ? to > found_end : follows_to));
    if (!better) return;
    found = std::move(value);
    found_at = at;
    found_end = to;
    found_weak = weak;
    found_denial = denial;
  };
  for (std::size_t at = begin; at < end; ++at) {
    for (const auto& [value, ways] : values->second) {
      if (value.is_null()) {
        std::int64_t number = 0;
        const std::string& word = words[at];
        const auto read = std::from_chars(word.data(), word.data() + word.size(), number);
        if (read.ec == std::errc() && read.ptr == word.data() + word.size()) {
          offer(number, at, at + 1);
        }
        continue;
      }
      for (std::size_t way = 0; way < (loosely ? ways.size() : 1); ++way) {
        const std::size_t to = EndOf(ways[way], words, at);
        if (to != 0 && to <= end && !IsPreposition(words, at)) offer(value, at, to);
      }
    }
  }
  if (found_denial == Denial::kNone) return found;
  // Of two values that must not be the one, it is the other.
  const bool is_other = found_denial == Denial::kWished && values->second.size() == 2;
  return is_other ? std::optional(values->second[found == values->second[0].value ? 1 : 0].value)
                  : std::nullopt;
}

std::vector<NameMatch> CaptureNames::BootOptions(const Sentence& sentence) const {
  const std::vector<std::string>& words = sentence.words();
  std::vector<NameMatch> references;
  for (std::size_t at = 0; at < words.size(); ++at) {
    for (const Name& name : boot_references_) {
      const std::size_t end = EndOf(name.wording, words, at);
      if (end != 0) references.push_back({name.name, at, end, true});
    }
  }
  if (!references.empty()) return references;
  NameMatch best;
  bool is_unique = false;
  for (const Name& name : boot_titles_) {
    for (std::size_t at = 0; at < words.size(); ++at) {
      const std::size_t length = LongestRun(words, at, name.wording.words);
      const std::size_t so_far = best.end - best.begin;
      if (length < 2 || length < so_far) continue;
      is_unique = length > so_far || name.name == best.name;
      best = {name.name, at, at + length, false};
    }
  }
  if (best.name.empty() || !is_unique) return {};
  return {best};
}

void CaptureNames::AddWords(WordSet& words) const {
  for (const std::vector<Name>* const names : {&attributes_, &boot_references_, &boot_titles_}) {
    for (const Name& name : *names) {
      words.insert(absl::AsciiStrToLower(name.name));
      words.insert(name.wording.words.begin(), name.wording.words.end());
    }
  }
  for (const auto& [attribute, values] : values_) {
    for (const auto& [value, ways] : values) {
      if (value.is_string()) words.insert(absl::AsciiStrToLower(value.get<std::string>()));
    }
  }
}

}  // namespace shoal::intent
