// SPDX-License-Identifier: Apache-2.0
// Threads that torch uses inside one operation: one, unless SetTorchThreads (policy.h) said
// otherwise.
//
// Torch's own default, one a core, makes every small operation wait for threads that other
// processes hold up.
#pragma once

namespace shoal::model {

// Called by whatever is created first in this folder or lib/rl/algorithms.
void ApplyTorchThreads();

}  // namespace shoal::model
