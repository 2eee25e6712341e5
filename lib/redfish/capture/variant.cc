// SPDX-License-Identifier: Apache-2.0
#include "redfish/capture/variant.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "platform/runtime/random.h"
#include "redfish/capture/draws.h"
#include "redfish/capture/landmarks.h"
#include "redfish/capture/resource_tree.h"
#include "redfish/capture/variant_accounts.h"
#include "redfish/capture/variant_hardware.h"
#include "redfish/capture/variant_names.h"
#include "redfish/capture/variant_service.h"

namespace shoal::redfish {
namespace {

constexpr char kMark = '~';
constexpr std::size_t kMostDigits = 18;

}  // namespace

std::optional<VariantName> ParseVariantName(std::string_view named) {
  const std::size_t mark = named.rfind(kMark);
  if (mark == std::string_view::npos || mark == 0) return std::nullopt;
  const std::string_view digits = named.substr(mark + 1);
  const bool number =
      !digits.empty() && digits.size() <= kMostDigits &&
      std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!number || (digits.size() > 1 && digits.front() == '0')) return std::nullopt;
  VariantName name{.capture = std::string(named.substr(0, mark))};
  std::from_chars(digits.data(), digits.data() + digits.size(), name.seed);
  return name;
}

std::string ToText(const VariantName& name) {
  return name.capture + kMark + std::to_string(name.seed);
}

absl::StatusOr<std::shared_ptr<const Capture>> MakeVariant(const Capture& capture,
                                                           std::uint64_t seed) {
  const Landmarks landmarks = FindLandmarks(capture);
  const std::uint64_t own = runtime::DeriveSeed(seed, capture.name());
  ResourceTree tree(capture.resources());
  // Structure comes first, under the capture's own URIs; then members get their new ids.
  Draws parts(own, "optional parts");
  RemoveOptionalParts(tree, parts);
  Draws accounts(own, "accounts");
  ChangeAccounts(tree, accounts);
  Draws queries(own, "queries");
  ChangeQueries(tree, queries);
  Draws vendor(own, "vendor collections");
  AddVendorCollections(tree, vendor);
  Draws boot(own, "boot order");
  ChangeBootOrder(tree, landmarks, boot);
  Draws hardware(own, "hardware");
  AddHardware(tree, landmarks, hardware);
  Draws segments(own, "segments");
  ChangeSegments(tree, segments);
  Draws names(own, "names");
  ChangeNames(tree, names);
  Draws order(own, "order");
  ReorderMembers(tree, order);
  Draws values(own, "allowable values");
  ChangeAllowableValues(tree, values);
  return Capture::FromResources(ToText({.capture = capture.name(), .seed = seed}),
                                std::move(tree.resources()));
}

}  // namespace shoal::redfish
