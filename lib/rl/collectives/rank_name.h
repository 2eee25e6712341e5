// SPDX-License-Identifier: Apache-2.0
// What a rank is called in errors: "rank 3".
#pragma once

#include <concepts>
#include <string>

namespace shoal::collectives {

template <std::integral Number>
std::string RankName(Number rank) {
  return "rank " + std::to_string(rank);
}

}  // namespace shoal::collectives
