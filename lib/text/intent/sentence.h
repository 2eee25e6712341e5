// SPDX-License-Identifier: Apache-2.0
// A person's sentence as the tokens and words by which it is understood.
//
// A token is what stands between two spaces, without the marks around it, or a whole quotation, but
// for a long one that only tells what somebody said. A slash, an equals sign, or a colon after a
// plain word splits a token ("user=kim", "root/secret"), but not inside of addresses, nor where it
// seems to be part of a tag or a password ("INV/3007", "Newton1687=F"). Words are the parts of
// tokens as lib/text/lexical/words.h splits and shortens them, so "AssetTag" and "asset tags" are
// the same two words. A token that can only be a value, such as an address or a quotation, has no
// words. The number of a ticket at the beginning ("ticket 4711:", "INC-123 -") is left out. With a
// speller (speller.h), words are those that the person meant; the texts of tokens stay as they were
// typed.
//
// A clause ends at a comma, another mark behind a word, a dash, or before the box or the number of
// an item of a list ("[ ]", "2)"). A statement ends where a clause does, but at no comma or dash.
//
// Immutable, safe for any number of threads.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "text/intent/speller.h"

namespace shoal::intent {

enum class TokenKind { kWord, kUrl, kHost, kVersion, kQuoted };

struct Token {
  std::string text;
  TokenKind kind = TokenKind::kWord;
  // The index of the token's first word, and of the one after its last.
  std::size_t first_word = 0;
  std::size_t end_word = 0;
  // The number of the clause in which it stands.
  std::size_t clause = 0;
  // The number of the statement in which it stands.
  std::size_t statement = 0;
  // Whether a colon stands right behind it.
  bool before_colon = false;
  // What the speller made of it; empty when it is right as it is.
  std::string meant = {};
  // Whether it was, or has become, a word that the speller knows.
  bool is_right = false;
};

class Sentence {
 public:
  static constexpr std::size_t kMaxBytes = 4000;

  // Text beyond kMaxBytes is left out. `speller` may be null, and is not kept.
  explicit Sentence(std::string_view text, const Speller* speller = nullptr);

  const std::vector<Token>& tokens() const { return tokens_; }
  // Returns the sentence with the word "attribute" in place of all words of the tokens in which
  // `words` are.
  Sentence WithAttributes(const std::set<std::size_t>& words) const;
  // Lower-case stems. A token without words has the one word "<url>", "<host>" and so on.
  const std::vector<std::string>& words() const { return words_; }
  // Whether it only asks for information: "Is Secure Boot enabled?". Questions that ask for an
  // action ("is it possible to ..."), and sentences of which only a part is a question, do not.
  bool is_question() const { return is_question_; }
  // Whether it ends with a question mark.
  bool has_question() const { return has_question_; }
  // The clause behind a question at the beginning that only asks for information, where something
  // follows; 0 where there is none.
  std::size_t clause_behind_question() const { return clause_behind_question_; }
  // Returns the index of the token to which a word belongs.
  std::size_t TokenOf(std::size_t word) const { return token_of_[word]; }
  // Returns the text of that token, in lower case.
  const std::string& TextAt(std::size_t word) const { return lower_[token_of_[word]]; }
  // Returns whether the word at `at` is `stem` but for an "e" at the end, or a slip of the finger
  // away from it and no word that the speller knows. REQUIRES: at < words().size().
  bool Says(std::size_t at, std::string_view stem) const;
  // Returns the clause in which a word stands.
  std::size_t ClauseOf(std::size_t word) const { return tokens_[token_of_[word]].clause; }

 private:
  void Add(std::string_view text, bool quoted, const Speller* speller);
  void AddToken(std::string text, TokenKind kind);
  void AddWords(const Speller* speller);
  // Returns whether the token is the "of" of "switch of".
  bool MeansOff(std::size_t token) const;

  std::vector<Token> tokens_;
  // The texts of the tokens in lower case.
  std::vector<std::string> lower_;
  std::vector<std::string> words_;
  std::vector<std::size_t> token_of_;
  std::size_t clause_ = 0;
  std::size_t statement_ = 0;
  std::size_t clause_behind_question_ = 0;
  bool is_question_ = false;
  bool has_question_ = false;
};

// Returns whether the word is `stem` or a slip of the finger away from it: for at least five
// letters, with the same first one, two swapped letters or one letter too many or too few.
bool IsNearly(std::string_view word, std::string_view stem);

}  // namespace shoal::intent
