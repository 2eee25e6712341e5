// SPDX-License-Identifier: Apache-2.0
#include "cli/results/run_files.h"

#include <fstream>
#include <sstream>
#include <utility>

#include "platform/runtime/atomic_file.h"

namespace shoal::cli {

using Json = nlohmann::json;

std::string ReadOrEmpty(const std::string& path) {
  const absl::StatusOr<std::string> text = runtime::ReadFile(path);
  return text.ok() ? *text : "";
}

std::vector<Json> ReadLines(const std::string& path) {
  std::vector<Json> rows;
  std::istringstream lines(ReadOrEmpty(path));
  for (std::string line; std::getline(lines, line);) {
    Json row = Json::parse(line, nullptr, false);
    if (row.is_object()) rows.push_back(std::move(row));
  }
  return rows;
}

Json ReadObject(const std::string& path) {
  Json object = Json::parse(ReadOrEmpty(path), nullptr, false);
  return object.is_object() ? object : Json::object();
}

std::string DigestLine(const std::vector<PlannedProcess>& processes) {
  std::string digest;
  for (const PlannedProcess& process : processes) {
    if (!process.spec.finishes) continue;
    std::ifstream log(process.spec.log_path);
    for (std::string line; std::getline(log, line);) {
      if (line.starts_with("digest=")) digest = line + "\n";
    }
  }
  return digest;
}

}  // namespace shoal::cli
