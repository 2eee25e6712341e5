// SPDX-License-Identifier: Apache-2.0
// A line chart as inline SVG, and the page around it: no script, no network.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace shoal::display {

struct ChartLine {
  std::string name;
  // (x, y), x ascending; points that are not finite, or beyond 1e300, are left out.
  std::vector<std::pair<double, double>> points;
  // Marks each point: for few points, as of evaluations.
  bool dots = false;
};

struct Chart {
  std::string title;
  std::string x_title;
  std::vector<ChartLine> lines;
  // Of y, after the title; empty: none.
  std::string unit = {};
  // Ends of the y axis, whatever the points; nothing: as the points need it.
  std::optional<double> low = std::nullopt;
  std::optional<double> high = std::nullopt;
};

// Empty when there is nothing to draw. Long lines are averaged down to some hundred points. Several
// lines get a legend; a line without points has no part in it.
std::string DrawChart(const Chart& chart);

// A whole page with charts and tables in `body`, which is HTML; `title` is text.
std::string HtmlPage(const std::string& title, const std::string& body);

// A number for people: "1.5M", "128", "0.0004".
std::string ShortNumber(double value);

// `text` safe inside HTML and SVG.
std::string EscapeHtml(const std::string& text);

}  // namespace shoal::display
