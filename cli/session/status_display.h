// SPDX-License-Identifier: Apache-2.0
// Shows a person how a run goes: keeps the status line (progress.h) up to date on a live line
// (live_line.h).
//
// Not thread-safe.
#pragma once

#include <string>

#include "cli/session/progress.h"
#include "platform/display/live_line.h"
#include "platform/runtime/clock.h"

namespace shoal::cli {

class StatusDisplay {
 public:
  StatusDisplay(runtime::Duration plain_interval, runtime::Clock& clock);

  void Show(const Progress& progress, const Extent& extent);
  // Shows another line, about work other than training.
  void Show(const std::string& line);
  // Prints a line that stays.
  void Note(const std::string& text);

 private:
  display::LiveLine line_;
};

}  // namespace shoal::cli
