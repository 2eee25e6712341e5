// SPDX-License-Identifier: Apache-2.0
#include "rl/algorithms/batched_head.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/logsumexp.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros_like.h>

#include <cstddef>
#include <numeric>
#include <optional>

#include "rl/model/action_values.h"
#include "rl/model/candidate_batch.h"
#include "rl/model/candidate_table_tensors.h"

namespace shoal::algorithms {
namespace {

at::Tensor At(const at::Tensor& numbers, const at::Tensor& action) {
  return numbers.gather(1, action.unsqueeze(1)).squeeze(1);
}

// Takes numbers [R, W] and actions [R]. The result carries gradients.
HeadRows RowsOf(const at::Tensor& numbers, const at::Tensor& action,
                std::span<const std::int64_t> positions, const at::Tensor& where,
                HeadOutput output) {
  HeadRows rows{.positions = positions, .where = where};
  if (output == HeadOutput::kLogits) {
    const at::Tensor log_probability = numbers.sub(at::logsumexp(numbers, {1}, /*keepdim=*/true));
    const at::Tensor chosen = At(log_probability, action);
    rows.log_probability = chosen.to(at::kDouble);
    rows.entropy = log_probability.exp().mul(log_probability).sum(1).neg().to(at::kDouble);
    rows.greedy = chosen.detach().eq(log_probability.detach().amax(1)).to(at::kDouble);
    return rows;
  }
  const at::Tensor legal = numbers.detach().gt(model::kSurelyIllegalLogit);
  rows.chosen = At(numbers, action).to(at::kDouble);
  rows.mean = at::where(legal, numbers, at::zeros_like(numbers))
                  .sum(1)
                  .div(legal.sum(1).clamp_min(1))
                  .to(at::kDouble);
  rows.maximum = numbers.detach().amax(1).to(at::kDouble);
  rows.greedy_action = numbers.detach().argmax(1);
  return rows;
}

HeadRows WithoutGradients(const HeadRows& rows, HeadOutput output) {
  HeadRows plain = rows;
  if (output == HeadOutput::kLogits) {
    plain.log_probability = rows.log_probability.detach();
    plain.entropy = rows.entropy.detach();
  } else {
    plain.chosen = rows.chosen.detach();
    plain.mean = rows.mean.detach();
  }
  return plain;
}

void Append(const at::Tensor& of, const at::Tensor& by, BatchedHead::Derivatives& derivatives) {
  if (!by.defined()) return;
  derivatives.of.push_back(of);
  derivatives.by.push_back(by);
}

void AddLoss(const HeadRows& rows, HeadOutput output, const HeadLoss& loss,
             BatchedHead::Derivatives& derivatives) {
  HeadDerivatives by;
  {
    const at::NoGradGuard no_grad;
    by = loss(WithoutGradients(rows, output));
  }
  Append(rows.log_probability, by.by_log_probability, derivatives);
  Append(rows.entropy, by.by_entropy, derivatives);
  Append(rows.chosen, by.by_chosen, derivatives);
  Append(rows.mean, by.by_mean, derivatives);
}

// The rows of one catalog.
struct Group {
  std::vector<std::int64_t> positions;
  std::optional<model::CandidateBatch> candidates;
  model::DeviceBatch::Array which;
  model::DeviceBatch::Array action;
};

}  // namespace

at::Tensor BatchedHead::Keys(const model::CandidateTable& table) const {
  if (!trains_keys_) return keys_.Of(table, network_);
  return network_.Keys(model::EmbeddingsOn(table, network_.key().device()).to(at::kFloat));
}

BatchedHead::Derivatives BatchedHead::Run(const UnrollBatch& batch, const BatchTensors& tensors,
                                          const IndexList& rows, const IndexList& actions,
                                          const Rows& inputs, HeadOutput output,
                                          const HeadLoss& loss) {
  Derivatives derivatives;
  const at::Device device = inputs.head.device();
  if (tensors.candidates.catalogs.empty() && !tensors.candidates.rows.empty()) return derivatives;
  if (tensors.candidates.catalogs.empty()) {
    at::Tensor numbers = inputs.head;
    if (tensors.illegal.defined()) {
      numbers =
          numbers.masked_fill(tensors.illegal.index_select(0, rows.device), model::kIllegalLogit);
    }
    std::vector<std::int64_t> positions(rows.host.size());
    std::iota(positions.begin(), positions.end(), 0);
    const at::Tensor where = at::arange(numbers.size(0), actions.device.options());
    AddLoss(RowsOf(numbers, actions.device, positions, where, output), output, loss, derivatives);
    return derivatives;
  }

  const CandidateRows& candidates = tensors.candidates;
  std::vector<Group> groups(candidates.catalogs.size());
  std::vector<std::vector<model::CandidateBatchRow>> group_rows(groups.size());
  std::vector<std::vector<std::int64_t>> group_actions(groups.size());
  for (std::size_t i = 0; i < rows.host.size(); ++i) {
    const auto row = static_cast<std::size_t>(rows.host[i]);
    const RowSimilarity& similarity = candidates.rows[row];
    if (similarity.catalog < 0) continue;
    const auto catalog = static_cast<std::size_t>(similarity.catalog);
    groups[catalog].positions.push_back(static_cast<std::int64_t>(i));
    group_actions[catalog].push_back(actions.host[i]);
    model::CandidateBatchRow of_row{
        .table = batch.tables[static_cast<std::size_t>(batch.catalog[row])].get(),
        .goal = similarity.goal,
        .scale = similarity.scale,
        .shift = similarity.shift};
    if (inputs.mark_weights.defined()) of_row.marks = batch.marks.Row(row);
    if (similarity.appended >= 0) {
      of_row.appended = candidates.appended[static_cast<std::size_t>(similarity.appended)];
    }
    group_rows[catalog].push_back(of_row);
  }
  const std::int64_t kinds = inputs.mark_weights.defined() ? inputs.mark_weights.size(1) : 0;
  model::DeviceBatch arrays(device);
  for (std::size_t catalog = 0; catalog < groups.size(); ++catalog) {
    Group& group = groups[catalog];
    if (group.positions.empty()) continue;
    group.which = arrays.Add(std::span<const std::int64_t>(group.positions));
    group.action = arrays.Add(std::span<const std::int64_t>(group_actions[catalog]));
    group.candidates.emplace(*candidates.catalogs[catalog], group_rows[catalog], kinds, arrays);
  }
  arrays.Send();
  const auto keys = [this](const model::CandidateTable& table) { return Keys(table); };
  for (std::size_t catalog = 0; catalog < groups.size(); ++catalog) {
    const Group& group = groups[catalog];
    if (group.positions.empty()) continue;
    const auto count = static_cast<std::int64_t>(group.positions.size());
    const at::Tensor which = arrays.Get(group.which, {count});
    const at::Tensor logits = group.candidates->Logits(
        arrays,
        {.queries = inputs.head.index_select(0, which),
         .mark_weights = kinds > 0 ? inputs.mark_weights.index_select(0, which) : at::Tensor(),
         .cosines = candidates.cosines[catalog],
         .keys = Keys(*candidates.catalogs[catalog]),
         .appended_keys = group.candidates->AppendedKeys(arrays, keys)});
    AddLoss(RowsOf(logits, arrays.Get(group.action, {count}), group.positions, which, output),
            output, loss, derivatives);
  }
  return derivatives;
}

}  // namespace shoal::algorithms
