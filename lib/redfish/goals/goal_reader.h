// SPDX-License-Identifier: Apache-2.0
// Takes a table of a goal's file apart, key by key; the first error stays and says file, line, key.
//
// What nobody took is an error of Finish. Borrows the table.
#pragma once

#include <toml++/toml.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "platform/runtime/status.h"

namespace shoal::redfish {

// The same value as JSON; dates become null.
nlohmann::json ToJson(const toml::node& node);

class GoalReader {
 public:
  // `where` is the table's name in the file; empty for the file itself.
  GoalReader(std::string path, std::string where, const toml::table& table);

  // Required.
  std::string Text(const std::string& key);
  std::string TextOr(const std::string& key, const std::string& otherwise);
  std::int64_t Integer(const std::string& key, std::int64_t otherwise);
  // From 0 to 1.
  double Fraction(const std::string& key, double otherwise);
  bool Boolean(const std::string& key, bool otherwise);
  // Empty when the key is missing.
  std::vector<nlohmann::json> List(const std::string& key);
  std::vector<std::string> Texts(const std::string& key);
  nlohmann::json Table(const std::string& key);
  // One reader for each table of an array of tables.
  std::vector<GoalReader> Tables(const std::string& key);
  // Of any type; null when the key is missing.
  nlohmann::json Value(const std::string& key);
  // All of it.
  nlohmann::json Whole();

  bool Has(const std::string& key) const { return table_.contains(key); }
  // `key` says which line; the table's own when it is missing.
  void Fail(const std::string& key, const std::string& what);
  void Merge(const absl::Status& status);
  absl::Status Finish();

 private:
  const toml::node* Take(const std::string& key);
  std::string Where(const toml::node* node) const;

  const std::string path_;
  const std::string where_;
  const toml::table& table_;
  std::set<std::string, std::less<>> taken_;
  absl::Status status_;
};

}  // namespace shoal::redfish
