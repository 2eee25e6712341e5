// SPDX-License-Identifier: Apache-2.0
#include "encoder/said_sentence.h"

#include <array>
#include <cstddef>
#include <sstream>
#include <utility>

#include "platform/runtime/atomic_file.h"

namespace shoal::encoder {
namespace {

constexpr std::size_t kMaxFileBytes = std::size_t{16} << 20;
constexpr const char* kNoGoal = "-";

}  // namespace

absl::StatusOr<std::vector<SaidSentence>> ReadSaidSentences(const std::string& path) {
  SHOAL_ASSIGN_OR_RETURN(const std::string bytes, runtime::ReadFile(path, kMaxFileBytes));
  std::vector<SaidSentence> sentences;
  std::istringstream lines(bytes);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.empty() || line.starts_with('#')) continue;
    std::array<std::string, 3> columns;
    std::string_view rest = line;
    for (std::string& column : columns) {
      const std::size_t tab = rest.find('\t');
      if (tab == rest.npos) {
        return runtime::InvalidArgument(path + ", line " + std::to_string(number) +
                                        ": four columns with tabs between them expected");
      }
      column = rest.substr(0, tab);
      rest.remove_prefix(tab + 1);
    }
    nlohmann::json values = nlohmann::json::parse(columns[2], nullptr, false);
    if (!values.is_object()) {
      return runtime::InvalidArgument(path + ", line " + std::to_string(number) +
                                      ": the third column is no JSON object");
    }
    if (columns[1] == kNoGoal) continue;
    sentences.push_back({columns[0], columns[1], std::move(values), std::string(rest)});
  }
  return sentences;
}

}  // namespace shoal::encoder
