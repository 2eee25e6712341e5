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

// One knob while it is turned into text.
struct KnobText {
  // The prefix before the knob's name, such as "replay.table.0.".
  const std::string& path;
  std::string_view name;
  // The value in TOML syntax.
  std::string value;
  const KnobInfo& info;
};

// Passes every knob to one function, and the header of each table, "[a.b]" or "[[a.b]]", to
// another.
class Walker final : public Visitor {
 public:
  using Emit = std::function<void(const KnobText&)>;
  using Begin = std::function<void(const std::string&)>;
  Walker(const std::string& section, Emit emit, Begin begin)
      : levels_({{section, section}}), emit_(std::move(emit)), begin_(std::move(begin)) {
    begin_("[" + section + "]");
  }

  void Knob(std::string_view name, std::int64_t& value, const KnobInfo& info) override {
    Show(name, ValueText(value), info);
  }
  void Knob(std::string_view name, double& value, const KnobInfo& info) override {
    Show(name, ValueText(value), info);
  }
  void Knob(std::string_view name, bool& value, const KnobInfo& info) override {
    Show(name, ValueText(value), info);
  }
  void Knob(std::string_view name, std::string& value, const KnobInfo& info) override {
    Show(name, ValueText(value), info);
  }
  void Knob(std::string_view name, std::vector<std::int64_t>& value,
            const KnobInfo& info) override {
    Show(name, ValueText(value), info);
  }
  void Knob(std::string_view name, std::vector<std::string>& value, const KnobInfo& info) override {
    Show(name, ValueText(value), info);
  }

 protected:
  bool Enter(std::string_view name) override {
    Push(name, std::string(name));
    begin_("[" + levels_.back().table + "]");
    return true;
  }
  void Leave() override { levels_.pop_back(); }
  std::optional<std::size_t> EnterList(std::string_view name) override {
    lists_.emplace_back(name);
    return std::nullopt;
  }
  void EnterElement(std::size_t index) override {
    Push(lists_.back(), lists_.back() + "." + std::to_string(index));
    begin_("[[" + levels_.back().table + "]]");
  }
  void LeaveList() override { lists_.pop_back(); }

 private:
  struct Level {
    // The path as the header of a table has it.
    std::string table;
    // The path as --set has it, with the indices of tables in their lists.
    std::string path;
  };

  void Push(std::string_view table, const std::string& path) {
    const Level& parent = levels_.back();
    levels_.push_back({parent.table + "." + std::string(table), parent.path + "." + path});
  }
  void Show(std::string_view name, std::string value, const KnobInfo& info) {
    emit_({levels_.back().path, name, std::move(value), info});
  }

  std::vector<Level> levels_;
  std::vector<std::string> lists_;
  const Emit emit_;
  const Begin begin_;
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
  Walker walker(
      name,
      [&text](const KnobText& knob) {
        text +=
            "# " + Remark(knob.info) + "\n" + std::string(knob.name) + " = " + knob.value + "\n";
      },
      [&text](const std::string& header) { text += (text.empty() ? "" : "\n") + header + "\n"; });
  visit(walker);
  return text + "\n";
}

std::string DescribeSection(const std::string& name, const std::function<void(Visitor&)>& visit) {
  std::string text;
  Walker walker(
      name,
      [&text](const KnobText& knob) {
        text += "  " + knob.path + "." + std::string(knob.name) + " = " + knob.value + "\n      " +
                Remark(knob.info) + "\n";
      },
      [](const std::string&) {});
  visit(walker);
  return text;
}

}  // namespace shoal::runtime
