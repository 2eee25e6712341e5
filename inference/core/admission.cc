// SPDX-License-Identifier: Apache-2.0
#include "inference/core/admission.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace shoal::inference {
namespace {

RowAnswer Invalid(const Row& row, std::string error) {
  RowAnswer answer = AnswerTo(row, RowStatus::kInvalid);
  answer.error = std::move(error);
  return answer;
}

}  // namespace

void Admission::TakeContents(std::vector<Arrival::Text>& contents, Refusals& refusals) {
  for (Arrival::Text& content : contents) {
    if (content.key.IsZero() || content::KeyOf(content.text) != content.key) {
      refusals.emplace(content.key, "text does not match its key " + content.key.ToHex());
    } else if (!parts_.encoding.Submit(content.key, std::move(content.text))) {
      refusals.emplace(content.key, "");
    }
  }
}

void Admission::TakeLists(std::vector<CandidateList>& lists, Refusals& refusals) {
  for (CandidateList& list : lists) {
    const content::ContentKey key = list.key;
    const absl::Status added = parts_.catalogs.Add(std::move(list));
    if (!added.ok()) refusals.emplace(key, runtime::Message(added));
  }
}

void Admission::Admit(Arrival arrival) {
  Memo memo;
  TakeContents(arrival.contents, memo.refusals);
  TakeLists(arrival.lists, memo.refusals);
  if (!arrival.rows) return;
  RowBlock& block = *arrival.rows;
  block.embeddings.resize(block.rows * parts_.shape.content_count);
  if (!block.catalog_keys.empty()) block.candidates.resize(block.rows);
  for (const Row& row : waiting_) {
    memo.environments.emplace(row.environment(), Verdict{Verdict::Kind::kWait});
  }
  AnswerBatch answers(parts_.metrics);
  std::vector<Row> ready;
  ready.reserve(block.rows);
  for (std::size_t i = 0; i < block.rows; ++i) {
    Row row{arrival.rows, i};
    Verdict verdict = Judge(row, memo);
    Settle(std::move(row), std::move(verdict), ready, answers);
  }
  Pass(ready, answers);
  answers.Deliver();
  parts_.metrics.SetWaiting(WaitReason::kEncoding, waiting_.size());
}

void Admission::Recheck() {
  Memo memo;
  AnswerBatch answers(parts_.metrics);
  std::vector<Row> ready;
  std::deque<Row> held;
  held.swap(waiting_);
  for (Row& row : held) {
    Verdict verdict = Judge(row, memo);
    Settle(std::move(row), std::move(verdict), ready, answers);
  }
  Pass(ready, answers);
  answers.Deliver();
  parts_.metrics.SetWaiting(WaitReason::kEncoding, waiting_.size());
}

void Admission::Settle(Row row, Verdict verdict, std::vector<Row>& ready, AnswerBatch& answers) {
  if (verdict.kind == Verdict::Kind::kReady) {
    ready.push_back(std::move(row));
  } else if (verdict.kind == Verdict::Kind::kAnswer) {
    answers.Add(row, std::move(verdict.answer));
  } else if (waiting_.size() < max_waiting_) {
    waiting_.push_back(std::move(row));
  } else {
    answers.Add(row, AnswerTo(row, RowStatus::kOverloaded));
  }
}

void Admission::Pass(std::vector<Row>& ready, AnswerBatch& answers) {
  if (ready.empty()) return;
  parts_.batchers.Add(ready);
  for (const Row& row : ready) {
    answers.Add(row, AnswerTo(row, RowStatus::kOverloaded));
  }
}

Admission::Verdict Admission::Judge(const Row& row, Memo& memo) {
  const RowBlock& block = *row.block;
  if (!block.errors.empty() && !block.errors[row.index].empty()) {
    return {Verdict::Kind::kAnswer, Invalid(row, block.errors[row.index])};
  }
  const auto earlier = memo.environments.find(row.environment());
  if (earlier != memo.environments.end()) {
    Verdict verdict = earlier->second;
    verdict.answer.sequence = row.sequence();
    verdict.answer.missing.clear();
    return verdict;
  }
  if (row.ends_only()) return {};
  Verdict verdict = JudgeContents(row, memo);
  if (verdict.kind == Verdict::Kind::kReady) verdict = JudgeCatalog(row, memo);
  const bool final_word =
      verdict.kind == Verdict::Kind::kAnswer && verdict.answer.status == RowStatus::kInvalid;
  if (verdict.kind != Verdict::Kind::kReady && !final_word) {
    memo.environments.emplace(row.environment(), verdict);
  }
  return verdict;
}

Admission::Verdict Admission::JudgeContents(const Row& row, Memo& memo) {
  RowBlock& block = *row.block;
  const std::size_t first = row.index * parts_.shape.content_count;
  std::vector<content::ContentKey> absent;
  for (std::size_t i = first; i < first + parts_.shape.content_count; ++i) {
    const content::ContentKey& key = block.content_keys[i];
    if (key.IsZero() || block.embeddings[i]) continue;
    block.embeddings[i] = parts_.contents.Find(key);
    if (block.embeddings[i]) continue;
    const auto refused = memo.refusals.find(key);
    if (refused != memo.refusals.end()) {
      if (refused->second.empty()) {
        return {Verdict::Kind::kAnswer, AnswerTo(row, RowStatus::kOverloaded)};
      }
      return {Verdict::Kind::kAnswer, Invalid(row, refused->second)};
    }
    absent.push_back(key);
  }
  if (absent.empty()) return {};
  return JudgeMissing(row, absent);
}

Admission::Verdict Admission::JudgeMissing(const Row& row,
                                           const std::vector<content::ContentKey>& keys) {
  RowAnswer answer = AnswerTo(row, RowStatus::kNeedContent);
  for (const content::ContentKey& key : keys) {
    if (parts_.encoding.IsWaiting(key) || parts_.contents.Find(key)) continue;
    const std::optional<std::string> refusal = parts_.encoding.Refusal(key);
    if (refusal) {
      return {Verdict::Kind::kAnswer,
              Invalid(row, "content " + key.ToHex() + " cannot be encoded: " + *refusal)};
    }
    answer.missing.push_back(key);
  }
  if (answer.missing.empty()) return {Verdict::Kind::kWait};
  return {Verdict::Kind::kAnswer, std::move(answer)};
}

Admission::Verdict Admission::JudgeCatalog(const Row& row, Memo& memo) {
  RowBlock& block = *row.block;
  if (block.catalog_keys.empty() || block.candidates[row.index]) return {};
  const content::ContentKey& key = block.catalog_keys[row.index];
  const auto refused = memo.refusals.find(key);
  if (refused != memo.refusals.end()) {
    return {Verdict::Kind::kAnswer, Invalid(row, refused->second)};
  }
  const auto awaited = awaited_.find(key);
  if (awaited != awaited_.end()) {
    if (parts_.encoding.IsWaiting(awaited->second)) return {Verdict::Kind::kWait};
    awaited_.erase(awaited);
  }
  auto known = memo.catalogs.find(key);
  if (known == memo.catalogs.end()) {
    auto resolved = parts_.catalogs.Resolve(key);
    if (!resolved.ok()) {
      return {Verdict::Kind::kAnswer, Invalid(row, runtime::Message(resolved.status()))};
    }
    known = memo.catalogs.emplace(key, *std::move(resolved)).first;
  }
  CatalogStore::Resolution& resolution = known->second;
  if (resolution.candidates) {
    block.candidates[row.index] = resolution.candidates;
    const auto marks = row.marks();
    if (!marks.empty() && marks.back().candidate >= resolution.candidates->count) {
      return {Verdict::Kind::kAnswer, Invalid(row, "marks: there is no candidate " +
                                                       std::to_string(marks.back().candidate))};
    }
    const std::int64_t forced = block.forced.empty() ? -1 : block.forced[row.index];
    if (forced < resolution.candidates->count) return {};
    return {Verdict::Kind::kAnswer,
            Invalid(row, "forced_actions: there is no action " + std::to_string(forced))};
  }
  if (resolution.missing_list) {
    RowAnswer answer = AnswerTo(row, RowStatus::kNeedCatalog);
    answer.missing.push_back(*resolution.missing_list);
    return {Verdict::Kind::kAnswer, std::move(answer)};
  }
  Verdict verdict = JudgeMissing(row, resolution.missing_contents);
  if (verdict.kind == Verdict::Kind::kWait) {
    awaited_.emplace(key, resolution.missing_contents.back());
  } else if (verdict.answer.status == RowStatus::kNeedContent) {
    resolution.missing_contents = {verdict.answer.missing.front()};
  }
  return verdict;
}

}  // namespace shoal::inference
