// SPDX-License-Identifier: Apache-2.0
#include "platform/runtime/config_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace shoal::runtime {
namespace {

std::string ValueText(std::int64_t value) { return std::to_string(value); }
std::string ValueText(double value) {
  std::string text = NumberText(value);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}
std::string ValueText(bool value) { return value ? "true" : "false"; }
std::string ValueText(const std::string& value) {
  std::string text = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return text + "\"";
}
template <typename T>
std::string ValueText(const std::vector<T>& values) {
  std::string text = "[";
  for (std::size_t i = 0; i < values.size(); ++i)
    text += (i > 0 ? ", " : "") + ValueText(values[i]);
  return text + "]";
}

// Hands every knob to one function as (path of its table, name, value in TOML, info).
class Walker final : public Visitor {
 public:
  using Emit = std::function<void(const std::string&, std::string_view, const std::string&,
                                  const KnobInfo&)>;
  Walker(std::string section, Emit emit) : path_(std::move(section)), emit_(std::move(emit)) {}

  void Knob(std::string_view name, std::int64_t& value, const KnobInfo& info) override {
    emit_(path_, name, ValueText(value), info);
  }
  void Knob(std::string_view name, double& value, const KnobInfo& info) override {
    emit_(path_, name, ValueText(value), info);
  }
  void Knob(std::string_view name, bool& value, const KnobInfo& info) override {
    emit_(path_, name, ValueText(value), info);
  }
  void Knob(std::string_view name, std::string& value, const KnobInfo& info) override {
    emit_(path_, name, ValueText(value), info);
  }
  void Knob(std::string_view name, std::vector<std::int64_t>& value,
            const KnobInfo& info) override {
    emit_(path_, name, ValueText(value), info);
  }
  void Knob(std::string_view name, std::vector<std::string>& value, const KnobInfo& info) override {
    emit_(path_, name, ValueText(value), info);
  }

 protected:
  bool Enter(std::string_view name) override {
    path_ += "." + std::string(name);
    return true;
  }
  void Leave() override { path_.resize(path_.rfind('.')); }

 private:
  std::string path_;
  const Emit emit_;
};

std::size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

std::string Remark(const KnobInfo& info) {
  const std::string range = RangeText(info);
  return std::string(info.help) + (range.empty() ? "" : " (" + range + ")");
}

}  // namespace

std::string NumberText(double value) {
  if (std::abs(value) < 1e15 && value == std::trunc(value)) {
    return std::to_string(static_cast<std::int64_t>(value));
  }
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  return std::string(buffer, end);
}

std::string RangeText(const KnobInfo& info) {
  std::string text;
  if (!info.choices.empty()) {
    text = "one of ";
    for (std::size_t i = 0; i < info.choices.size(); ++i) {
      text += (i > 0 ? ", " : "") + std::string(info.choices[i]);
    }
    return text;
  }
  const bool low = std::isfinite(info.min);
  const bool high = std::isfinite(info.max);
  if (low && high) text = NumberText(info.min) + " .. " + NumberText(info.max);
  if (low && !high) text = "at least " + NumberText(info.min);
  if (!low && high) text = "at most " + NumberText(info.max);
  if (!info.unit.empty()) text += (text.empty() ? "" : " ") + std::string(info.unit);
  return text;
}

std::string DidYouMean(std::string_view name, const std::vector<std::string>& known) {
  std::size_t best = std::max<std::size_t>(2, name.size() / 3) + 1;
  std::string nearest;
  for (const std::string& candidate : known) {
    const std::size_t distance = EditDistance(name, candidate);
    if (distance < best) {
      best = distance;
      nearest = candidate;
    }
  }
  return nearest.empty() ? "" : " (did you mean " + nearest + "?)";
}

std::string PrintSection(const std::string& name, const std::function<void(Visitor&)>& visit) {
  std::string text;
  std::string table;
  Walker walker(name, [&](const std::string& path, std::string_view knob, const std::string& value,
                          const KnobInfo& info) {
    if (path != table) {
      text += (text.empty() ? "[" : "\n[") + path + "]\n";
      table = path;
    }
    text += "# " + Remark(info) + "\n" + std::string(knob) + " = " + value + "\n";
  });
  visit(walker);
  return text + "\n";
}

std::string DescribeSection(const std::string& name, const std::function<void(Visitor&)>& visit) {
  std::string text;
  Walker walker(name, [&](const std::string& path, std::string_view knob, const std::string& value,
                          const KnobInfo& info) {
    text +=
        "  " + path + "." + std::string(knob) + " = " + value + "\n      " + Remark(info) + "\n";
  });
  visit(walker);
  return text;
}

}  // namespace shoal::runtime
