// SPDX-License-Identifier: Apache-2.0
// Variants of captures: the same service as it might look on another vendor's host.
//
// A policy that has seen ten hosts knows ten spellings. A variant rewrites a capture from a seed,
// consistently over the whole tree: the ids of members, Names and Descriptions, the order of
// members, accounts as fixed slots or as a growing collection, optional properties, links and
// services, whether collections expand, collections of the vendor's own, a second chassis or
// system, the boot order, and lists of allowable values. Versions of types stay. No link dangles
// that does not dangle in the capture.
//
// "NAME~SEED" names a variant wherever a capture can be named (capture_path.h). All functions are
// pure and thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "platform/runtime/status.h"
#include "redfish/capture/capture.h"

namespace shoal::redfish {

struct VariantName {
  // How the capture itself is named: by its name or its path.
  std::string capture;
  std::uint64_t seed = 0;
};

// Takes "lab/rack.tar.xz~7" apart. Returns nothing for a text that does not end in "~" and a number
// without leading zeros, of at most 18 digits: that is the capture's own name.
std::optional<VariantName> ParseVariantName(std::string_view named);
// Returns "lab/rack.tar.xz~7".
std::string ToText(const VariantName& name);

// Returns the variant, whose name is the capture's with "~" and the seed. Equal names, resources
// and seeds give equal bytes, on every machine; captures of different names draw differently from
// the same seed. Fails with DATA_LOSS when `capture` has no service root.
absl::StatusOr<std::shared_ptr<const Capture>> MakeVariant(const Capture& capture,
                                                           std::uint64_t seed);

}  // namespace shoal::redfish
