// SPDX-License-Identifier: Apache-2.0
#include "platform/display/line_chart.h"

#include <absl/strings/str_format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>

namespace shoal::display {
namespace {

constexpr double kWidth = 460;
constexpr double kHeight = 230;
constexpr double kLeft = 56;
constexpr double kRight = 12;
constexpr double kTop = 28;
// The height of the legend.
constexpr double kLegend = 16;
constexpr double kBottom = 38;
constexpr std::size_t kMaxPoints = 400;
// The bound keeps the difference of two values finite.
constexpr double kMaxValue = 1e300;
constexpr std::array<const char*, 6> kColours = {"#1f6feb", "#d1542c", "#2a9d57",
                                                 "#8a4fd0", "#b8860b", "#5b6573"};

constexpr std::string_view kStyle =
    "body{font:15px/1.5 system-ui,sans-serif;color:#1c2430;margin:2rem auto;max-width:1480px;"
    "padding:0 1rem}h1{font-size:1.4rem}h2{font-size:1.1rem;margin-top:2rem}"
    ".charts{display:grid;grid-template-columns:repeat(auto-fill,minmax(420px,1fr));gap:12px}"
    "svg{width:100%;border:1px solid #d8dee6;border-radius:6px;background:#fff}"
    "svg .t{font:11px sans-serif;fill:#5b6573}svg .h{font:600 13px sans-serif;fill:#1c2430}"
    "svg .u{font-weight:400;fill:#5b6573}svg .g{stroke:#e7ebf0}"
    "table{border-collapse:collapse;font-size:14px}.wide{overflow-x:auto}"
    "td,th{padding:3px 12px;border-bottom:1px solid #e7ebf0;text-align:right}"
    "td.l,th.l,td:first-child,th:first-child{text-align:left}th.c{text-align:center}"
    "details{border:1px solid #d8dee6;border-radius:6px;padding:.4rem 1rem;margin:.6rem 0}"
    "summary{cursor:pointer;font-weight:600}.line{font-size:1.05rem}.note{color:#5b6573}pre{"
    "background:#f5f7fa;padding:1rem;"
    "border-radius:6px;overflow:auto;font-size:13px}";

using Points = std::vector<std::pair<double, double>>;

bool IsDrawable(double value) { return std::abs(value) <= kMaxValue; }

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  void Take(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

Points Thinned(const Points& points) {
  Points finite;
  std::copy_if(points.begin(), points.end(), std::back_inserter(finite), [](const auto& point) {
    return IsDrawable(point.first) && IsDrawable(point.second);
  });
  if (finite.size() <= kMaxPoints) return finite;
  Points thinned;
  const std::size_t group = (finite.size() + kMaxPoints - 1) / kMaxPoints;
  for (std::size_t i = 0; i < finite.size(); i += group) {
    const std::size_t end = std::min(finite.size(), i + group);
    std::pair<double, double> mean = {0, 0};
    for (std::size_t j = i; j < end; ++j) {
      mean.first += finite[j].first / static_cast<double>(end - i);
      mean.second += finite[j].second / static_cast<double>(end - i);
    }
    thinned.push_back(mean);
  }
  return thinned;
}

// Widens a range that is too narrow to be divided, where only rounding tells the values apart.
Range Widened(Range range) {
  constexpr double kLeast = 1e-300;
  const double size = std::max(std::abs(range.low), std::abs(range.high));
  if (range.high - range.low > std::max(size * 1e-9, kLeast)) return range;
  // The padding follows the value's own size: 0.0004 must not be drawn on an axis from -0.5 to 0.5.
  const double pad = size > kLeast * 1e10 ? size * 0.1 : 0.5;
  return {range.low - pad, range.high + pad};
}

// Returns a step of 1, 2 or 5 times a power of ten that gives about `count` steps.
double NiceStep(double span, int count) {
  const double rough = span / count;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (rough <= factor * power) return factor * power;
  }
  return 10 * power;
}

// Returns the multiples of a nice step within the range; zero has no sign.
std::vector<double> Ticks(Range range, int count) {
  const double step = NiceStep(range.high - range.low, count);
  std::vector<double> ticks;
  const double last = std::floor(range.high / step + 1e-9);
  for (double i = std::ceil(range.low / step - 1e-9); i <= last; ++i)
    ticks.push_back(i * step + 0.0);
  return ticks;
}

class Frame {
 public:
  Frame(Range x, Range y, double top) : x_(Widened(x)), y_(Widened(y)), top_(top) {}
  double X(double value) const {
    return kLeft + (value - x_.low) / (x_.high - x_.low) * (kWidth - kLeft - kRight);
  }
  double Y(double value) const {
    return kHeight - kBottom - (value - y_.low) / (y_.high - y_.low) * (kHeight - top_ - kBottom);
  }
  std::string Axes() const {
    std::string svg;
    for (const double x : Ticks(x_, 6)) {
      svg += absl::StrFormat(R"(<text class="t" text-anchor="middle" x="%.1f" y="%.1f">%s</text>)",
                             X(x), kHeight - kBottom + 14, ShortNumber(x));
    }
    for (const double y : Ticks(y_, 4)) {
      svg += absl::StrFormat(R"(<path class="g" d="M%.0f %.1fH%.0f"/>)"
                             R"(<text class="t" text-anchor="end" x="%.0f" y="%.1f">%s</text>)",
                             kLeft, Y(y), kWidth - kRight, kLeft - 5, Y(y) + 3.5, ShortNumber(y));
    }
    return svg;
  }

 private:
  Range x_;
  Range y_;
  double top_;
};

// Returns the outline of a line's band: along the high ends and back along the low ones.
Points BandOutline(const ChartLine& line) {
  Points outline;
  Points back;
  for (std::size_t i = 0; i < std::min(line.band.size(), line.points.size()); ++i) {
    const double x = line.points[i].first;
    const auto& [low, high] = line.band[i];
    if (!IsDrawable(x) || !IsDrawable(low) || !IsDrawable(high)) continue;
    outline.emplace_back(x, high);
    back.emplace_back(x, low);
  }
  outline.insert(outline.end(), back.rbegin(), back.rend());
  return outline;
}

std::string DrawBand(const Frame& frame, const Points& outline, const char* colour) {
  std::string points;
  for (const auto& [x, y] : outline) {
    points += absl::StrFormat("%.1f,%.1f ", frame.X(x), frame.Y(y));
  }
  return absl::StrFormat(R"(<polygon fill="%s" fill-opacity="0.15" points="%s"/>)", colour, points);
}

std::string DrawLine(const Frame& frame, const Points& points, bool dots, const char* colour) {
  std::string path;
  std::string marks;
  for (const auto& [x, y] : points) {
    path += absl::StrFormat("%c%.1f %.1f", path.empty() ? 'M' : 'L', frame.X(x), frame.Y(y));
    if (!dots) continue;
    marks += absl::StrFormat(R"(<circle r="2.5" fill="%s" cx="%.1f" cy="%.1f"/>)", colour,
                             frame.X(x), frame.Y(y));
  }
  return absl::StrFormat(R"(<path fill="none" stroke-width="1.5" stroke="%s" d="%s"/>)", colour,
                         path) +
         marks;
}

}  // namespace

std::string ShortNumber(double value) {
  const double size = std::abs(value);
  if (size >= 1e12 || (size > 0 && size < 1e-4)) return absl::StrFormat("%.4g", value);
  if (size >= 1e9) return absl::StrFormat("%.4gG", value / 1e9);
  if (size >= 1e6) return absl::StrFormat("%.4gM", value / 1e6);
  if (size >= 1e4) return absl::StrFormat("%.4gk", value / 1e3);
  return absl::StrFormat("%.4g", value);
}

std::string EscapeHtml(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped.push_back(c);
    }
  }
  return escaped;
}

std::string HtmlPage(const std::string& title, const std::string& body) {
  const std::string name = EscapeHtml(title);
  return "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>" + name +
         "</title><style>" + std::string(kStyle) + "</style><h1>" + name + "</h1>" + body +
         "</html>\n";
}

std::string DrawChart(const Chart& chart) {
  Range x;
  Range y;
  std::vector<Points> drawn;
  std::vector<Points> bands;
  for (const ChartLine& line : chart.lines) {
    drawn.push_back(Thinned(line.points));
    bands.push_back(BandOutline(line));
    for (const Points* points : {&drawn.back(), &bands.back()}) {
      for (const auto& point : *points) {
        x.Take(point.first);
        y.Take(point.second);
      }
    }
  }
  if (x.high < x.low) return "";
  if (chart.low) y.Take(*chart.low);
  if (chart.high) y.Take(*chart.high);
  const bool legend = chart.lines.size() > 1;
  const Frame frame(x, y, legend ? kTop + kLegend : kTop);
  const std::string title = EscapeHtml(chart.title);
  const std::string unit =
      chart.unit.empty() ? "" : "<tspan class=\"u\"> [" + EscapeHtml(chart.unit) + "]</tspan>";
  std::string svg = absl::StrFormat(R"(<svg viewBox="0 0 %.0f %.0f" role="img"><title>%s</title>)"
                                    R"(<text class="h" x="8" y="16">%s%s</text>)",
                                    kWidth, kHeight, title, title, unit) +
                    frame.Axes();
  double at = 8;
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    if (drawn[i].empty()) continue;
    const char* const colour = kColours[i % kColours.size()];
    if (!bands[i].empty()) svg += DrawBand(frame, bands[i], colour);
    svg += DrawLine(frame, drawn[i], chart.lines[i].dots, colour);
    if (!legend) continue;
    svg += absl::StrFormat(R"(<text class="t" style="fill:%s" x="%.0f" y="32">%s</text>)", colour,
                           at, EscapeHtml(chart.lines[i].name));
    at += 12 + 6.2 * static_cast<double>(chart.lines[i].name.size());
  }
  return svg + absl::StrFormat(
                   R"(<text class="t" text-anchor="middle" x="%.0f" y="%.0f">%s</text></svg>)",
                   (kLeft + kWidth - kRight) / 2, kHeight - 6, EscapeHtml(chart.x_title));
}

}  // namespace shoal::display
