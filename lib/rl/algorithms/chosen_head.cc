// SPDX-License-Identifier: Apache-2.0
#include "rl/algorithms/chosen_head.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "rl/model/candidate_table_tensors.h"

namespace shoal::algorithms {
namespace {

// The rows whose actions are a table's own candidates.
struct Source {
  const model::CandidateTable* table;
  // The catalog whose cosines hold theirs, or -1 where `cosine` does.
  std::int64_t catalog = -1;
  std::vector<std::int64_t> positions = {};
  std::vector<std::int64_t> candidates = {};  // by their numbers among the table's own
  std::vector<std::int64_t> cells = {};       // of the catalog's cosines, row after row
  std::vector<float> cosine = {};
  model::DeviceBatch::Array candidates_sent = {};
  model::DeviceBatch::Array cells_sent = {};
  model::DeviceBatch::Array cosine_sent = {};
};

// Divides rows among the tables that hold their actions, in the order in which these come first.
std::vector<Source> SourcesOf(const UnrollBatch& batch, const CandidateRows& candidates,
                              std::span<const std::int64_t> rows,
                              std::span<const std::int64_t> actions) {
  std::vector<Source> sources;
  std::map<const model::CandidateTable*, std::size_t> number;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto row = static_cast<std::size_t>(rows[i]);
    const RowSimilarity& similarity = candidates.rows[row];
    if (similarity.catalog < 0 || actions[i] < 0) continue;
    const auto catalog = static_cast<std::size_t>(similarity.catalog);
    const std::int64_t size = candidates.catalogs[catalog]->size();
    const bool appended = actions[i] >= size;
    const model::CandidateTable* const table =
        appended ? batch.tables[static_cast<std::size_t>(batch.catalog[row])].get()
                 : candidates.catalogs[catalog].get();
    const auto [at, is_new] = number.try_emplace(table, sources.size());
    if (is_new) sources.push_back({.table = table, .catalog = appended ? -1 : similarity.catalog});
    Source& source = sources[at->second];
    source.positions.push_back(static_cast<std::int64_t>(i));
    source.candidates.push_back(appended ? actions[i] - size : actions[i]);
    if (appended) {
      const auto& cosines = candidates.appended[static_cast<std::size_t>(similarity.appended)];
      source.cosine.push_back(cosines[static_cast<std::size_t>(source.candidates.back())]);
    } else {
      source.cells.push_back(similarity.goal * size + actions[i]);
    }
  }
  return sources;
}

// Appends 1 for each of the first `kinds` marks that the candidate has, and 0 for the others.
void AppendMarks(std::span<const model::CandidateMark> marks, std::int64_t candidate,
                 std::int64_t kinds, std::vector<float>& out) {
  const auto found = std::lower_bound(
      marks.begin(), marks.end(), candidate,
      [](const model::CandidateMark& mark, std::int64_t one) { return mark.candidate < one; });
  const bool marked = found != marks.end() && found->candidate == candidate;
  for (std::int64_t kind = 0; kind < kinds; ++kind) {
    out.push_back(marked && (found->bits >> kind & 1U) != 0 ? 1.0F : 0.0F);
  }
}

BatchedHead::Derivatives DerivativesOf(const at::Tensor& chosen,
                                       std::span<const std::int64_t> positions,
                                       const at::Tensor& where, const HeadLoss& loss) {
  HeadDerivatives by;
  {
    const at::NoGradGuard no_grad;
    by = loss({.positions = positions, .where = where, .chosen = chosen.detach()});
  }
  if (!by.by_chosen.defined()) return {};
  return {.of = {chosen}, .by = {by.by_chosen}};
}

}  // namespace

BatchedHead::Derivatives ChosenHead::Run(const UnrollBatch& batch, const BatchTensors& tensors,
                                         std::span<const std::int64_t> rows,
                                         const IndexList& actions, const BatchedHead::Rows& inputs,
                                         const HeadLoss& loss) const {
  const CandidateRows& candidates = tensors.candidates;
  const at::Device device = inputs.head.device();
  if (candidates.rows.empty()) {
    std::vector<std::int64_t> positions(rows.size());
    std::iota(positions.begin(), positions.end(), 0);
    const at::Tensor chosen =
        inputs.head.gather(1, actions.device.unsqueeze(1)).squeeze(1).to(at::kDouble);
    const at::Tensor where = at::arange(chosen.size(0), actions.device.options());
    return DerivativesOf(chosen, positions, where, loss);
  }
  std::vector<Source> sources = SourcesOf(batch, candidates, rows, actions.host);
  if (sources.empty()) return {};

  const std::int64_t kinds = inputs.mark_weights.defined() ? inputs.mark_weights.size(1) : 0;
  std::vector<std::int64_t> positions;
  std::vector<float> scale;
  std::vector<float> shift;
  std::vector<float> marks;
  model::DeviceBatch arrays(device);
  for (Source& source : sources) {
    for (const std::int64_t position : source.positions) {
      const auto at = static_cast<std::size_t>(position);
      const auto row = static_cast<std::size_t>(rows[at]);
      positions.push_back(position);
      scale.push_back(candidates.rows[row].scale);
      shift.push_back(candidates.rows[row].shift);
      if (kinds > 0) AppendMarks(batch.marks.Row(row), actions.host[at], kinds, marks);
    }
    source.candidates_sent = arrays.Add(std::span<const std::int64_t>(source.candidates));
    source.cells_sent = arrays.Add(std::span<const std::int64_t>(source.cells));
    source.cosine_sent = arrays.Add(std::span<const float>(source.cosine));
  }
  const auto which_sent = arrays.Add(std::span<const std::int64_t>(positions));
  const auto scale_sent = arrays.Add(std::span<const float>(scale));
  const auto shift_sent = arrays.Add(std::span<const float>(shift));
  const auto marks_sent = arrays.Add(std::span<const float>(marks));
  arrays.Send();

  std::vector<at::Tensor> embeddings;
  std::vector<at::Tensor> cosines;
  for (const Source& source : sources) {
    const auto count = static_cast<std::int64_t>(source.positions.size());
    embeddings.push_back(model::EmbeddingsOn(*source.table, device)
                             .index_select(0, arrays.Get(source.candidates_sent, {count})));
    cosines.push_back(
        source.catalog < 0
            ? arrays.Get(source.cosine_sent, {count})
            : candidates.cosines[static_cast<std::size_t>(source.catalog)].flatten().index_select(
                  0, arrays.Get(source.cells_sent, {count})));
  }
  const auto count = static_cast<std::int64_t>(positions.size());
  const at::Tensor which = arrays.Get(which_sent, {count});
  const at::Tensor keys = network_.Keys(at::cat(embeddings).to(at::kFloat));
  at::Tensor chosen = inputs.head.index_select(0, which).mul(keys).sum(1).add(
      at::cat(cosines).mul_(arrays.Get(scale_sent, {count})).add_(arrays.Get(shift_sent, {count})));
  if (kinds > 0) {
    chosen = chosen.add(inputs.mark_weights.index_select(0, which)
                            .mul(arrays.Get(marks_sent, {count, kinds}))
                            .sum(1));
  }
  return DerivativesOf(chosen.to(at::kDouble), positions, which, loss);
}

}  // namespace shoal::algorithms
