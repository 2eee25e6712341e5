// SPDX-License-Identifier: Apache-2.0
#include "text/intent/value_finder.h"

#include <absl/strings/ascii.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "redfish/goals/goal_binding.h"
#include "redfish/goals/sentence_values.h"
#include "text/intent/name_candidates.h"
#include "text/intent/name_finder.h"
#include "text/intent/token_shape.h"

namespace shoal::intent {
namespace {

using Json = nlohmann::json;

// Returns what a rule calls the kind of file that a URL names.
std::string_view FileWordOf(const std::string& url) {
  switch (redfish::FileOfUrl(url)) {
    case redfish::UrlFile::kImage:
      return "image";
    case redfish::UrlFile::kOther:
      return "firmware";
    case redfish::UrlFile::kNone:
      break;
  }
  return "none";
}

// Returns the version in an image's file name, such as "2.19.1" in "bios-2.19.1.bin".
std::string VersionIn(std::string url) {
  url.resize(std::min(url.size(), url.find_first_of("?#")));
  std::string name = url.substr(url.rfind('/') + 1);
  if (redfish::FileOfUrl(url) != redfish::UrlFile::kNone) name.resize(name.rfind('.'));
  for (std::size_t at = 0; at < name.size(); ++at) {
    std::size_t end = at;
    std::size_t dots = 0;
    while (end < name.size() && (absl::ascii_isdigit(static_cast<unsigned char>(name[end])) ||
                                 (name[end] == '.' && end > at && end + 1 < name.size()))) {
      dots += name[end] == '.' ? 1 : 0;
      ++end;
    }
    if (dots > 0) return name.substr(at, end - at);
    at = std::max(at, end > at ? end - 1 : at);
  }
  return "";
}

class ValueFinder {
 public:
  ValueFinder(const Sentence& sentence, const GoalSentence& rules, const redfish::AppliedGoal& goal,
              const CaptureNames& names, const Vocabulary& vocabulary)
      : sentence_(sentence),
        rules_(rules),
        goal_(goal),
        names_(names),
        vocabulary_(vocabulary),
        candidates_(sentence, vocabulary) {}

  FoundValues Find() {
    FindTargets();
    FindAttributes();
    for (const ValueRule& rule : rules_.values()) {
      const bool unwanted = !rule.target.empty() && !found_.targets.contains(rule.target);
      if (unwanted) continue;
      if (rule.kind == "url") Put(rule, Url(rule));
      if (rule.kind == "host") Put(rule, Host());
      if (rule.kind == "version") Put(rule, Version());
      if (rule.kind == "choice") Put(rule, Choice(rule));
      if (rule.kind == "boot_option") {
        const std::vector<NameMatch> options = names_.BootOptions(sentence_);
        Put(rule, options.empty() ? Json() : Json(options.front().name));
      }
    }
    FindNames();
    return std::move(found_);
  }

 private:
  const std::vector<std::string>& words() const { return sentence_.words(); }

  void Put(const ValueRule& rule, const Json& value) {
    if (!value.is_null()) {
      found_.values.insert_or_assign(rule.name, value);
    } else if (!rule.optional) {
      found_.missing.push_back(rule.name);
    }
  }

  // Returns +1 when the sentence wants the thing at `match` on, -1 when off, and 0 when it does not
  // say: what stands after the thing ("IPMI disabled") counts before the nearest verb in front of
  // it.
  // With `wants_on`, only words in the same clause count: in "no Telnet, NTP from a.b" the "no" is
  // Telnet's. What stands behind a further one of `mentions` is said of that.
  int StateAt(const CueMatch& match, bool wants_on, const std::vector<CueMatch>& mentions) const {
    static const Cue kOn(
        "enable|activate|start|open|allow|install|use|turn on|switch on|sync|point");
    static const Cue kOff(
        "off|disable|deactivate|close|block|no|kill|stop|shut|forbid|drop|remove|without|not|"
        "never|take * away");
    const std::size_t clause = sentence_.ClauseOf(match.begin);
    std::size_t next = words().size();
    for (const CueMatch& mention : mentions) {
      if (mention.begin >= match.end) next = std::min(next, mention.begin);
    }
    if (const int state = StateAfter(match.end, next, wants_on)) return state;
    std::size_t nearest = 8;
    int state = 0;
    for (const auto& [cue, value] : {std::pair(&kOn, 1), std::pair(&kOff, -1)}) {
      for (const CueMatch& said : cue->FindAll(sentence_)) {
        const bool is_verb = !sentence_.TextAt(said.begin).ends_with("ed");
        if (said.end > match.begin || match.begin - said.end >= nearest || !is_verb) continue;
        if (wants_on && sentence_.ClauseOf(said.begin) != clause) continue;
        // "Telnet off, IPMI off": the first "off" is Telnet's.
        const bool is_particle = sentence_.TextAt(said.begin) == "off" && said.begin > 0 &&
                                 sentence_.TextAt(said.begin - 1) != "turn" &&
                                 sentence_.TextAt(said.begin - 1) != "switch" &&
                                 sentence_.TextAt(said.begin - 1) != "shut";
        if (is_particle) continue;
        nearest = match.begin - said.end;
        state = value;
      }
    }
    return state;
  }

  // Returns the state that the words [at, end) give to what stands before them, or 0.
  int StateAfter(std::size_t at, std::size_t end, bool in_clause) const {
    static constexpr std::array<std::string_view, 31> kBetween = {
        "and",  "or",   "must",   "be",    "should", "is",      "are",      "has",
        "have", "to",   "get",    "lan",   "over",   "service", "protocol", "all",
        "both", "ipmi", "telnet", "needs", "back",   "put",     "turned",   "switched",
        "set",  "kept", "it",     "which", "that",   "stay",    "remain"};
    const std::size_t clause = sentence_.ClauseOf(at == 0 ? 0 : at - 1);
    for (std::size_t reach = 0; reach < 8 && at < end; ++reach, ++at) {
      if (in_clause && sentence_.ClauseOf(at) != clause) return 0;
      const std::string text = sentence_.TextAt(at);
      const bool is_preposition =
          at + 1 < words().size() &&
          (words()[at + 1] == "the" || words()[at + 1] == "this" || words()[at + 1] == "lan");
      if (text == "on" && is_preposition) continue;
      if (text == "off" || text == "disabled" || text == "closed" || text == "deactivated") {
        return -1;
      }
      if (text == "on" || text == "enabled" || text == "active") return 1;
      if (std::find(kBetween.begin(), kBetween.end(), text) == kBetween.end()) return 0;
    }
    return 0;
  }

  // Returns whether what the sentence says at the mentions of a target is against wanting it so.
  // What only tells how it is or was is not: "we are without a clock, so use a.b as NTP server".
  bool IsContrary(const std::vector<CueMatch>& mentions, const TargetRule& rule, int wanted) const {
    const std::vector<CueMatch> affirmed = rule.said.Affirmed(sentence_);
    bool is_asked = false;
    bool is_denied = false;
    bool is_told = false;
    for (const CueMatch& match : mentions) {
      const bool is_negated =
          std::none_of(affirmed.begin(), affirmed.end(),
                       [&match](const CueMatch& one) { return one.begin == match.begin; });
      const int state = StateAt(match, wanted > 0, mentions);
      if (state == 0 || (state > 0 && is_negated)) continue;
      if (TellsState(sentence_, match) || IsStated(match.end) ||
          (state != wanted && IsLacked(match.begin))) {
        is_told = true;
      } else {
        (state == wanted ? is_asked : is_denied) = true;
      }
    }
    const bool begins_contrary = StateAt(mentions.front(), wanted > 0, mentions) == -wanted;
    return is_denied || (!is_asked && (begins_contrary || (is_told && mentions.size() > 1)));
  }

  // Returns whether the word `at` stands behind a "without" in its clause.
  bool IsLacked(std::size_t at) const {
    constexpr std::size_t kReach = 4;
    for (std::size_t back = 1; back <= std::min(kReach, at); ++back) {
      if (sentence_.ClauseOf(at - back) != sentence_.ClauseOf(at)) return false;
      if (sentence_.TextAt(at - back) == "without") return true;
    }
    return false;
  }

  // Returns whether what stands before the word `at` is said to be so or to have been so: "IPMI is
  // still on", "IPMI off was a mistake", but not "IPMI is to be on".
  bool IsStated(std::size_t at) const {
    static const WordSet kStating = {"is", "are", "was", "were", "has", "had", "still"};
    constexpr std::size_t kReach = 2;
    const std::size_t clause = sentence_.ClauseOf(at - 1);
    for (std::size_t end = std::min(at + kReach, words().size()); at < end; ++at) {
      if (sentence_.ClauseOf(at) != clause) return false;
      const bool asks = at + 1 < words().size() && words()[at + 1] == "to";
      if (kStating.contains(sentence_.TextAt(at))) return !asks;
    }
    return false;
  }

  void FindTargets() {
    bool any_needed = false;
    for (const TargetRule& rule : rules_.targets()) {
      any_needed |= rule.needed;
      const std::vector<CueMatch> said = rule.said.FindAll(sentence_);
      if (said.empty()) continue;
      const auto& bound = goal_.binding().targets;
      const bool offered = std::any_of(bound.begin(), bound.end(), [&](const auto& target) {
        return target.target.name == rule.name;
      });
      if (!offered && rule.needed) {
        found_.misfit = goal_.capture_name() + " has no " + rule.name;
      }
      if (!offered) continue;
      found_.targets.insert(rule.name);
      const int wanted = rule.state == "on" ? 1 : rule.state == "off" ? -1 : 0;
      const int first = StateAt(said.front(), wanted > 0, said);
      // "IPMI please" says nothing of it.
      constexpr std::size_t kFew = 2;
      const bool unsaid = rule.needed && first == 0 && words().size() <= kFew;
      if (unsaid || (wanted != 0 && IsContrary(said, rule, wanted))) {
        found_.misfit = "the goal is " + rule.name + " " + rule.state;
      }
    }
    if (any_needed && found_.targets.empty() && found_.misfit.empty()) {
      found_.missing.push_back("targets");
    }
  }

  void FindAttributes() {
    std::vector<const ValueRule*> rules;
    for (const ValueRule& rule : rules_.values()) {
      if (rule.kind == "attribute") rules.push_back(&rule);
    }
    if (rules.empty()) return;
    attributes_ = names_.Attributes(sentence_);
    std::erase_if(attributes_, [&](const NameMatch& match) {
      return rules_.Covers(sentence_, match.begin, match.end);
    });
    std::vector<std::optional<Json>> values;
    for (std::size_t i = 0; i < attributes_.size(); ++i) {
      values.push_back(ValueOf(i));
    }
    // Only names that are written out count when there are enough of them: "secure boot" may be an
    // attribute, too.
    const auto exact = [](const NameMatch& match) { return match.exact; };
    std::set<std::string> written;
    for (const NameMatch& match : attributes_) {
      if (match.exact) written.insert(match.name);
    }
    const bool drops_others = written.size() >= rules.size();
    // Further mentions of an attribute, and attributes without a value, say nothing of their own.
    std::vector<std::pair<std::string, std::optional<Json>>> said;
    for (std::size_t i = 0; i < attributes_.size(); ++i) {
      if (drops_others && !exact(attributes_[i])) continue;
      const auto known = std::find_if(said.begin(), said.end(), [&](const auto& one) {
        return one.first == attributes_[i].name;
      });
      if (known == said.end()) {
        said.emplace_back(attributes_[i].name, values[i]);
      } else if (!known->second) {
        known->second = values[i];
      }
    }
    for (std::size_t i = said.size(); i-- > 1;) {
      if (!said[i - 1].second) said[i - 1].second = said[i].second;
    }
    // "Off: A and B" gives both the value of the first, unless something is said of the second.
    for (std::size_t i = 1; i < said.size(); ++i) {
      if (!said[i].second && IsOnlyJoined(said[i].first)) said[i].second = said[i - 1].second;
    }
    if (said.size() > rules.size()) {
      std::erase_if(said, [](const auto& one) { return !one.second; });
    }
    if (said.size() > rules.size()) {
      found_.misfit = "it names " + std::to_string(said.size()) + " BIOS attributes";
    }
    for (std::size_t i = 0; i < rules.size(); ++i) {
      if (i >= said.size()) {
        found_.missing.push_back(rules[i]->name);
        continue;
      }
      found_.values.insert_or_assign(rules[i]->name, said[i].first);
      if (said[i].second) {
        found_.values.insert_or_assign(rules[i]->value, *said[i].second);
      } else {
        found_.missing.push_back(rules[i]->value);
      }
    }
  }

  // Returns whether an attribute is only joined to the one named before it, and nothing is said of
  // itself: the second of "off: A and B".
  bool IsOnlyJoined(const std::string& attribute) const {
    static const WordSet kJoints = {"and", "or", "n", "plus", "as", "well", "also"};
    static const WordSet kSaying = {"to", "is", "be", "as", "at", "must", "should", "shall", "has"};
    const auto match = std::find_if(attributes_.begin(), attributes_.end(),
                                    [&](const NameMatch& one) { return one.name == attribute; });
    if (match == attributes_.begin() || match == attributes_.end()) return false;
    for (std::size_t at = std::prev(match)->end; at < match->begin; ++at) {
      if (!kJoints.contains(words()[at])) return false;
    }
    return match->end >= words().size() || !kSaying.contains(words()[match->end]);
  }

  std::optional<Json> ValueOf(std::size_t i) const {
    const NameMatch& match = attributes_[i];
    const std::size_t next = i + 1 < attributes_.size() ? attributes_[i + 1].begin : words().size();
    const std::size_t last = i > 0 ? attributes_[i - 1].end : 0;
    constexpr std::size_t kNear = 4;
    const std::size_t near = std::max(last, match.begin > kNear ? match.begin - kNear : 0);
    auto value = names_.Value(sentence_, match.name, match.end, next, false);
    if (!value) value = names_.Value(sentence_, match.name, near, match.begin, true);
    if (!value) value = names_.Value(sentence_, match.name, match.end, next, true);
    if (!value) value = names_.Value(sentence_, match.name, last, match.begin, true);
    return value;
  }

  Json Url(const ValueRule& rule) const {
    std::vector<std::string> urls;
    std::vector<std::string> hosts;
    for (const Token& token : sentence_.tokens()) {
      const bool dead = token.text.find("old") != token.text.npos &&
                        token.text.find(".invalid") != token.text.npos;
      if (dead) continue;
      if (token.kind == TokenKind::kHost) hosts.push_back(token.text);
      if (token.kind != TokenKind::kUrl) continue;
      if (rule.file.empty() || FileWordOf(token.text) == rule.file) urls.push_back(token.text);
    }
    if (!urls.empty()) return urls.front();
    const auto& slots = goal_.goal().definition().slots;
    const auto slot = slots.find(rule.name);
    if (!rule.host || hosts.size() != 1 || slot == slots.end()) return nullptr;
    return redfish::FillValues(slot->second, {{"Host", hosts.front()}});
  }

  // Returns the host nearest to a word of time.
  Json Host() const {
    static const Cue kTime("ntp|ntpserver|time|clock");
    Json best;
    std::size_t nearest = std::numeric_limits<std::size_t>::max();
    for (const Token& token : sentence_.tokens()) {
      const bool is_name = token.kind == TokenKind::kWord && LooksLikeValue(token) &&
                           !candidates_.IsKnown(token) && ShapeOf(token.text).digit;
      if (token.kind != TokenKind::kHost && !is_name) continue;
      for (const CueMatch& match : kTime.FindAll(sentence_)) {
        if (match.begin >= token.first_word && match.end <= token.end_word) continue;
        std::size_t distance = match.end <= token.first_word ? token.first_word - match.end
                                                             : match.begin - token.end_word;
        if (is_name) distance += 10;
        if (distance >= nearest) continue;
        nearest = distance;
        best = token.text;
      }
    }
    return best;
  }

  Json Version() const {
    std::vector<std::string> versions;
    std::vector<std::string> quads;
    std::string in_name;
    for (const Token& token : sentence_.tokens()) {
      const bool has_v = token.text.starts_with('v') || token.text.starts_with('V');
      if (token.kind == TokenKind::kVersion) versions.push_back(token.text.substr(has_v ? 1 : 0));
      if (token.kind == TokenKind::kHost && !ShapeOf(token.text).lower) quads.push_back(token.text);
      const bool image = token.kind == TokenKind::kUrl &&
                         redfish::FileOfUrl(token.text) == redfish::UrlFile::kOther;
      if (image && in_name.empty()) in_name = VersionIn(token.text);
    }
    while (!versions.empty() && versions.back().ends_with('!')) versions.back().pop_back();
    if (versions.size() > 1) {
      // "from 2.1 to 2.3" wants the second.
      for (std::size_t i = 0; i < sentence_.tokens().size(); ++i) {
        const Token& token = sentence_.tokens()[i];
        if (token.kind != TokenKind::kVersion || token.first_word == 0) continue;
        if (words()[token.first_word - 1] == "to") return token.text;
      }
      return in_name.empty() ? Json(versions.back()) : Json(in_name);
    }
    if (!versions.empty()) return versions.front();
    if (!quads.empty()) return quads.front();
    return in_name.empty() ? Json() : Json(in_name);
  }

  Json Choice(const ValueRule& rule) const {
    Json shared;
    for (const auto& choice : goal_.binding().choices) {
      const auto value = choice.find(rule.name);
      if (value == choice.end() || (!shared.is_null() && shared != value->second)) return nullptr;
      shared = value->second;
    }
    return shared;
  }

  // Returns whether the sentence denies a cue before a rule's value: "do not delete user x7".
  bool IsDenied(const ValueRule& rule) const {
    return std::any_of(rule.before.begin(), rule.before.end(), [this](const Cue& cue) {
      const std::vector<CueMatch> said = cue.FindAll(sentence_);
      return std::any_of(said.begin(), said.end(), [this](const CueMatch& match) {
        // "Delete nobody", "delete it not"
        static const Cue kBehind("nobody|nothing|none|it not|him not|her not");
        const std::vector<CueMatch> behind = kBehind.FindAll(sentence_);
        return IsNegated(sentence_, match.begin) ||
               std::any_of(behind.begin(), behind.end(),
                           [&](const CueMatch& one) { return one.begin == match.end; });
      });
    });
  }

  void FindNames() {
    std::vector<const ValueRule*> rules;
    for (const ValueRule& rule : rules_.values()) {
      if (IsNameKind(rule.kind)) rules.push_back(&rule);
    }
    if (rules.empty()) return;
    const std::vector<std::size_t> candidates = candidates_.Find(rules_, attributes_);
    std::vector<std::optional<std::size_t>> tokens =
        AssignNames(sentence_, vocabulary_.english, candidates, rules);
    for (std::size_t r = 0; r < rules.size(); ++r) {
      if (!rules[r]->shaped) continue;
      if (IsDenied(*rules[r])) found_.misfit = "it denies " + rules[r]->name;
      if (!tokens[r]) continue;
      if (candidates_.MayBeSlip(sentence_.tokens()[*tokens[r]])) tokens[r].reset();
    }
    candidates_.TakeOnlyOneLeft(rules, candidates, tokens);
    for (std::size_t r = 0; r < rules.size(); ++r) {
      const auto& readings = goal_.binding().readings;
      const auto reading = readings.find(rules[r]->name);
      if (tokens[r]) {
        found_.tokens.insert(*tokens[r]);
        const bool is_last = *tokens[r] + 1 == sentence_.tokens().size();
        Put(*rules[r], NameOf(sentence_.tokens()[*tokens[r]], rules[r]->kind, is_last));
      } else {
        Put(*rules[r],
            reading == readings.end() ? Json() : candidates_.Administrator(reading->second));
      }
    }
  }

  const Sentence& sentence_;
  const GoalSentence& rules_;
  const redfish::AppliedGoal& goal_;
  const CaptureNames& names_;
  const Vocabulary& vocabulary_;
  const NameCandidates candidates_;
  std::vector<NameMatch> attributes_;
  FoundValues found_;
};

}  // namespace

FoundValues FindValues(const Sentence& sentence, const GoalSentence& rules,
                       const redfish::AppliedGoal& goal, const CaptureNames& names,
                       const Vocabulary& vocabulary) {
  return ValueFinder(sentence, rules, goal, names, vocabulary).Find();
}

}  // namespace shoal::intent
