// SPDX-License-Identifier: Apache-2.0
// Which captures of a run train a policy, and which ones judge it.
//
// Captures are named as in capture_path.h. A capture and its variants (variant.h) are one family: a
// policy that trained on one of them has seen the others.
#pragma once

#include <string>
#include <vector>

namespace shoal::redfish {

// Returns whether both names mean one capture or variants of it, in whichever way it is named.
bool IsSameFamily(const std::string& a, const std::string& b);

// Returns the captures that are not of the family of `held_out`, which is empty when none is.
std::vector<std::string> TrainingCaptures(std::vector<std::string> captures,
                                          const std::string& held_out);

// Returns the captures to judge a policy on: all but the variants of a capture that is listed
// itself. `held_out` stays, even if it is such a variant.
std::vector<std::string> JudgedCaptures(const std::vector<std::string>& captures,
                                        const std::string& held_out);

}  // namespace shoal::redfish
