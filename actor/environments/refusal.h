// SPDX-License-Identifier: Apache-2.0
// What a service's refusal of a request is about: the names and values in its messages.
//
// A message of a Redfish error names in MessageArgs what its text speaks of, such as the property
// that is missing, or the one that contradicts another one, and in RelatedProperties where these
// stand in the body that was sent (DSP0266, "Error responses"; DSP0268, Message).
#pragma once

#include <absl/container/flat_hash_set.h>

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "redfish/catalog/candidate.h"

namespace shoal::actor {

// Names and values in lower case, whole and without what stands before the last '/'.
using RefusalNames = absl::flat_hash_set<std::string>;

// An answer yields about so many names at most, and none that is longer. Any others are left out.
inline constexpr std::size_t kMaximumRefusalNames = 64;
inline constexpr std::size_t kLongestRefusalName = 256;

// Returns the arguments and related properties of all messages of an error's body; none for a body
// of another form.
RefusalNames NamesInRefusal(const nlohmann::json& body);

// Returns whether the request's body, one of its slots or, for one that composes, one of its parts
// has a property which `names` has.
bool HasPropertyOf(const redfish::Candidate& request, const RefusalNames& names);

}  // namespace shoal::actor
