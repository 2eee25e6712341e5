// SPDX-License-Identifier: Apache-2.0
// Chooses one spelling for URIs that a service writes with varying case.
//
// Some services (iLO) link to ".../systems/1/bios" and ".../Systems/1": a tree of both is two half
// trees. Each prefix gets the spelling that most URIs have; among equally many, the first in byte
// order.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace shoal::discovery {

class Spelling {
 public:
  // `uris` are canonical.
  explicit Spelling(const std::vector<std::string>& uris);

  // Returns `uri`, which is one of the constructor's, with each prefix in its most frequent
  // spelling.
  std::string Of(std::string_view uri) const;

 private:
  // Maps a prefix in lower case to the spelling of its last segment that most URIs use.
  std::map<std::string, std::string, std::less<>> segments_;
};

}  // namespace shoal::discovery
