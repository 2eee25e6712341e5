// SPDX-License-Identifier: Apache-2.0
#include "platform/runtime/program.h"

#include "platform/runtime/revision.h"

namespace shoal::runtime {

std::string GitRevision() { return kRevision; }

}  // namespace shoal::runtime
