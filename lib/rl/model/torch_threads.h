// SPDX-License-Identifier: Apache-2.0
// Sets how many threads torch uses inside one operation: one, unless SetTorchThreads (policy.h) was
// called first.
//
// Torch's own default is one thread for each core. Then every small operation waits for threads
// that other processes delay.
#pragma once

namespace shoal::model {

// The first object of this folder or of lib/rl/algorithms calls this.
void ApplyTorchThreads();

}  // namespace shoal::model
