// SPDX-License-Identifier: Apache-2.0
// How many files a process may have open.
#pragma once

namespace shoal::runtime {

// Lets the process have as many files open as its hard limit says (ulimit -Hn). The soft limit,
// which is often 1024, is there for programs that use select(2). Where the system refuses, the
// limit stays as it was. Call it before files are opened whose number depends on the limit.
void AllowAllOpenFiles();

}  // namespace shoal::runtime
