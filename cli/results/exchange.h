// SPDX-License-Identifier: Apache-2.0
// Whether an agent's requests follow what it reads: the same episodes, played in two worlds that
// differ in the decisive value alone.
//
// In the second world another member holds the value that decides which request is right, such as
// the role of the account that is to be deleted. An agent that reads sends another request there.
// One that has learned which member is mostly meant, or tries one after the other, does not.
#pragma once

#include <cstdint>
#include <span>

#include "cli/results/evaluation.h"

namespace shoal::cli {

struct ExchangeScore {
  // Episodes that were played in both worlds. Left out are those that the same requests solve in
  // both, since the value decides nothing there: a service may show it in a URI, for example.
  std::int64_t pairs = 0;
  // Episodes in which the requests followed the value: in each world the goal was reached with no
  // more changing requests than needed, and the two worlds' requests differ.
  std::int64_t followed = 0;

  // 0 without pairs.
  double share() const;
};

// Compares the episodes of the learned policy. Episodes belong together by goal, capture and
// number. Those that `exchanged` did not exchange, and those that only one of the two has, do not
// count.
ExchangeScore CompareExchanged(std::span<const EpisodeOutcome> drawn,
                               std::span<const EpisodeOutcome> exchanged);

}  // namespace shoal::cli
