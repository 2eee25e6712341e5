// SPDX-License-Identifier: Apache-2.0
// How much of the processors a thread claims while there are too few of them.
#pragma once

namespace shoal::runtime {

// The calling thread alone, and threads that it makes later, yield to others by `nice` (0 to 19,
// setpriority(2)): at 10 about a tenth of a processor that another thread wants whole. Where the
// system refuses, nothing changes.
void SetThreadNice(int nice);

}  // namespace shoal::runtime
