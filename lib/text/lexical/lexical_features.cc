// SPDX-License-Identifier: Apache-2.0
#include "text/lexical/lexical_features.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

#include "text/lexical/words.h"

namespace shoal::tokens {
namespace {

enum Seed : std::uint64_t { kWordSeed = 1, kPairSeed = 2, kGramSeed = 3 };

constexpr float kPairWeight = 0.5F;
constexpr float kGramWeight = 0.7F;

std::uint64_t Hash(std::string_view text, Seed seed) {
  return XXH3_64bits_withSeed(text.data(), text.size(), seed);
}

std::uint64_t HashPair(std::uint64_t first, std::uint64_t second) {
  const std::uint64_t both[2] = {first, second};
  return XXH3_64bits_withSeed(both, sizeof(both), kPairSeed);
}

void AppendGrams(const std::string& word, float weight, std::vector<Feature>& features) {
  const std::string padded = "<" + word + ">";
  const std::size_t three = padded.size() >= 3 ? padded.size() - 2 : 0;
  const std::size_t four = padded.size() >= 4 ? padded.size() - 3 : 0;
  if (three + four == 0) return;
  const float each = weight * kGramWeight / std::sqrt(static_cast<float>(three + four));
  const std::string_view view = padded;
  for (std::size_t i = 0; i < three; ++i) {
    features.push_back({Hash(view.substr(i, 3), kGramSeed), each});
  }
  for (std::size_t i = 0; i < four; ++i) {
    features.push_back({Hash(view.substr(i, 4), kGramSeed), each});
  }
}

void AppendRun(const Run& run, std::vector<Feature>& features) {
  std::uint64_t previous = 0;
  for (const std::string& word : run.words) {
    if (!run.counts_function_words && IsFunctionWord(word)) continue;
    const std::uint64_t hash = Hash(word, kWordSeed);
    features.push_back({hash, run.weight});
    if (!run.counts_pairs_and_grams) continue;
    if (previous != 0) features.push_back({HashPair(previous, hash), run.weight * kPairWeight});
    AppendGrams(word, run.weight, features);
    previous = hash;
  }
}

}  // namespace

std::vector<Feature> LexicalFeatures(const Part& part) {
  std::vector<Feature> features;
  features.reserve(512);
  for (const Run& run : part.runs) AppendRun(run, features);
  std::sort(features.begin(), features.end(), [](const Feature& a, const Feature& b) {
    return a.hash != b.hash ? a.hash < b.hash : a.weight < b.weight;
  });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < features.size();) {
    std::size_t end = i;
    float sum = 0;
    for (; end < features.size() && features[end].hash == features[i].hash; ++end) {
      sum += features[end].weight;
    }
    const auto count = static_cast<float>(end - i);
    features[kept++] = {features[i].hash, sum / count * (1 + std::log(count))};
    i = end;
  }
  features.resize(kept);
  return features;
}

}  // namespace shoal::tokens
