// SPDX-License-Identifier: Apache-2.0
// Reads the tables of a goal's file key by key, and says where something is wrong: by file, line
// and key.
#pragma once

#include <toml++/toml.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "platform/runtime/status.h"

namespace shoal::redfish {

// Returns the same value as JSON; dates become null.
nlohmann::json ToJson(const toml::node& node);

// Reads a table of a goal's file key by key. The first error is kept and says file, line and key.
// Finish reports a key that nobody read as an error. The reader borrows the table.
class GoalReader {
 public:
  // `where` is the table's name in the file; empty for the file itself.
  GoalReader(std::string path, std::string where, const toml::table& table);

  // The key is required.
  std::string Text(const std::string& key);
  std::string TextOr(const std::string& key, const std::string& otherwise);
  std::int64_t Integer(const std::string& key, std::int64_t otherwise);
  // The number must be from 0 to 1.
  double Fraction(const std::string& key, double otherwise);
  bool Boolean(const std::string& key, bool otherwise);
  // These return an empty value when the key is missing.
  std::vector<nlohmann::json> List(const std::string& key);
  std::vector<std::string> Texts(const std::string& key);
  nlohmann::json Table(const std::string& key);
  // Returns one reader for each table of an array of tables.
  std::vector<GoalReader> Tables(const std::string& key);
  // Returns a value of any type, or null when the key is missing.
  nlohmann::json Value(const std::string& key);
  // Returns the whole table and counts all its keys as read.
  nlohmann::json Whole();

  bool Has(const std::string& key) const { return table_.contains(key); }
  // The error names the line of `key`, or that of the table when the key is missing.
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
