// SPDX-License-Identifier: Apache-2.0
// SIGINT, SIGTERM and SIGHUP, read by the main thread instead of handled: no code runs in a signal
// handler.
#pragma once

#include "platform/runtime/clock.h"

namespace shoal::cli {

// Blocks them, and SIGCHLD; call it before any thread exists.
void BlockStopSignals();

// Waits until one of the three came (true), a child ended or `limit` passed (false).
bool WaitForStopSignal(runtime::Duration limit);

}  // namespace shoal::cli
