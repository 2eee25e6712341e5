// SPDX-License-Identifier: Apache-2.0
#include "cli/session/suggestion.h"

#include <absl/strings/str_cat.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "platform/content/parse_json.h"

namespace shoal::cli {
namespace {

using Json = nlohmann::json;

constexpr const char* kSpecialToShells = "\"$`\\!";
// The numbers of the goals that `shoal do` knows end before this one.
constexpr long kFirstOtherGoal = 100;

std::string TextOf(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

// The least number of mutations of an episode that a learned policy brought to its goal; 0 for
// every other line.
std::int64_t MutationsOf(const Json& episode, const std::string& capture) {
  if (!episode.is_object() || TextOf(episode, "capture") != capture) return 0;
  const std::string policy = TextOf(episode, "policy");
  const bool is_version = !policy.empty() && policy.front() >= '0' && policy.front() <= '9';
  if (policy != "current" && !is_version) return 0;
  const long goal = std::strtol(TextOf(episode, "goal").c_str(), nullptr, 10);
  if (goal <= 0 || goal >= kFirstOtherGoal) return 0;
  const auto success = episode.find("success");
  const auto optimum = episode.find("optimum");
  if (success == episode.end() || *success != true) return 0;
  return optimum != episode.end() && optimum->is_number_integer() ? optimum->get<std::int64_t>()
                                                                  : 0;
}

std::string FindSentence(const SuggestionOptions& options) {
  std::ifstream lines(options.run + "/evaluations/final.jsonl");
  std::string sentence;
  std::int64_t most = 0;
  for (std::string line; std::getline(lines, line);) {
    const Json episode = content::ParseJson(line);
    const std::int64_t mutations = MutationsOf(episode, options.capture);
    if (mutations <= most) continue;
    const std::string text = TextOf(episode, "text");
    if (text.empty() || text.find_first_of(kSpecialToShells) != std::string::npos) continue;
    most = mutations;
    sentence = text;
  }
  return sentence;
}

}  // namespace

std::string SuggestOperation(const SuggestionOptions& options) {
  const std::string sentence = FindSentence(options);
  if (sentence.empty()) return "";
  return absl::StrCat("try the policy on the run's mock server, which serves ", options.capture,
                      ":\n  \"", options.programs, "/mockserver\" --config \"", options.run,
                      "/config.toml\" &\n  \"", options.programs, "/shoal\" do \"", sentence,
                      "\" --policy \"", options.run, "\" --host http://", options.mockserver, "\n");
}

}  // namespace shoal::cli
