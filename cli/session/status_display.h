// SPDX-License-Identifier: Apache-2.0
// What a person watches while a run goes on: its status line (progress.h), kept up to date
// (live_line.h).
//
// Not thread-safe.
#pragma once

#include <string>

#include "cli/session/progress.h"
#include "platform/runtime/clock.h"
#include "platform/runtime/live_line.h"

namespace shoal::cli {

class StatusDisplay {
 public:
  StatusDisplay(runtime::Duration plain_interval, runtime::Clock& clock);

  void Show(const Progress& progress, const Extent& extent);
  // A line that stays.
  void Note(const std::string& text);

 private:
  runtime::LiveLine line_;
};

}  // namespace shoal::cli
