// SPDX-License-Identifier: Apache-2.0
#include "text/lexical/text_parts.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "text/lexical/text_object.h"
#include "text/lexical/words.h"

namespace shoal::tokens {
namespace {

using nlohmann::json;

constexpr float kUriWeight = 0.3F;
constexpr float kNameWeight = 0.4F;
constexpr float kNeighboursWeight = 0.7F;
constexpr std::size_t kNeighbours = 3;
constexpr std::size_t kMaxPlaces = 16;

Part OneRun(float weight, std::string_view text, std::size_t word_limit) {
  Part part{weight, {Run{}}};
  AppendWords(text, word_limit, part.runs.front().words);
  return part;
}

Part ChoicePart(std::string_view description, std::size_t word_limit) {
  Part part = OneRun(1, description, word_limit);
  part.runs.front().counts_function_words = true;
  return part;
}

std::vector<Part> CandidateParts(const json& candidate, std::size_t word_limit) {
  std::vector<Part> parts;
  const auto add = [&](const char* key, float weight) {
    const auto found = candidate.find(key);
    if (found == candidate.end() || found->is_null() || found->empty()) return;
    parts.push_back(OneRun(weight,
                           found->is_string()
                               ? found->get_ref<const std::string&>()
                               : found->dump(-1, ' ', false, json::error_handler_t::replace),
                           word_limit));
  };
  add("method", 1);
  add("type", 1);
  add("action", 1);
  add("body", 1);
  add("host", 1);
  add("name", kNameWeight);
  add("uri", kUriWeight);
  return parts;
}

// Adds a run for each of the nearest words in `text`, weighted by 1 / distance, which begins with
// what the word tells: the value's place and side.
void AddNeighbours(std::string_view text, const std::string& place, bool is_before,
                   std::size_t word_limit, Part& part) {
  std::vector<std::string> words;
  AppendWords(text, word_limit, words);
  std::erase_if(words, [](const std::string& word) { return IsFunctionWord(word); });
  if (is_before) std::reverse(words.begin(), words.end());
  for (std::size_t i = 0; i < std::min(words.size(), kNeighbours); ++i) {
    part.runs.push_back({.weight = 1.0F / static_cast<float>(i + 1),
                         .words = {place + (is_before ? " before " : " after ") + words[i]},
                         .counts_pairs_and_grams = false});
  }
}

std::vector<Part> GoalParts(const GoalText& goal, std::size_t word_limit) {
  Part neighbours{kNeighboursWeight, {}};
  for (std::size_t i = 0; i + 1 < std::min(goal.around.size(), kMaxPlaces); ++i) {
    const std::string place = std::to_string(i + 1);
    AddNeighbours(*goal.around[i], place, /*is_before=*/true, word_limit, neighbours);
    AddNeighbours(*goal.around[i + 1], place, /*is_before=*/false, word_limit, neighbours);
  }
  return {OneRun(1, *goal.sentence, word_limit), std::move(neighbours)};
}

class LeafWalker {
 public:
  explicit LeafWalker(std::size_t word_limit) : words_left_(word_limit) {}

  void Walk(const json& value, std::string_view key, std::size_t depth) {
    if (words_left_ == 0 || depth > kMaxTextDepth) return;
    if (value.is_object()) {
      for (const auto& [name, member] : value.items()) {
        if (name.find('@') == std::string::npos) Walk(member, name, depth + 1);
      }
    } else if (value.is_array()) {
      for (const json& element : value) Walk(element, key, depth + 1);
    } else if (!value.is_null()) {
      AddLeaf(value, key, depth);
    }
  }

  std::vector<Run> TakeRuns() { return std::move(runs_); }

 private:
  void AddLeaf(const json& value, std::string_view key, std::size_t depth) {
    Run run{1.0F / static_cast<float>(depth == 0 ? 1 : depth), {}};
    AppendWords(key, words_left_, run.words);
    AppendWords(value.is_string() ? value.get_ref<const std::string&>() : value.dump(), words_left_,
                run.words);
    words_left_ -= run.words.size();
    runs_.push_back(std::move(run));
  }

  std::size_t words_left_;
  std::vector<Run> runs_;
};

}  // namespace

std::vector<Part> SplitIntoParts(std::string_view text, std::size_t word_limit) {
  const json parsed = ObjectOf(text);
  if (IsCandidate(parsed)) return CandidateParts(parsed, word_limit);
  if (const std::string* const choice = ChoiceOf(parsed)) return {ChoicePart(*choice, word_limit)};
  if (const auto goal = GoalOf(parsed)) return GoalParts(*goal, word_limit);
  if (parsed.is_object()) {
    LeafWalker walker(word_limit);
    walker.Walk(parsed, "", 0);
    return {Part{1, walker.TakeRuns()}};
  }
  return {OneRun(1, text, word_limit)};
}

}  // namespace shoal::tokens
