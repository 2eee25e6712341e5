// SPDX-License-Identifier: Apache-2.0
#include "platform/runtime/config.h"

#include <toml++/toml.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>

#include "platform/runtime/atomic_file.h"
#include "platform/runtime/check.h"
#include "platform/runtime/config_text.h"

namespace shoal::runtime {
namespace {

// Every section that a cluster file may have, whichever process reads it.
constexpr std::array<std::string_view, 17> kSections = {
    "run",        "cluster",  "policy",     "algorithm", "environment", "actor",
    "mockserver", "replay",   "inference",  "learner",   "encoder",     "train",
    "report",     "discover", "simulation", "placement", "do"};

constexpr std::size_t kMaxFileBytes = std::size_t{1} << 20;

std::string Where(const toml::node& node, const std::string& file) {
  const auto& source = node.source();
  const std::string origin = source.path ? *source.path : file;
  if (origin == "--set" || source.begin.line == 0) return origin;
  return origin + ":" + std::to_string(source.begin.line);
}

std::string KindOf(const toml::node& node) {
  std::ostringstream text;
  text << node.type();
  return text.str();
}

// Fills knobs from one table and records which keys it used.
class Reader final : public Visitor {
 public:
  Reader(const toml::table& table, std::string section, std::string file) : file_(std::move(file)) {
    levels_.push_back({&table, std::move(section), {}});
  }

  void Knob(std::string_view name, std::int64_t& value, const KnobInfo& info) override {
    if (const toml::node* node = Take(name)) value = Integer(*node, name, info).value_or(value);
  }
  void Knob(std::string_view name, double& value, const KnobInfo& info) override {
    const toml::node* const node = Take(name);
    if (node == nullptr) return;
    const auto number = node->value<double>();
    if (!node->is_number() || !number) return Wrong(*node, name, "a number");
    if (InRange(*node, name, *number, info)) value = *number;
  }
  void Knob(std::string_view name, bool& value, const KnobInfo&) override {
    const toml::node* const node = Take(name);
    if (node == nullptr) return;
    if (!node->is_boolean()) return Wrong(*node, name, "true or false");
    value = node->as_boolean()->get();
  }
  void Knob(std::string_view name, std::string& value, const KnobInfo& info) override {
    if (const toml::node* node = Take(name)) value = Text(*node, name, info).value_or(value);
  }
  void Knob(std::string_view name, std::vector<std::int64_t>& value,
            const KnobInfo& info) override {
    List(name, value, "a list of integers",
         [&](const toml::node& node) { return Integer(node, name, info); });
  }
  void Knob(std::string_view name, std::vector<std::string>& value, const KnobInfo& info) override {
    List(name, value, "a list of texts",
         [&](const toml::node& node) { return Text(node, name, info); });
  }

  std::string Place() const override {
    const toml::table* const table = levels_.back().table;
    return table == nullptr ? "" : Where(*table, file_);
  }

  absl::Status Finish() {
    CheckKeys(levels_.front());
    return status_;
  }

 protected:
  bool Enter(std::string_view name) override {
    const std::string path = Path(name);
    const toml::node* const node = Take(name);
    if (node != nullptr && !node->is_table()) Wrong(*node, name, "a table");
    const bool present = node != nullptr && node->is_table();
    levels_.push_back({present ? node->as_table() : nullptr, path, {}});
    return true;
  }
  void Leave() override {
    CheckKeys(levels_.back());
    levels_.pop_back();
  }
  std::optional<std::size_t> EnterList(std::string_view name) override {
    const toml::node* const node = Take(name);
    const toml::array* const array = node == nullptr ? nullptr : node->as_array();
    const bool tables = array != nullptr && array->is_array_of_tables();
    const bool none = array != nullptr && array->empty();
    if (node != nullptr && !tables && !none) {
      Wrong(*node, name, "a list of tables, [[" + Path(name) + "]] each");
    }
    lists_.push_back({tables ? array : nullptr, Path(name)});
    if (none) return 0;
    return tables ? std::optional(array->size()) : std::nullopt;
  }
  void EnterElement(std::size_t index) override {
    const ListOfTables& list = lists_.back();
    const toml::table* const table =
        list.array == nullptr ? nullptr : list.array->get(index)->as_table();
    levels_.push_back({table, list.path + "." + std::to_string(index), {}});
  }
  void LeaveList() override { lists_.pop_back(); }

 private:
  struct Level {
    const toml::table* table;
    std::string path;
    std::vector<std::string> known;
  };
  // Null when the file has no such list.
  struct ListOfTables {
    const toml::array* array;
    std::string path;
  };

  std::string Path(std::string_view name) const {
    return levels_.back().path + "." + std::string(name);
  }

  const toml::node* Take(std::string_view name) {
    Level& level = levels_.back();
    level.known.emplace_back(name);
    return level.table == nullptr ? nullptr : level.table->get(name);
  }

  void Report(const toml::node& node, std::string_view name, const std::string& what) {
    if (!status_.ok()) return;
    status_ = InvalidArgument(Where(node, file_) + ": " + Path(name) + " " + what);
  }
  void Wrong(const toml::node& node, std::string_view name, const std::string& expected) {
    Report(node, name, "must be " + expected + ", not " + KindOf(node));
  }
  bool InRange(const toml::node& node, std::string_view name, double value, const KnobInfo& info) {
    if (value >= info.min && value <= info.max) return true;
    Report(node, name, "is " + NumberText(value) + ", outside " + RangeText(info));
    return false;
  }
  std::optional<std::int64_t> Integer(const toml::node& node, std::string_view name,
                                      const KnobInfo& info) {
    if (!node.is_integer()) {
      Wrong(node, name, "an integer");
      return std::nullopt;
    }
    const std::int64_t value = node.as_integer()->get();
    if (!InRange(node, name, static_cast<double>(value), info)) return std::nullopt;
    return value;
  }
  std::optional<std::string> Text(const toml::node& node, std::string_view name,
                                  const KnobInfo& info) {
    if (!node.is_string()) {
      Wrong(node, name, "text in quotes");
      return std::nullopt;
    }
    const std::string& value = node.as_string()->get();
    const bool allowed = info.choices.empty() || std::find(info.choices.begin(), info.choices.end(),
                                                           value) != info.choices.end();
    if (!allowed) {
      Report(node, name, "is \"" + value + "\", not " + RangeText(info));
      return std::nullopt;
    }
    return value;
  }
  template <typename T, typename Parse>
  void List(std::string_view name, std::vector<T>& value, const std::string& expected,
            const Parse& parse) {
    const toml::node* const node = Take(name);
    if (node == nullptr) return;
    if (!node->is_array()) return Wrong(*node, name, expected);
    std::vector<T> parsed;
    for (const toml::node& element : *node->as_array()) {
      auto item = parse(element);
      if (!item) return;
      parsed.push_back(std::move(*item));
    }
    value = std::move(parsed);
  }
  void CheckKeys(const Level& level) {
    if (level.table == nullptr || !status_.ok()) return;
    for (const auto& [key, node] : *level.table) {
      const std::string name(key.str());
      if (std::find(level.known.begin(), level.known.end(), name) != level.known.end()) continue;
      status_ = InvalidArgument(Where(node, file_) + ": unknown key " + level.path + "." + name +
                                DidYouMean(name, level.known));
      return;
    }
  }

  const std::string file_;
  std::vector<Level> levels_;
  std::vector<ListOfTables> lists_;
  absl::Status status_;
};

absl::Status ParseError(const toml::parse_error& error, const std::string& origin) {
  return InvalidArgument(origin + ":" + std::to_string(error.source().begin.line) + ": " +
                         std::string(error.description()));
}

std::optional<std::size_t> PlaceFrom(const std::string& text) {
  if (text.empty() || text.size() > 4 ||
      text.find_first_not_of("0123456789") != std::string::npos) {
    return std::nullopt;
  }
  return std::stoul(text);
}

// Returns the table of `list` that `part` chooses by its index or its name, or null when there is
// none.
toml::table* ChooseTable(toml::array& list, const std::string& part) {
  if (const auto place = PlaceFrom(part)) {
    if (*place == list.size()) list.push_back(toml::table{});
    return *place < list.size() ? list.get(*place)->as_table() : nullptr;
  }
  for (toml::node& node : list) {
    toml::table* const table = node.as_table();
    if (table != nullptr && (*table)["name"].value<std::string>() == part) return table;
  }
  return nullptr;
}

// Returns the table that `names[i]` of `parent` leads to and makes it where it is missing; null
// when the value is not a table. Where it is a list of tables, this also consumes the choice and
// advances `i`.
toml::table* Descend(toml::table& parent, const std::vector<std::string>& names, std::size_t& i) {
  const std::string& name = names[i];
  const bool chooses = i + 2 < names.size() && PlaceFrom(names[i + 1]).has_value();
  if (parent.get(name) == nullptr) {
    if (chooses) {
      parent.insert(name, toml::array{});
    } else {
      parent.insert(name, toml::table{});
    }
  }
  toml::array* const list = parent.get(name)->as_array();
  if (list == nullptr) return parent.get(name)->as_table();
  return i + 2 < names.size() ? ChooseTable(*list, names[++i]) : nullptr;
}

// Sets section.key, section.group.key or section.list.place.key of `root`.
absl::Status Override(toml::table& root, const std::string& text) {
  const std::size_t equals = text.find('=');
  const std::string path = text.substr(0, equals);
  if (equals == std::string::npos || path.find('.') == std::string::npos) {
    return InvalidArgument("--set " + text + ": expected section.key=value");
  }
  const std::string value = text.substr(equals + 1);
  toml::parse_result parsed = toml::parse("value = " + value, std::string("--set"));
  if (!parsed) parsed = toml::parse("value = '''" + value + "'''", std::string("--set"));
  if (!parsed) return ParseError(parsed.error(), "--set " + text);

  std::istringstream parts(path);
  std::vector<std::string> names;
  for (std::string part; std::getline(parts, part, '.');) names.push_back(part);
  toml::table* table = &root;
  for (std::size_t i = 0; i + 1 < names.size(); ++i) {
    table = Descend(*table, names, i);
    if (table == nullptr) {
      return InvalidArgument("--set " + text + ": there is no table " + names[i]);
    }
  }
  table->insert_or_assign(names.back(), std::move(*parsed.table().get("value")));
  return absl::OkStatus();
}

absl::Status CheckSections(const toml::table& root, const std::string& file) {
  for (const auto& [key, node] : root) {
    const std::string name(key.str());
    if (std::find(kSections.begin(), kSections.end(), name) == kSections.end()) {
      return InvalidArgument(Where(node, file) + ": unknown section [" + name + "]" +
                             DidYouMean(name, {kSections.begin(), kSections.end()}));
    }
    if (!node.is_table()) {
      return InvalidArgument(Where(node, file) + ": " + name + " must be a table");
    }
  }
  return absl::OkStatus();
}

}  // namespace

Config::Config() = default;
Config::~Config() = default;

void Config::AddSection(std::string name, std::function<void(Visitor&)> visit) {
  SHOAL_CHECK(std::find(kSections.begin(), kSections.end(), name) != kSections.end());
  sections_.push_back({std::move(name), std::move(visit)});
}

absl::Status Config::Load(const std::string& path, const std::vector<std::string>& overrides) {
  if (path.empty()) return Parse("", "--set", overrides);
  SHOAL_ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kMaxFileBytes));
  return Parse(text, path, overrides);
}

absl::Status Config::Parse(std::string_view text, const std::string& source,
                           const std::vector<std::string>& overrides) {
  toml::parse_result parsed = toml::parse(text, source);
  if (!parsed) return ParseError(parsed.error(), source);
  toml::table root = std::move(parsed).table();
  for (const std::string& override : overrides) SHOAL_RETURN_IF_ERROR(Override(root, override));
  SHOAL_RETURN_IF_ERROR(CheckSections(root, source));
  for (const Section& section : sections_) {
    const toml::node* const node = root.get(section.name);
    if (node == nullptr) continue;
    Reader reader(*node->as_table(), section.name, source);
    section.visit(reader);
    SHOAL_RETURN_IF_ERROR(reader.Finish());
  }
  return absl::OkStatus();
}

std::string Config::Print() const {
  std::string text;
  for (const Section& section : sections_) text += PrintSection(section.name, section.visit);
  return text;
}

std::string Config::Help() const {
  std::string text;
  for (const Section& section : sections_) text += DescribeSection(section.name, section.visit);
  return text;
}

}  // namespace shoal::runtime
