// SPDX-License-Identifier: Apache-2.0
#include "encoder/retrieval_scores.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "rl/model/inner_products.h"
#include "text/embedding/unit_rows.h"

namespace shoal::encoder {
namespace {

using SteadyClock = std::chrono::steady_clock;

// Returns one rank for each query of `task`.
absl::StatusOr<std::vector<std::int64_t>> RanksOf(const tokens::TextEncoder& encoder,
                                                  const RetrievalTask& task, double& seconds) {
  const auto width = static_cast<std::size_t>(encoder.dimension());
  std::vector<std::string_view> texts(task.requests.begin(), task.requests.end());
  const auto start = SteadyClock::now();
  SHOAL_ASSIGN_OR_RETURN(const runtime::Tensor requests, encoder.Encode(texts));
  seconds = std::chrono::duration<double>(SteadyClock::now() - start).count();
  SHOAL_ASSIGN_OR_RETURN(const std::span<const std::uint16_t> offered,
                         embedding::Halves(requests, texts.size(), width));
  texts.clear();
  for (const RetrievalQuery& query : task.queries) texts.push_back(query.text);
  SHOAL_ASSIGN_OR_RETURN(const runtime::Tensor queries, encoder.Encode(texts));
  SHOAL_ASSIGN_OR_RETURN(const std::span<const std::uint16_t> asked,
                         embedding::Halves(queries, texts.size(), width));
  std::vector<std::int64_t> ranks;
  std::vector<float> scores(task.requests.size());
  std::vector<float> query(width);
  for (std::size_t i = 0; i < task.queries.size(); ++i) {
    std::ranges::transform(asked.subspan(i * width, width), query.begin(), runtime::FromHalf);
    model::InnerProducts(model::HalfRows{offered, width, width}, query, scores, scores.size());
    ranks.push_back(RankOfFirst(scores, task.queries[i].relevant));
  }
  return ranks;
}

}  // namespace

absl::StatusOr<RetrievalScores> ScoresOf(const tokens::TextEncoder& encoder,
                                         const RetrievalTask& task) {
  RetrievalScores scores;
  SHOAL_ASSIGN_OR_RETURN(const std::vector<std::int64_t> ranks,
                         RanksOf(encoder, task, scores.seconds));
  std::vector<RetrievalScore> means;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const std::string& group = task.queries[i].group;
    if (i + 1 < ranks.size() && task.queries[i + 1].group == group) continue;
    means.push_back(ScoreOfRanks(std::span(ranks).subspan(begin, i + 1 - begin)));
    scores.groups.emplace_back(group, means.back());
    begin = i + 1;
  }
  scores.mean = MeanOf(means);
  return scores;
}

}  // namespace shoal::encoder
