// SPDX-License-Identifier: Apache-2.0
#include "runtime/program.h"

#include "runtime/revision.h"

namespace shoal::runtime {

std::string GitRevision() { return kRevision; }

}  // namespace shoal::runtime
