// SPDX-License-Identifier: Apache-2.0
#include "cli/session/status_display.h"

namespace shoal::cli {
namespace {

constexpr int kBarWidth = 24;
constexpr int kNarrowBarWidth = 8;
constexpr std::size_t kWide = 120;

}  // namespace

StatusDisplay::StatusDisplay(runtime::Duration plain_interval, runtime::Clock& clock)
    : line_(plain_interval, clock) {}

void StatusDisplay::Show(const Progress& progress, const Extent& extent) {
  line_.Show([&](std::optional<std::size_t> width) {
    const int bar = !width ? 0 : *width >= kWide ? kBarWidth : kNarrowBarWidth;
    return StatusLine(progress, extent, bar);
  });
}

void StatusDisplay::Show(const std::string& line) {
  line_.Show([&](std::optional<std::size_t>) { return line; });
}

void StatusDisplay::Note(const std::string& text) { line_.Note(text); }

}  // namespace shoal::cli
