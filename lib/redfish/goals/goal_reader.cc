// SPDX-License-Identifier: Apache-2.0
#include "redfish/goals/goal_reader.h"

#include <utility>

namespace shoal::redfish {
namespace {

using Json = nlohmann::json;

}  // namespace

Json ToJson(const toml::node& node) {
  if (const auto* table = node.as_table()) {
    Json object = Json::object();
    for (const auto& [key, value] : *table) object[std::string(key.str())] = ToJson(value);
    return object;
  }
  if (const auto* array = node.as_array()) {
    Json list = Json::array();
    for (const auto& value : *array) list.push_back(ToJson(value));
    return list;
  }
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* integer = node.as_integer()) return integer->get();
  if (const auto* number = node.as_floating_point()) return number->get();
  if (const auto* boolean = node.as_boolean()) return boolean->get();
  return nullptr;
}

GoalReader::GoalReader(std::string path, std::string where, const toml::table& table)
    : path_(std::move(path)), where_(std::move(where)), table_(table) {}

const toml::node* GoalReader::Take(const std::string& key) {
  taken_.insert(key);
  return table_.get(key);
}

std::string GoalReader::Where(const toml::node* node) const {
  const auto line = (node == nullptr ? table_.source() : node->source()).begin.line;
  std::string where = "goal " + path_;
  if (line > 0) where += ":" + std::to_string(line);
  return where_.empty() ? where : where + " " + where_;
}

void GoalReader::Fail(const std::string& key, const std::string& what) {
  if (status_.ok()) status_ = runtime::InvalidArgument(Where(table_.get(key)) + ": " + what);
}

void GoalReader::Merge(const absl::Status& status) {
  if (status_.ok()) status_ = status;
}

absl::Status GoalReader::Finish() {
  for (const auto& [key, value] : table_) {
    const std::string name(key.str());
    if (!taken_.contains(name)) Fail(name, "unknown key \"" + name + "\"");
  }
  return status_;
}

std::string GoalReader::Text(const std::string& key) {
  const toml::node* const node = Take(key);
  if (node != nullptr && node->is_string()) return node->as_string()->get();
  Fail(key, "\"" + key + "\" needs a text");
  return {};
}

std::string GoalReader::TextOr(const std::string& key, const std::string& otherwise) {
  return Has(key) ? Text(key) : otherwise;
}

std::int64_t GoalReader::Integer(const std::string& key, std::int64_t otherwise) {
  const toml::node* const node = Take(key);
  if (node == nullptr) return otherwise;
  if (node->is_integer()) return node->as_integer()->get();
  Fail(key, "\"" + key + "\" needs an integer");
  return otherwise;
}

double GoalReader::Fraction(const std::string& key, double otherwise) {
  const toml::node* const node = Take(key);
  if (node == nullptr) return otherwise;
  const double value = node->is_number() ? ToJson(*node).get<double>() : -1.0;
  if (value >= 0.0 && value <= 1.0) return value;
  Fail(key, "\"" + key + "\" needs a number from 0 to 1");
  return otherwise;
}

bool GoalReader::Boolean(const std::string& key, bool otherwise) {
  const toml::node* const node = Take(key);
  if (node == nullptr) return otherwise;
  if (node->is_boolean()) return node->as_boolean()->get();
  Fail(key, "\"" + key + "\" needs true or false");
  return otherwise;
}

std::vector<Json> GoalReader::List(const std::string& key) {
  const toml::node* const node = Take(key);
  if (node == nullptr) return {};
  if (node->is_array()) return ToJson(*node).get<std::vector<Json>>();
  Fail(key, "\"" + key + "\" needs an array");
  return {};
}

std::vector<std::string> GoalReader::Texts(const std::string& key) {
  std::vector<std::string> texts;
  for (const Json& item : List(key)) {
    if (item.is_string()) {
      texts.push_back(item);
    } else {
      Fail(key, "\"" + key + "\" needs texts");
    }
  }
  return texts;
}

Json GoalReader::Table(const std::string& key) {
  const toml::node* const node = Take(key);
  if (node == nullptr) return Json::object();
  if (node->is_table()) return ToJson(*node);
  Fail(key, "\"" + key + "\" needs a table");
  return Json::object();
}

std::vector<GoalReader> GoalReader::Tables(const std::string& key) {
  std::vector<GoalReader> readers;
  const toml::node* const node = Take(key);
  if (node == nullptr) return readers;
  if (!node->is_array()) {
    Fail(key, "\"" + key + "\" needs an array of tables");
    return readers;
  }
  for (const toml::node& item : *node->as_array()) {
    if (!item.is_table()) {
      Fail(key, "\"" + key + "\" needs an array of tables");
      return {};
    }
    readers.emplace_back(path_, where_.empty() ? key : where_ + " " + key, *item.as_table());
  }
  return readers;
}

Json GoalReader::Value(const std::string& key) {
  const toml::node* const node = Take(key);
  return node == nullptr ? Json() : ToJson(*node);
}

Json GoalReader::Whole() {
  for (const auto& [key, value] : table_) taken_.insert(std::string(key.str()));
  return ToJson(table_);
}

}  // namespace shoal::redfish
