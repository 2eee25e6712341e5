// SPDX-License-Identifier: Apache-2.0
#include "redfish/capture/capture_roles.h"

#include <algorithm>
#include <optional>

#include "redfish/capture/archive.h"
#include "redfish/capture/variant.h"

namespace shoal::redfish {
namespace {

// Returns the name of the capture that `named` is, or is a variant of.
std::string Family(const std::string& named) {
  const std::optional<VariantName> variant = ParseVariantName(named);
  return ArchiveName(variant ? variant->capture : named);
}

}  // namespace

bool IsSameFamily(const std::string& a, const std::string& b) { return Family(a) == Family(b); }

std::vector<std::string> TrainingCaptures(std::vector<std::string> captures,
                                          const std::string& held_out) {
  if (held_out.empty()) return captures;
  std::erase_if(captures,
                [&](const std::string& capture) { return IsSameFamily(capture, held_out); });
  return captures;
}

std::vector<std::string> JudgedCaptures(const std::vector<std::string>& captures,
                                        const std::string& held_out) {
  std::vector<std::string> judged = captures;
  std::erase_if(judged, [&](const std::string& capture) {
    if (!ParseVariantName(capture) || ArchiveName(capture) == ArchiveName(held_out)) return false;
    return std::any_of(captures.begin(), captures.end(), [&](const std::string& other) {
      return !ParseVariantName(other) && IsSameFamily(other, capture);
    });
  });
  return judged;
}

}  // namespace shoal::redfish
