// SPDX-License-Identifier: Apache-2.0
#include "cli/status_display.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>

namespace shoal::cli {
namespace {

constexpr int kBarWidth = 24;
constexpr int kNarrowBarWidth = 8;
constexpr std::size_t kWide = 120;

std::size_t TerminalWidth() {
  winsize size = {};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

}  // namespace

StatusDisplay::StatusDisplay(runtime::Duration plain_interval, runtime::Clock& clock)
    : terminal_(::isatty(STDERR_FILENO) == 1), plain_interval_(plain_interval), clock_(clock) {}

StatusDisplay::~StatusDisplay() { Clear(); }

void StatusDisplay::Show(const Progress& progress, const Extent& extent) {
  if (terminal_) {
    const std::size_t width = TerminalWidth();
    std::string line = StatusLine(progress, extent, width >= kWide ? kBarWidth : kNarrowBarWidth);
    if (line.size() >= width) line.resize(width - 1);
    std::fprintf(stderr, "\r\x1b[K%s", line.c_str());
    std::fflush(stderr);
    shown_ = true;
    return;
  }
  if (clock_.Now() < next_plain_) return;
  next_plain_ = clock_.Now() + plain_interval_;
  std::fprintf(stderr, "%s\n", StatusLine(progress, extent, 0).c_str());
}

void StatusDisplay::Note(const std::string& text) {
  Clear();
  std::fprintf(stderr, "%s\n", text.c_str());
}

void StatusDisplay::Clear() {
  if (!shown_) return;
  std::fputs("\r\x1b[K", stderr);
  std::fflush(stderr);
  shown_ = false;
}

}  // namespace shoal::cli
