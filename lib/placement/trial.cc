// SPDX-License-Identifier: Apache-2.0
#include "placement/trial.h"

namespace shoal::placement {

absl::StatusOr<double> Trial::Cost(const Placement& placement) {
  SHOAL_ASSIGN_OR_RETURN(const Step step, simulator_.Run(placement));
  ++found_.evaluations;
  options_.progress(found_.evaluations);
  if (found_.placement.empty() || step.cost() < found_.step.cost()) {
    found_.placement = placement;
    found_.step = step;
    found_.improvements.push_back({.evaluations = found_.evaluations, .step = step});
  }
  return step.cost();
}

}  // namespace shoal::placement
