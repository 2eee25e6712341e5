// SPDX-License-Identifier: Apache-2.0
#include "encoder/retrieval_scores.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <string_view>

#include "text/embedding/unit_rows.h"

namespace shoal::encoder {
namespace {

using SteadyClock = std::chrono::steady_clock;

// The vectors of texts, row after row.
class Rows {
 public:
  static absl::StatusOr<Rows> Of(const tokens::TextEncoder& encoder,
                                 std::span<const std::string_view> texts) {
    SHOAL_ASSIGN_OR_RETURN(const runtime::Tensor encoded, encoder.Encode(texts));
    Rows rows;
    rows.width_ = static_cast<std::size_t>(encoder.dimension());
    SHOAL_ASSIGN_OR_RETURN(const std::span<const std::uint16_t> halves,
                           embedding::Halves(encoded, texts.size(), rows.width_));
    rows.values_.resize(halves.size());
    std::ranges::transform(halves, rows.values_.begin(), runtime::FromHalf);
    return rows;
  }

  // Returns the inner product of `query` with each row.
  std::vector<float> Scores(std::span<const float> query) const {
    std::vector<float> scores;
    for (std::size_t begin = 0; begin < values_.size(); begin += width_) {
      scores.push_back(std::inner_product(
          query.begin(), query.end(), values_.begin() + static_cast<std::ptrdiff_t>(begin), 0.0F));
    }
    return scores;
  }

  std::span<const float> row(std::size_t number) const {
    return std::span(values_).subspan(number * width_, width_);
  }

 private:
  std::size_t width_ = 0;
  std::vector<float> values_;
};

}  // namespace

absl::StatusOr<RetrievalScores> ScoresOf(const tokens::TextEncoder& encoder,
                                         const RetrievalTask& task) {
  RetrievalScores scores;
  std::vector<std::string_view> texts(task.requests.begin(), task.requests.end());
  const auto start = SteadyClock::now();
  SHOAL_ASSIGN_OR_RETURN(const Rows requests, Rows::Of(encoder, texts));
  scores.seconds = std::chrono::duration<double>(SteadyClock::now() - start).count();
  texts.clear();
  for (const RetrievalQuery& query : task.queries) texts.push_back(query.text);
  SHOAL_ASSIGN_OR_RETURN(const Rows queries, Rows::Of(encoder, texts));
  std::vector<RetrievalScore> means;
  std::vector<std::int64_t> ranks;
  for (std::size_t i = 0; i < task.queries.size(); ++i) {
    ranks.push_back(RankOfFirst(requests.Scores(queries.row(i)), task.queries[i].relevant));
    const std::string& group = task.queries[i].group;
    if (i + 1 < task.queries.size() && task.queries[i + 1].group == group) continue;
    means.push_back(ScoreOfRanks(ranks));
    scores.groups.emplace_back(group, means.back());
    ranks.clear();
  }
  scores.mean = MeanOf(means);
  return scores;
}

}  // namespace shoal::encoder
