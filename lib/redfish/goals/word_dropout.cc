// SPDX-License-Identifier: Apache-2.0
#include "redfish/goals/word_dropout.h"

#include <algorithm>

namespace shoal::redfish {

std::string DropWords(std::string_view phrase, double share, runtime::Random& random) {
  if (share <= 0) return std::string(phrase);
  std::string kept;
  for (std::string_view rest = phrase; !rest.empty();) {
    const std::string_view word = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    if (word.empty()) continue;
    const bool dropped = random.Uniform() < share && word.find('{') == word.npos;
    if (dropped) continue;
    if (!kept.empty()) kept += ' ';
    kept += word;
  }
  return kept.empty() ? std::string(phrase) : kept;
}

}  // namespace shoal::redfish
