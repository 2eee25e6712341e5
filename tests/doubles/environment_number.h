// SPDX-License-Identifier: Apache-2.0
// Reads how long or how much a test shall work from a variable of its environment. The proofs of
// tests/bars set such variables for their longer forms.
#pragma once

#include <cstdlib>

namespace shoal::doubles {

// Returns `otherwise` when the variable is not set.
inline int EnvironmentNumber(const char* name, int otherwise) {
  const char* const said = std::getenv(name);
  return said == nullptr ? otherwise : std::atoi(said);
}

}  // namespace shoal::doubles
