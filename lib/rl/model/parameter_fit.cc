// SPDX-License-Identifier: Apache-2.0
#include "rl/model/parameter_fit.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>

#include "platform/runtime/check.h"
#include "platform/runtime/tensor.h"

namespace shoal::model {
namespace {

constexpr std::int64_t kNew = -1;

// One number of an axis: its segment, and its place on the axis of the other layout or kNew.
struct Place {
  std::string_view segment;
  std::int64_t from = kNew;
};

std::vector<Place> PlacesOf(const Axis& from, const Axis& to) {
  std::vector<Place> places;
  for (const AxisSegment& segment : to) {
    std::int64_t begin = 0;
    std::int64_t common = 0;
    for (const AxisSegment& other : from) {
      if (other.name == segment.name) {
        common = std::min(other.size, segment.size);
        break;
      }
      begin += other.size;
    }
    for (std::int64_t i = 0; i < segment.size; ++i) {
      places.push_back({.segment = segment.name, .from = i < common ? begin + i : kNew});
    }
  }
  return places;
}

bool AllNew(const std::vector<Place>& places) {
  return std::all_of(places.begin(), places.end(),
                     [](const Place& place) { return place.from == kNew; });
}

template <typename Number>
std::span<Number> PartOf(std::span<Number> flat, const ParameterInfo& info) {
  return flat.subspan(static_cast<std::size_t>(info.offset), static_cast<std::size_t>(info.size));
}

// Copies what both parameters have and returns how many numbers that are. With `silences`, what is
// new beside them is silenced as the header says.
std::int64_t Fit(const ParameterInfo& from, std::span<const float> old, const ParameterInfo& to,
                 bool silences, std::span<float> values) {
  if (from.axes.size() != to.axes.size()) return 0;
  const std::vector<Place> rows = PlacesOf(from.axes.front(), to.axes.front());
  const bool matrix = to.axes.size() == 2;
  const std::vector<Place> columns = matrix ? PlacesOf(from.axes.back(), to.axes.back())
                                            : std::vector<Place>{{.segment = "", .from = 0}};
  if (AllNew(rows) || AllNew(columns)) return 0;
  const std::int64_t width = matrix ? from.shape.back() : 1;
  std::int64_t copied = 0;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    for (std::size_t c = 0; c < columns.size(); ++c) {
      float& value = values[r * columns.size() + c];
      if (rows[r].from != kNew && columns[c].from != kNew) {
        value = old[static_cast<std::size_t>(rows[r].from * width + columns[c].from)];
        ++copied;
      } else if (silences && (rows[r].from != kNew || rows[r].segment == kQuerySegment)) {
        value = 0;
      }
    }
  }
  return copied;
}

std::string Described(const ParameterInfo& info) {
  return info.name + " " + runtime::ToString(info.shape);
}

void AppendList(const char* title, const std::vector<std::string>& lines, std::string& text) {
  if (lines.empty()) return;
  text += (text.empty() ? "" : "; ") + std::string(title);
  for (const std::string& line : lines) text += (&line == &lines.front() ? " " : ", ") + line;
}

}  // namespace

FitReport FitParameters(const ParameterLayout& from, std::span<const float> old,
                        const ParameterLayout& to, std::span<float> values) {
  SHOAL_CHECK(old.size() == static_cast<std::size_t>(from.total));
  SHOAL_CHECK(values.size() == static_cast<std::size_t>(to.total));
  FitReport report;
  std::set<std::string> used;
  for (const ParameterInfo& info : to.parameters) {
    const ParameterInfo* const before = from.Find(info.name);
    const std::int64_t copied = before == nullptr ? 0
                                                  : Fit(*before, PartOf(old, *before), info,
                                                        /*silences=*/true, PartOf(values, info));
    if (copied == 0) {
      report.added.push_back(Described(info));
      continue;
    }
    used.insert(info.name);
    if (copied == info.size && copied == before->size) {
      report.kept.push_back(info.name);
    } else {
      report.changed.push_back(Described(*before) + " to " + runtime::ToString(info.shape));
    }
  }
  for (const ParameterInfo& info : from.parameters) {
    if (!used.contains(info.name)) report.dropped.push_back(Described(info));
  }
  return report;
}

std::vector<float> FitMoments(const ParameterLayout& from, std::span<const float> old,
                              const ParameterLayout& to, float start) {
  SHOAL_CHECK(old.size() == static_cast<std::size_t>(from.trainable));
  std::vector<float> values(static_cast<std::size_t>(to.trainable));
  for (const ParameterInfo& info : to.parameters) {
    if (info.offset >= to.trainable) break;
    const std::span<float> own = PartOf(std::span(values), info);
    std::fill(own.begin(), own.end(), start);
    const ParameterInfo* const before = from.Find(info.name);
    if (before == nullptr || before->offset >= from.trainable) continue;
    Fit(*before, PartOf(old, *before), info, /*silences=*/false, own);
  }
  return values;
}

std::string ToString(const FitReport& report) {
  std::string text;
  AppendList("changed", report.changed, text);
  AppendList("added", report.added, text);
  AppendList("dropped", report.dropped, text);
  return text;
}

}  // namespace shoal::model
