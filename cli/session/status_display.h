// SPDX-License-Identifier: Apache-2.0
// What a person watches while a run goes on: its status line (progress.h), kept up to date
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
  // The same of another line, about work that is no training.
  void Show(const std::string& line);
  // A line that stays.
  void Note(const std::string& text);

 private:
  display::LiveLine line_;
};

}  // namespace shoal::cli
