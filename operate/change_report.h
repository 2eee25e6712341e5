// SPDX-License-Identifier: Apache-2.0
// Says what an operation has changed so far and what was there before, for a person who undoes it.
//
// A function of its arguments alone, safe for any number of threads.
#pragma once

#include <string>

#include "operate/announcement.h"
#include "operate/audit_log.h"

namespace shoal::operate {

// Returns a line for each property that matters of the requests that were or may have been sent,
// with the old value from the log, and for each resource that they made or removed. Secrets are not
// shown; what a request without such effects did is not known. Empty where nothing was sent.
// REQUIRES: `past` is an operation of `announcement`.
std::string ChangeReport(const Announcement& announcement, const PastOperation& past);

}  // namespace shoal::operate
