// SPDX-License-Identifier: Apache-2.0
#include "platform/display/line_chart.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <string>

#include "platform/runtime/random.h"

namespace shoal::display {
namespace {

std::string Drawn(const std::vector<std::pair<double, double>>& points) {
  return DrawChart({"title", "x", {{"a", points}}});
}

std::size_t CountOf(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

}  // namespace

TEST_CASE("A chart without points is nothing, and odd points do no harm") {
  REQUIRE(Drawn({}).empty());
  const double infinity = std::numeric_limits<double>::infinity();
  REQUIRE(Drawn({{0, infinity}, {1, 0.0 / 0.0}}).empty());
  const std::string flat = Drawn({{5, 2}});
  REQUIRE(flat.starts_with("<svg"));
  REQUIRE(flat.find("nan") == std::string::npos);
}

TEST_CASE("A band is drawn around a line, and the axis has room for it") {
  const std::string plain = DrawChart({"title", "x", {{"a", {{0, 1}, {1, 2}}}}});
  REQUIRE(CountOf(plain, "<polygon") == 0);
  const std::string banded =
      DrawChart({"title", "x", {{"a", {{0, 1}, {1, 2}}, false, {{0, 40}, {-20, 2}}}}});
  REQUIRE(CountOf(banded, "<polygon") == 1);
  REQUIRE(banded.find(">40<") != std::string::npos);
  REQUIRE(banded.find(">-20<") != std::string::npos);
  const double infinity = std::numeric_limits<double>::infinity();
  const std::string odd = DrawChart({"title", "x", {{"a", {{0, 1}}, false, {{0, infinity}}}}});
  REQUIRE(CountOf(odd, "<polygon") == 0);
}

TEST_CASE("A value that nothing but rounding moves is drawn as flat") {
  std::vector<std::pair<double, double>> points;
  for (int i = 0; i < 1000; ++i) points.emplace_back(i, 4e-4);
  REQUIRE(Drawn(points).size() < 20'000);
  REQUIRE(Drawn({{0, 0.3}, {1, 0.1 + 0.2}}).size() < 5'000);
}

TEST_CASE("A small constant is drawn on an axis of its own size, not as zero") {
  const std::string svg = Drawn({{0, 4e-4}, {1000, 4e-4}});
  REQUIRE(svg.find(">0.0004<") != std::string::npos);
  REQUIRE(svg.find(">0.4<") == std::string::npos);
  REQUIRE(svg.find(">-0.2<") == std::string::npos);
}

TEST_CASE("Numbers on axes are short, and never lose what they say") {
  REQUIRE(ShortNumber(4e-4) == "0.0004");
  REQUIRE(ShortNumber(4e-5) == "4e-05");
  REQUIRE(ShortNumber(1500) == "1500");
  REQUIRE(ShortNumber(437415) == "437.4k");
  REQUIRE(ShortNumber(-2.5e6) == "-2.5M");
  REQUIRE(ShortNumber(2774916288.0) == "2.775G");
  REQUIRE(ShortNumber(0) == "0");
}

TEST_CASE("The ends of an axis can be given, and a unit stands after the title") {
  Chart chart{"success", "steps", {{"a", {{0, 0.5}, {1, 0.6}}}}, "share", 0.0, 1.0};
  const std::string svg = DrawChart(chart);
  REQUIRE(svg.find(">0<") != std::string::npos);
  REQUIRE(svg.find(">1<") != std::string::npos);
  REQUIRE(svg.find("[share]") != std::string::npos);
}

TEST_CASE("Axes have a handful of ticks, whatever the values") {
  runtime::Random random(1);
  const auto value = [&random] {
    const double size = std::pow(10.0, static_cast<double>(random.Below(640)) - 320);
    return (random.Below(2) == 0 ? -1 : 1) * size * static_cast<double>(1 + random.Below(9));
  };
  for (int i = 0; i < 2000; ++i) {
    const double x = value();
    const double y = value();
    const bool near = random.Below(2) == 0;
    const double other_x = near ? std::nextafter(x, 2 * x) : value();
    const double other_y = near ? y * (1 + 1e-12) : value();
    const std::string svg = Drawn({{x, y}, {other_x, other_y}});
    INFO(x << " " << y << " " << other_x << " " << other_y);
    // There is the title, and at most ten labels on each axis.
    REQUIRE(CountOf(svg, "<text class=\"t\"") <= 21);
    REQUIRE(svg.find("nan") == std::string::npos);
    REQUIRE(svg.find("inf") == std::string::npos);
  }
  REQUIRE(Drawn({{0, -1}, {1, 1}}).find(">-0<") == std::string::npos);
}

}  // namespace shoal::display
