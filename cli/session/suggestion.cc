// SPDX-License-Identifier: Apache-2.0
#include "cli/session/suggestion.h"

#include <absl/strings/str_cat.h>

#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>

#include "platform/content/parse_json.h"

namespace shoal::cli {
namespace {

constexpr const char* kSpecialToShells = "\"$`\\!";

std::string FindSentence(const SuggestionOptions& options) {
  std::ifstream lines(options.run + "/evaluations/final.jsonl");
  std::string sentence;
  std::int64_t most = 0;
  for (std::string line; std::getline(lines, line);) {
    const nlohmann::json episode = content::ParseJson(line);
    if (!episode.is_object() || episode.value("capture", "") != options.capture) continue;
    const std::int64_t optimum = episode.value("optimum", std::int64_t{0});
    if (!episode.value("success", false) || optimum <= most) continue;
    const std::string text = episode.value("text", "");
    if (text.find_first_of(kSpecialToShells) != std::string::npos) continue;
    most = optimum;
    sentence = text;
  }
  return sentence;
}

}  // namespace

std::string SuggestOperation(const SuggestionOptions& options) {
  const std::string sentence = FindSentence(options);
  if (sentence.empty()) return "";
  return absl::StrCat("try it on the run's mock server, which serves ", options.capture, ":\n  ",
                      options.programs, "/mockserver --config ", options.run, "/config.toml &\n  ",
                      options.programs, "/shoal do \"", sentence, "\" --host http://",
                      options.mockserver, "\n");
}

}  // namespace shoal::cli
