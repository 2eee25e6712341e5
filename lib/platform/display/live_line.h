// SPDX-License-Identifier: Apache-2.0
// A line about work under way: rewritten in place on a terminal, printed anew every few seconds
// anywhere else. Written to standard error, so that results can be piped.
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
  // The line for a terminal of so many columns; for none, where there is no terminal.
  using Render = std::function<std::string(std::optional<std::size_t> width)>;

  LiveLine(runtime::Duration plain_interval, runtime::Clock& clock);
  // Clears it.
  ~LiveLine();
  LiveLine(const LiveLine&) = delete;
  LiveLine& operator=(const LiveLine&) = delete;

  // Asks `render` only when something is to be written.
  void Show(const Render& render);
  // A line that stays.
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
