// SPDX-License-Identifier: Apache-2.0
// Sentences with words left out at random, so that a policy learns to do without any one of them.
//
// Word dropout of Iyyer et al., "Deep Unordered Composition Rivals Syntactic Methods for Text
// Classification", ACL 2015.
#pragma once

#include <string>
#include <string_view>

#include "platform/runtime/random.h"

namespace shoal::redfish {

// `phrase` without about `share`, in [0, 1], of its words, each by a draw of its own. Words are
// what stands between spaces. One with a "{name}" stays, as without it nobody knows what is asked
// for; a phrase of which nothing would be left stays whole. A share of 0 draws nothing.
std::string DropWords(std::string_view phrase, double share, runtime::Random& random);

}  // namespace shoal::redfish
