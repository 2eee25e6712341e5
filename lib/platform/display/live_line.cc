// SPDX-License-Identifier: Apache-2.0
#include "platform/display/live_line.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>

namespace shoal::display {
namespace {

constexpr std::chrono::milliseconds kTerminalInterval{50};

std::size_t TerminalWidth() {
  winsize size = {};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

}  // namespace

LiveLine::LiveLine(runtime::Duration plain_interval, runtime::Clock& clock)
    : terminal_(::isatty(STDERR_FILENO) == 1), plain_interval_(plain_interval), clock_(clock) {}

LiveLine::~LiveLine() { Clear(); }

void LiveLine::Show(const Render& render) {
  if (clock_.Now() < next_) return;
  next_ = clock_.Now() + (terminal_ ? runtime::Duration(kTerminalInterval) : plain_interval_);
  if (!terminal_) {
    std::fprintf(stderr, "%s\n", render(std::nullopt).c_str());
    return;
  }
  const std::size_t width = TerminalWidth();
  std::string line = render(width);
  if (line.size() >= width) line.resize(width - 1);
  std::fprintf(stderr, "\r\x1b[K%s", line.c_str());
  std::fflush(stderr);
  shown_ = true;
}

void LiveLine::Note(const std::string& text) {
  Clear();
  std::fprintf(stderr, "%s\n", text.c_str());
}

void LiveLine::Clear() {
  if (!shown_) return;
  std::fputs("\r\x1b[K", stderr);
  std::fflush(stderr);
  shown_ = false;
}

}  // namespace shoal::display
