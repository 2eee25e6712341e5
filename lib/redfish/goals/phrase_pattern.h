// SPDX-License-Identifier: Apache-2.0
// A pattern of sentences: one line of a goal's file that stands for many phrasings.
//
//   <set|change|write>   one of the alternatives, all of them equally likely
//   [please|kindly]      in half of the draws nothing, otherwise one of the alternatives
//   <server>             one phrase of the list with this name (phrase_lists.h)
//   {AssetTag}           the name of a value, which stays as it is
//
// Alternatives may be empty and may contain further brackets, kMaxDepth deep. A text without these
// brackets is a pattern of itself. Runs of spaces become one space, and a space before ",.;:!?" is
// left out, so that an optional word needs no care for the spaces around it.
//
// Immutable, safe for any number of threads.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "platform/runtime/random.h"
#include "platform/runtime/status.h"

namespace shoal::redfish {

class PhrasePattern {
 public:
  static constexpr std::size_t kMaxBytes = 2000;
  static constexpr int kMaxDepth = 8;
  // The largest number of texts in which one pattern may result, counted with repetitions.
  static constexpr double kMaxTexts = 1e100;

  // The phrases of each list by its name.
  using Lists = std::map<std::string, std::vector<PhrasePattern>, std::less<>>;

  // INVALID_ARGUMENT, naming the limit, for a bracket without its partner, an unknown list, or a
  // pattern that is longer or nested deeper or results in more texts than the limits above.
  static absl::StatusOr<PhrasePattern> Parse(std::string_view text, const Lists& lists);

  // The text that was parsed.
  const std::string& text() const { return text_; }
  std::string Draw(runtime::Random& random) const;
  // Adds texts of this pattern to `texts` until it has `limit` of them or all of the pattern's.
  void AddTexts(std::size_t limit, std::set<std::string>& texts) const;
  // Returns whether one of the texts is `sentence`, where spaces, the marks " ,.;:!?" and capitals
  // make no difference.
  bool Generates(std::string_view sentence) const;

  struct Node;

 private:
  PhrasePattern(std::string text, std::shared_ptr<const Node> root);

  std::string text_;
  std::shared_ptr<const Node> root_;
};

}  // namespace shoal::redfish
