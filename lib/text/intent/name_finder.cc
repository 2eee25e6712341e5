// SPDX-License-Identifier: Apache-2.0
#include "text/intent/name_finder.h"

#include <absl/strings/ascii.h>

#include <algorithm>
#include <limits>
#include <string_view>

#include "text/intent/token_shape.h"

namespace shoal::intent {
namespace {

using Assignment = std::vector<std::optional<std::size_t>>;

// A sum of shape and cues below this is no value.
constexpr double kLeastValueScore = 1.0;
// How much better than none any value is that a goal can do without, and one that it needs.
constexpr double kOptional = 1.0;
constexpr double kNeeded = 2.0;
// A plain word needs cues of so much.
constexpr double kLeastOfWord = 1.8;
// How much worse a word of the language is as a name.
constexpr double kOrdinary = 1.5;
// The same in a list of users, where nothing else stands between a cue and the end of the clause.
constexpr double kListed = 0.9;
constexpr double kBesideVerb = 2.0;
// What a cue in another clause counts less: it is mostly said of something else.
constexpr double kOtherClause = 1.0;
// The same in another statement.
constexpr double kOtherStatement = 2.0;
// What each word between a cue and a value takes away where no other value is near.
constexpr double kDistanceWhenAlone = 0.04;
// What it counts that a user stands right before a password.
constexpr double kPair = 2.2;
// What it counts that a value stands behind the one that it mostly follows.
constexpr double kInOrder = 0.4;
// A cue is at most so many words away from its value, but for those that only join them.
constexpr std::size_t kReachOfCue = 5;
// What each word between them takes away.
constexpr double kDistance = 0.5;
// What another value between them takes away.
constexpr double kOther = 2.0;
// What a cue before a value counts more than one behind it.
constexpr double kBefore = 0.1;
// The same for words such as "is", which only join them.
constexpr double kLink = 0.05;

// Whether a token has a point or an underscore inside, as names have and words have not.
bool IsJoinedName(const Token& token) {
  const std::size_t at = token.text.find_first_of("._");
  return at != token.text.npos && at > 0 && at + 1 < token.text.size();
}

double ShapeScore(const std::string& kind, const Token& token) {
  const TokenShape shape = ShapeOf(token.text);
  const bool mixed = shape.digit && (shape.lower || shape.upper);
  double score = token.kind == TokenKind::kQuoted ? 1.0 : 0.0;
  if (kind == "user") {
    if (mixed) score += 1.0;
    if (shape.sign) score -= 3.0;
    if (shape.upper && !shape.lower) score -= 2.0;
    if (shape.upper && shape.lower && mixed) score -= 0.5;
    if (shape.dash && shape.digit && shape.upper) score -= 1.0;
    if (!shape.lower && !shape.upper) score -= 4.0;
    if (IsJoinedName(token)) score += 0.7;
    // "X-Auth-Token"
    if (shape.inner_upper && shape.dash && !shape.digit) score -= 2.0;
    if (!token.text.empty() && absl::ascii_isdigit(static_cast<unsigned char>(token.text[0]))) {
      score -= 1.0;
    }
  } else if (kind == "password") {
    if (mixed) score += 1.0;
    if (shape.sign) score += 1.0;
    if (shape.dash && shape.digit) score += 0.5;
    if (shape.upper && shape.lower && shape.digit) score += 0.5;
    if (shape.is_plain()) score -= 1.0;
    if (token.text.find(' ') != token.text.npos) score -= 1.5;
  } else {
    if (shape.digit) score += 1.0;
    if (shape.upper) score += 0.5;
    if (shape.dash && shape.digit) score += 0.3;
    // Tags are often parts between slashes.
    if (shape.sign && token.text.find('/') == token.text.npos) score -= 1.0;
    if (shape.is_plain()) score -= 1.5;
  }
  return score;
}

class NameFinder {
 public:
  NameFinder(const Sentence& sentence, const WordSet& english,
             const std::vector<std::size_t>& candidates)
      : sentence_(sentence), english_(english), candidates_(candidates) {}

  Assignment Assign(const std::vector<const ValueRule*>& rules) {
    scores_.assign(rules.size(), {});
    followed_.assign(rules.size(), std::nullopt);
    worth_.clear();
    for (const ValueRule* const rule : rules) {
      worth_.push_back(rule->optional ? kOptional : kNeeded);
    }
    for (std::size_t r = 0; r < rules.size(); ++r) {
      for (std::size_t other = 0; other < rules.size(); ++other) {
        if (rules[other]->name == rules[r]->follows) followed_[r] = other;
      }
    }
    several_users_ = std::count_if(rules.begin(), rules.end(), [](const ValueRule* rule) {
                       return rule->kind == "user" && !rule->optional;
                     }) > 1;
    for (std::size_t r = 0; r < rules.size(); ++r) {
      for (const std::size_t token : candidates_) {
        scores_[r].push_back(Score(*rules[r], token));
      }
    }
    best_total_ = -std::numeric_limits<double>::infinity();
    Assignment chosen(rules.size());
    Search(0, 0.0, chosen);
    return best_;
  }

 private:
  double Score(const ValueRule& rule, std::size_t index) const {
    const Token& token = sentence_.tokens()[index];
    double score = ShapeScore(rule.kind, token);
    double before = 0.0;
    double after = 0.0;
    // What cues count by the statement that they are in.
    double stated = 0.0;
    for (const Cue& cue : rule.before) {
      for (const CueMatch& match : cue.FindAll(sentence_)) {
        if (several_users_) stated = std::max(stated, ScoreInStatement(match, index, rule));
        if (match.end > token.first_word || (rule.shaped && !IsObjectOf(match, index))) continue;
        const double said = CueScore(match, index, match.end, token.first_word);
        if (said > 0.0) before = std::max(before, said + kBefore);
      }
    }
    for (const Cue& cue : rule.after) {
      for (const CueMatch& match : cue.FindAll(sentence_)) {
        if (several_users_) stated = std::max(stated, ScoreInStatement(match, index, rule));
        if (match.begin < token.end_word || (rule.shaped && !IsFateOf(match, index))) continue;
        after = std::max(after, CueScore(match, index, token.end_word, match.begin));
      }
    }
    if (rule.kind == "user" && IsBeforePassword(index)) after = std::max(after, kPair);
    after = std::max(after, stated - before);
    // Nobody is deleted by his looks alone.
    if (rule.shaped && before + after <= 0.0) return -5.0;
    score += before + after;
    if (rule.kind == "tag" && IsOld(token)) score -= 3.0;
    if (rule.kind == "user" && IsPredicate(token)) return -5.0;
    const bool weak = token.kind == TokenKind::kWord && ShapeOf(token.text).is_plain() &&
                      !(rule.kind == "user" && IsJoinedName(token));
    if (weak && before + after < kLeastOfWord) return -5.0;
    const bool begins = index == 0 && ShapeOf(token.text).upper;
    if (!weak || !(begins || IsOrdinary(token))) return score;
    const bool is_listed = !rule.shaped && several_users_ &&
                           ((before >= kBesideVerb && StandsAlone(index)) ||
                            (after >= kBesideVerb && BeginsClause(index)));
    return score - (is_listed ? kListed : kOrdinary);
  }

  // Returns whether a token ends its clause: "enable news, delete x7".
  bool StandsAlone(std::size_t index) const {
    const std::vector<Token>& tokens = sentence_.tokens();
    return index > 0 &&
           (index + 1 == tokens.size() || tokens[index + 1].clause != tokens[index].clause);
  }

  // Returns whether a token begins its clause as a subject does: "news gets enabled", "and the user
  // news".
  bool BeginsClause(std::size_t index) const {
    static const WordSet kBefore = {"and", "that", "then", "also", "the", "user", "account"};
    const std::vector<Token>& tokens = sentence_.tokens();
    std::size_t first = index;
    while (first > 0 && tokens[first - 1].clause == tokens[index].clause) {
      if (!kBefore.contains(absl::AsciiStrToLower(tokens[--first].text))) return false;
    }
    return true;
  }

  // Returns whether a token stands right before what looks like a password: "kim7 / XK-9!a".
  bool IsBeforePassword(std::size_t index) const {
    // A slash or a small word may stand between them.
    std::size_t behind = index + 1;
    const auto is_mark = [this](std::size_t at) {
      static const WordSet kJoints = {"/", "with", "and"};
      return kJoints.contains(sentence_.tokens()[at].text);
    };
    if (behind < sentence_.tokens().size() && is_mark(behind)) ++behind;
    if (behind >= sentence_.tokens().size()) return false;
    const Token& next = sentence_.tokens()[behind];
    const TokenShape shape = ShapeOf(next.text);
    const bool is_password = shape.sign || (shape.digit && (shape.dash || shape.upper));
    return is_password && next.clause <= sentence_.tokens()[index].clause + 1 &&
           std::find(candidates_.begin(), candidates_.end(), behind) != candidates_.end();
  }

  // Returns whether the words before a token say that it is no more: "from", "the old tag".
  bool IsOld(const Token& token) const {
    static const WordSet kOld = {"from", "old", "previous", "former", "instead", "than", "not"};
    constexpr std::size_t kBefore = 2;
    for (std::size_t back = 1; back <= kBefore && back <= token.first_word; ++back) {
      const std::size_t at = token.first_word - back;
      if (sentence_.ClauseOf(at) != token.clause || sentence_.words()[at] == "to") return false;
      if (kOld.contains(sentence_.TextAt(at))) return true;
    }
    return false;
  }

  // Returns whether a token is a word of the language that says how something is: "is demanding a
  // change", "which is asleep", but not "the name is frank".
  bool IsPredicate(const Token& token) const {
    static const WordSet kCopulas = {"is", "are", "was", "were", "be", "been", "has", "have"};
    static const WordSet kNaming = {"name", "user", "username", "account", "login", "called", "it"};
    const std::size_t at = token.first_word;
    if (at < 2 || !IsOrdinary(token) || !kCopulas.contains(sentence_.TextAt(at - 1))) return false;
    const std::string text = absl::AsciiStrToLower(token.text);
    return text.ends_with("ing") || !kNaming.contains(sentence_.TextAt(at - 2));
  }

  // Returns whether a token is a word of the language, and a name only by chance.
  bool IsOrdinary(const Token& token) const {
    return !token.meant.empty() || english_.contains(absl::AsciiStrToLower(token.text));
  }

  // The words [from, to) lie between the cue and the value, which is the token `index`.
  double CueScore(const CueMatch& match, std::size_t index, std::size_t from,
                  std::size_t to) const {
    static const WordSet kLinks = {"is",    "be",    "shall", "should",  "will",
                                   "ought", "call",  "the",   "account", "user",
                                   "name",  "login", "old",   "colleagu"};
    std::size_t links = 0;
    for (std::size_t at = from; at < to; ++at) links += kLinks.contains(sentence_.words()[at]);
    const std::size_t distance = to - from - links;
    if (distance > kReachOfCue) return 0.0;
    double score =
        1.2 + 0.8 * static_cast<double>(std::min<std::size_t>(match.end - match.begin, 4));
    score -= kDistance * static_cast<double>(distance) + kLink * static_cast<double>(links);
    const std::vector<Token>& tokens = sentence_.tokens();
    const Token& cue = tokens[sentence_.TokenOf(match.begin)];
    if (several_users_ && cue.statement != tokens[index].statement) {
      score -= kOtherStatement;
    } else if (cue.clause != tokens[index].clause) {
      score -= kOtherClause;
    }
    // Another value between them has the cue, unless it is a word of the language beside a name.
    for (const std::size_t other : candidates_) {
      const std::size_t word = tokens[other].first_word;
      if (word < from || word >= to) continue;
      score -= IsOrdinary(tokens[other]) && !IsOrdinary(tokens[index]) ? kLink : kOther;
    }
    return std::max(score, 0.0);
  }

  // Returns whether a token may be a value, and is no word of the language.
  bool IsName(std::size_t index) const {
    return !IsOrdinary(sentence_.tokens()[index]) &&
           std::find(candidates_.begin(), candidates_.end(), index) != candidates_.end();
  }

  // Returns whether `is` chooses a name.
  template <typename Is>
  bool HasName(const Is& is) const {
    const std::vector<Token>& tokens = sentence_.tokens();
    return std::any_of(candidates_.begin(), candidates_.end(), [&](std::size_t candidate) {
      return IsName(candidate) && is(candidate, tokens[candidate]);
    });
  }

  // Returns whether the object of a verb ends with a token: "delete it now", but not "delete its
  // keys".
  bool EndsObject(std::size_t at) const {
    static const WordSet kGoingOn = {
        "from",       "now",  "please",   "too",         "and",     "for",  "as",
        "then",       "also", "right",    "completely",  "n",       "at",   "once",
        "altogether", "/",    "entirely", "immediately", "because", "since"};
    const std::vector<Token>& tokens = sentence_.tokens();
    return at + 1 >= tokens.size() || tokens[at + 1].clause != tokens[at].clause ||
           kGoingOn.contains(absl::AsciiStrToLower(tokens[at + 1].text));
  }

  // Returns whether a user is what a cue before it deletes, and not what belongs to the user or
  // comes from it: "delete the keys of x7", "delete x7's keys", "ask x7 whom to delete".
  bool IsObjectOf(const CueMatch& match, std::size_t index) const {
    static const WordSet kNaming = {"account", "accounts", "user", "users", "login", "access"};
    static const WordSet kApart = {"from", "that", "which", "whom", "who", "by", "for", "whose"};
    const Token& token = sentence_.tokens()[index];
    if (sentence_.ClauseOf(match.begin) < sentence_.clause_behind_question()) return false;
    bool names = false;
    for (std::size_t at = match.begin; at < token.first_word; ++at) {
      const std::string& text = sentence_.TextAt(at);
      names |= kNaming.contains(text);
      if (at >= match.end && (kApart.contains(text) || (text == "of" && !names))) return false;
    }
    const std::vector<Token>& tokens = sentence_.tokens();
    const bool owns = token.text.ends_with("'s") && index + 1 < tokens.size() &&
                      tokens[index + 1].clause == token.clause;
    return !owns || kNaming.contains(absl::AsciiStrToLower(tokens[index + 1].text));
  }

  // Returns whether a cue behind a user says what is to become of it, and not what it does: "x7 may
  // delete files", "x7, who deleted the logs, stays".
  bool IsFateOf(const CueMatch& match, std::size_t index) const {
    static const WordSet kActing = {"may", "can", "who", "which", "wants", "will", "did", "whom"};
    static const WordSet kLeaving = {"left",    "leave",   "gone",        "retire",
                                     "retired", "unknown", "superfluous", "obsolete"};
    const Token& token = sentence_.tokens()[index];
    if (sentence_.ClauseOf(match.begin) < sentence_.clause_behind_question()) return false;
    const std::size_t last = sentence_.TokenOf(match.end - 1);
    if (match.end - match.begin > 1 || kLeaving.contains(sentence_.TextAt(match.begin)))
      return true;
    for (std::size_t at = token.end_word; at < match.begin; ++at) {
      const bool is_same = sentence_.ClauseOf(at) == sentence_.ClauseOf(match.begin);
      if (is_same && kActing.contains(sentence_.TextAt(at))) return false;
    }
    static const WordSet kPronouns = {"it",   "him",  "her",     "them", "em",
                                      "that", "this", "account", "user"};
    const std::vector<Token>& tokens = sentence_.tokens();
    const bool has_pronoun = last + 1 < tokens.size() &&
                             tokens[last + 1].clause == tokens[last].clause &&
                             kPronouns.contains(absl::AsciiStrToLower(tokens[last + 1].text));
    return has_pronoun || EndsObject(last);
  }

  // What a cue counts for a user that its clause or statement has alone, in whatever order
  // ("removal is wanted of x7"), or at which its clause points back: "x7 is not ours, so delete
  // it". A statement without any user goes on about the one before, but deletes nobody without such
  // a word.
  double ScoreInStatement(const CueMatch& match, std::size_t index, const ValueRule& rule) const {
    static const WordSet kPointing = {"it", "him",  "her",  "he",   "she",  "them",
                                      "em", "that", "this", "same", "they", "his"};
    const std::vector<Token>& tokens = sentence_.tokens();
    const Token& token = tokens[index];
    const Token& cue = tokens[sentence_.TokenOf(match.begin)];
    if (match.begin < token.end_word && match.end > token.first_word) return 0.0;
    const bool is_fit = !rule.shaped || (match.begin >= token.end_word ? IsFateOf(match, index)
                                                                       : IsObjectOf(match, index));
    if (!is_fit) return 0.0;
    const double said =
        1.2 + 0.8 * static_cast<double>(std::min<std::size_t>(match.end - match.begin, 4));
    const bool is_behind = match.begin >= token.end_word;
    if (cue.statement == token.statement) {
      const std::size_t distance =
          is_behind ? match.begin - token.end_word : token.first_word - match.end;
      const bool is_close = cue.clause == token.clause;
      const bool is_alone =
          IsName(index) && !HasName([&](std::size_t other, const Token& one) {
            return other != index &&
                   (is_close ? one.clause == token.clause : one.statement == token.statement);
          });
      if (is_alone) return said - kDistanceWhenAlone * static_cast<double>(distance);
    }
    if (!is_behind || !IsName(index)) return 0.0;
    const bool is_last = !HasName([&](std::size_t other, const Token& one) {
      return other > index && (one.first_word < match.begin || one.clause == cue.clause);
    });
    const auto is_pointing = [&](std::size_t at) {
      return at < tokens.size() && tokens[at].clause == cue.clause &&
             kPointing.contains(absl::AsciiStrToLower(tokens[at].text));
    };
    // "x7 (drop it), y8 ..." points back although another one follows.
    const std::size_t behind = sentence_.TokenOf(match.end - 1) + 1;
    const bool is_next = !HasName([&](std::size_t other, const Token& one) {
      return other > index && one.first_word < match.begin;
    });
    // "Leave it" and "remove her lock" delete nobody.
    static const WordSet kKeeping = {"leave", "leaves", "keep", "keeps"};
    if (rule.shaped && kKeeping.contains(sentence_.TextAt(match.begin))) return 0.0;
    if (is_next && is_pointing(behind) && (!rule.shaped || EndsObject(behind))) return said;
    if (cue.clause == token.clause || !is_last) return 0.0;
    for (std::size_t at = 0; at < tokens.size(); ++at) {
      const bool is_before = tokens[at].first_word < match.begin;
      if (is_pointing(at) && (is_before || !rule.shaped)) return said;
    }
    const bool is_empty =
        !HasName([&](std::size_t, const Token& one) { return one.statement == cue.statement; });
    return is_empty && !rule.shaped ? said - kOtherClause : 0.0;
  }

  // Counts the values that stand behind those which they mostly follow.
  double OrderScore(const Assignment& chosen) const {
    double score = 0.0;
    for (std::size_t r = 0; r < chosen.size(); ++r) {
      if (!followed_[r] || !chosen[r] || !chosen[*followed_[r]]) continue;
      if (*chosen[*followed_[r]] < *chosen[r]) score += kInOrder;
    }
    return score;
  }

  void Search(std::size_t rule, double total, Assignment& chosen) {
    if (rule == chosen.size()) {
      total += OrderScore(chosen);
      if (total > best_total_) {
        best_total_ = total;
        best_ = chosen;
      }
      return;
    }
    chosen[rule] = std::nullopt;
    Search(rule + 1, total, chosen);
    for (std::size_t c = 0; c < candidates_.size(); ++c) {
      const bool taken = std::find(chosen.begin(), chosen.begin() + static_cast<long>(rule),
                                   candidates_[c]) != chosen.begin() + static_cast<long>(rule);
      if (taken || scores_[rule][c] < kLeastValueScore) continue;
      chosen[rule] = candidates_[c];
      Search(rule + 1, total + scores_[rule][c] + worth_[rule], chosen);
    }
    chosen[rule] = std::nullopt;
  }

  const Sentence& sentence_;
  const WordSet& english_;
  const std::vector<std::size_t>& candidates_;
  std::vector<std::vector<double>> scores_;  // [rules][candidates]
  // [rules]: how much better any value is than none.
  std::vector<double> worth_;
  // [rules]: the index of the rule whose value it mostly follows.
  std::vector<std::optional<std::size_t>> followed_;
  bool several_users_ = false;
  double best_total_ = 0.0;
  Assignment best_;
};

}  // namespace

std::vector<std::optional<std::size_t>> AssignNames(const Sentence& sentence,
                                                    const WordSet& english,
                                                    const std::vector<std::size_t>& candidates,
                                                    const std::vector<const ValueRule*>& rules) {
  return NameFinder(sentence, english, candidates).Assign(rules);
}

std::string NameOf(const Token& token, const std::string& kind, bool is_last) {
  std::string text = token.text;
  if (token.kind == TokenKind::kQuoted) return text;
  for (const std::string_view possessive : {"'s", "\u2019s"}) {
    if (kind == "user" && text.size() > possessive.size() && text.ends_with(possessive)) {
      text.resize(text.size() - possessive.size());
    }
  }
  const bool shouts = kind != "password" || (is_last && text.find('-') != text.npos);
  while (shouts && text.ends_with('!')) text.pop_back();
  return text;
}

}  // namespace shoal::intent
