// SPDX-License-Identifier: Apache-2.0
// The median of numbers.
#pragma once

#include <vector>

namespace shoal::runtime {

// Returns the middle one of `values`, or the mean of the two middle ones where their number is
// even. Takes linear time. REQUIRES: there is at least one value, and none is a NaN.
double Median(std::vector<double> values);

}  // namespace shoal::runtime
