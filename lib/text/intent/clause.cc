// SPDX-License-Identifier: Apache-2.0
#include "text/intent/clause.h"

#include <absl/strings/ascii.h>

#include <algorithm>

namespace shoal::intent {

std::string LowerTextOf(const std::vector<Token>& tokens, std::size_t at) {
  return at < tokens.size() ? absl::AsciiStrToLower(tokens[at].text) : std::string();
}

bool IsPast(const Sentence& sentence, std::size_t clause) {
  static const WordSet kPast = {"was",    "were", "had",  "did",  "went",
                                "failed", "lost", "died", "broke"};
  const std::vector<Token>& tokens = sentence.tokens();
  return std::any_of(tokens.begin(), tokens.end(), [&](const Token& token) {
    return token.clause == clause && kPast.contains(absl::AsciiStrToLower(token.text));
  });
}

bool IsSurroundings(const Sentence& sentence, std::size_t at) {
  static const WordSet kOccasions = {"before", "after", "because", "since", "due", "during",
                                     "while",  "when",  "until",   "for",   "as",  "so"};
  constexpr std::size_t kReach = 5;
  for (std::size_t back = 1; back <= kReach && back <= at; ++back) {
    if (sentence.ClauseOf(at - back) != sentence.ClauseOf(at)) return false;
    if (kOccasions.contains(sentence.TextAt(at - back))) return true;
  }
  return false;
}

bool IsPolite(const Sentence& sentence, std::size_t clause) {
  static const WordSet kPolite = {"please", "pls",    "thanks", "thank",  "you",  "hi",
                                  "hello",  "no",     "just",   "so",     "know", "fyi",
                                  "btw",    "cheers", "thx",    "regards"};
  const std::vector<Token>& tokens = sentence.tokens();
  return std::all_of(tokens.begin(), tokens.end(), [&](const Token& token) {
    return token.clause != clause || kPolite.contains(absl::AsciiStrToLower(token.text));
  });
}

bool IsBackground(const Sentence& sentence, std::size_t clause) {
  static const WordSet kTelling = {
      "is",     "are",      "was",     "were",  "am",   "has",    "had",    "been",
      "we",     "i",        "says",    "said",  "told", "keeps",  "kept",   "cannot",
      "cant",   "can't",    "wont",    "won't", "lost", "broke",  "failed", "died",
      "nobody", "somebody", "someone", "they",  "sits", "stands", "lies",   "doesn't",
      "doesnt", "hates",    "hate",    "makes", "went"};
  static const WordSet kAsking = {"please", "pls",  "plz",   "kindly", "must",   "should",
                                  "shall",  "need", "needs", "want",   "wants",  "would",
                                  "could",  "can",  "let",   "make",   "ensure", "wish"};
  bool tells = false;
  bool is_first = true;
  for (const Token& token : sentence.tokens()) {
    if (token.clause != clause) continue;
    const std::string text = absl::AsciiStrToLower(token.text);
    if (kAsking.contains(text)) return false;
    tells |= kTelling.contains(text) || (is_first && text != "bring" && text.ends_with("ing"));
    is_first = false;
  }
  return tells;
}

bool TellsOfPast(const Sentence& sentence, std::size_t clause) {
  static const WordSet kAsking = {"please", "must", "should", "shall", "need", "want", "would"};
  static const WordSet kObjects = {"the", "a", "an", "it", "our", "my", "all"};
  const std::vector<Token>& tokens = sentence.tokens();
  if (IsBackground(sentence, clause)) return true;
  bool tells = false;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].clause != clause) continue;
    const std::string text = LowerTextOf(tokens, i);
    if (kAsking.contains(text)) return false;
    tells |= i > 0 && text.ends_with("ed") && tokens[i - 1].clause == clause &&
             kObjects.contains(LowerTextOf(tokens, i + 1));
  }
  return tells;
}

}  // namespace shoal::intent
