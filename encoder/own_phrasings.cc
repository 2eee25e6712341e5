// SPDX-License-Identifier: Apache-2.0
#include "encoder/own_phrasings.h"

#include <cstddef>

namespace shoal::encoder {

absl::StatusOr<OwnPhrasings> ReadOwnPhrasings(const redfish::GoalSuite& suite,
                                              const std::string& path) {
  OwnPhrasings own;
  SHOAL_ASSIGN_OR_RETURN(own.suite, redfish::WithEvaluationPhrasings(suite, path));
  for (std::size_t i = 0; i < suite.size(); ++i) {
    if (own.suite[i] != suite[i]) own.goals.insert(suite[i]->name());
  }
  return own;
}

}  // namespace shoal::encoder
