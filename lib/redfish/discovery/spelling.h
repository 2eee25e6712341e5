// SPDX-License-Identifier: Apache-2.0
// One spelling for URIs that a service writes now in these, now in those capitals.
//
// Some services (iLO) link to ".../systems/1/bios" and ".../Systems/1": a tree of both is two
// half trees. The spelling of each prefix is the one that most URIs have; of as many, the first in
// byte order.
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

  // `uri`, of those, as most spell the prefixes that it has.
  std::string Of(std::string_view uri) const;

 private:
  // Maps a prefix in lower case to the spelling of its last segment that most URIs use.
  std::map<std::string, std::string, std::less<>> segments_;
};

}  // namespace shoal::discovery
