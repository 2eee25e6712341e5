// SPDX-License-Identifier: Apache-2.0
// Draws line charts as inline SVG, and the HTML page around them, without scripts or network
// access.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace shoal::display {

struct ChartLine {
  std::string name;
  // Points (x, y) with x ascending. Points that are not finite, or beyond 1e300, are left out.
  std::vector<std::pair<double, double>> points;
  // Marks each point, for lines of few points such as evaluations.
  bool dots = false;
  // The low and the high end of a band around each point, which is shaded; empty for none. Ends
  // that are not finite leave the band out there.
  std::vector<std::pair<double, double>> band = {};
};

struct Chart {
  std::string title;
  std::string x_title;
  std::vector<ChartLine> lines;
  // The unit of y, shown after the title; empty for none.
  std::string unit = {};
  // Fixed ends of the y axis; without a value, the points decide.
  std::optional<double> low = std::nullopt;
  std::optional<double> high = std::nullopt;
};

// Returns the SVG, or an empty text when there is nothing to draw. Long lines are averaged down to
// some hundred points. Several lines get a legend; a line without points is not in it.
std::string DrawChart(const Chart& chart);

// Returns a whole page around `body`, which is HTML with charts and tables; `title` is plain text.
std::string HtmlPage(const std::string& title, const std::string& body);

// Formats a number for people: "1.5M", "128", "0.0004".
std::string ShortNumber(double value);

// Returns `text` escaped for HTML and SVG.
std::string EscapeHtml(const std::string& text);

}  // namespace shoal::display
