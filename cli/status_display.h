// SPDX-License-Identifier: Apache-2.0
// What a person watches while a run goes on: one line that is rewritten on a terminal, a line every
// few seconds anywhere else. Written to standard error, so that results can be piped.
//
// Not thread-safe.
#pragma once

#include <string>

#include "cli/progress.h"
#include "runtime/clock.h"

namespace shoal::cli {

class StatusDisplay {
 public:
  StatusDisplay(runtime::Duration plain_interval, runtime::Clock& clock);
  ~StatusDisplay();
  StatusDisplay(const StatusDisplay&) = delete;
  StatusDisplay& operator=(const StatusDisplay&) = delete;

  void Show(const Progress& progress, const Extent& extent);
  // A line that stays.
  void Note(const std::string& text);

 private:
  void Clear();

  const bool terminal_;
  const runtime::Duration plain_interval_;
  runtime::Clock& clock_;
  runtime::TimePoint next_plain_ = {};
  bool shown_ = false;
};

}  // namespace shoal::cli
