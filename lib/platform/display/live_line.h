// SPDX-License-Identifier: Apache-2.0
// A line that reports work under way. On a terminal it is rewritten in place; anywhere else it is
// printed again every few seconds. It goes to standard error, so that results on standard output
// can be piped.
//
// Not thread-safe.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "platform/runtime/clock.h"

namespace shoal::display {

class LiveLine {
 public:
  // Renders the line for a terminal of `width` columns, or without a limit when there is no
  // terminal.
  using Render = std::function<std::string(std::optional<std::size_t> width)>;

  LiveLine(runtime::Duration plain_interval, runtime::Clock& clock);
  // Clears the line.
  ~LiveLine();
  LiveLine(const LiveLine&) = delete;
  LiveLine& operator=(const LiveLine&) = delete;

  // Calls `render` only when a line is due.
  void Show(const Render& render);
  // Writes a line that stays.
  void Note(const std::string& text);

 private:
  void Clear();

  const bool terminal_;
  const runtime::Duration plain_interval_;
  runtime::Clock& clock_;
  runtime::TimePoint next_ = {};
  bool shown_ = false;
};

}  // namespace shoal::display
