// SPDX-License-Identifier: Apache-2.0
#include "rl/algorithms/candidate_head.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "rl/algorithms/softmax_rows.h"
#include "rl/model/candidate_softmax.h"
#include "rl/model/candidate_table_tensors.h"

namespace shoal::algorithms {
namespace {

// The number of logits in a chunk: large enough to amortise reading the keys, small enough for the
// chunk to stay in the caches.
constexpr std::int64_t kChunkElements = 192 * 1024;
constexpr std::int64_t kFewestRows = 16;

float* RowAt(const at::Tensor& matrix, std::size_t row) {
  return matrix.data_ptr<float>() + row * static_cast<std::size_t>(matrix.stride(0));
}

}  // namespace

// The rows of one catalog that are computed at once.
struct CandidateHead::Chunk {
  const UnrollBatch& batch;
  const CandidateRows& candidates;
  std::size_t catalog;
  std::span<const std::int64_t> rows;       // row numbers of all rows of the minibatch
  std::span<const std::int64_t> positions;  // indices into `rows`
  const at::Tensor& queries;                // [R, P], of all rows

  const RowSimilarity& similarity(std::int64_t position) const {
    return candidates.rows[static_cast<std::size_t>(rows[static_cast<std::size_t>(position)])];
  }
  const std::shared_ptr<const model::CandidateTable>& table(std::int64_t position) const {
    const auto row = static_cast<std::size_t>(rows[static_cast<std::size_t>(position)]);
    return batch.tables[static_cast<std::size_t>(batch.catalog[row])];
  }
  std::int64_t action(std::int64_t position) const {
    return batch.action[static_cast<std::size_t>(rows[static_cast<std::size_t>(position)])];
  }
};

at::Tensor CandidateHead::Keys(const std::shared_ptr<const model::CandidateTable>& table) {
  if (!key_gradient_.defined()) return keys_.Of(*table, network_);
  return network_.Keys(table->tensors().embeddings.to(at::kFloat)).detach();
}

void CandidateHead::AddKeyGradient(const model::CandidateTable& table, const at::Tensor& by_keys) {
  if (by_keys.defined())
    key_gradient_.addmm_(by_keys.t(), table.tensors().embeddings.to(at::kFloat));
}

void CandidateHead::AddChunk(const Chunk& chunk, const at::Tensor& keys, at::Tensor& by_keys,
                             at::Tensor& by_queries, const HeadLoss& loss) {
  const auto count = static_cast<std::int64_t>(chunk.positions.size());
  const std::int64_t size = keys.size(0);
  const at::Tensor which =
      at::from_blob(const_cast<std::int64_t*>(chunk.positions.data()), {count}, at::kLong);
  const at::Tensor queries = chunk.queries.index_select(0, which);  // [r, P]
  std::int64_t widest = size;
  for (const std::int64_t position : chunk.positions) {
    widest = std::max(widest, chunk.table(position)->size());
  }
  const at::Tensor logits = at::empty({count, widest}, at::kFloat);
  at::Tensor of_catalog = logits.narrow(1, 0, size);
  at::mm_out(of_catalog, queries, keys.t());
  const at::Tensor& cosines = chunk.candidates.cosines[chunk.catalog];
  std::vector<LogitRow> rows;
  std::vector<at::Tensor> own_keys(chunk.positions.size());
  for (std::size_t i = 0; i < chunk.positions.size(); ++i) {
    const std::int64_t position = chunk.positions[i];
    const auto& table = chunk.table(position);
    const RowSimilarity& similarity = chunk.similarity(position);
    const std::span<float> row(RowAt(logits, i), static_cast<std::size_t>(table->size()));
    const auto catalog = static_cast<std::size_t>(size);
    model::AddSimilarity(row.first(catalog), model::RowOf(cosines, similarity.goal),
                         similarity.scale, similarity.shift);
    if (similarity.appended >= 0) {
      own_keys[i] = Keys(table);
      const auto& appended =
          chunk.candidates.appended[static_cast<std::size_t>(similarity.appended)];
      const auto query = model::RowOf(queries, static_cast<std::int64_t>(i));
      for (std::size_t c = 0; c < appended.size(); ++c) {
        const auto key = model::RowOf(own_keys[i], static_cast<std::int64_t>(c));
        row[catalog + c] =
            model::Dot(query, key) + similarity.scale * appended[c] + similarity.shift;
      }
    }
    for (const std::int32_t removed : table->removed()) {
      row[static_cast<std::size_t>(removed)] = model::kIllegalLogit;
    }
    rows.emplace_back(row, chunk.action(position));
  }
  if (!SoftmaxBackward(rows, chunk.positions, loss)) return;
  at::Tensor by_query = at::mm(of_catalog, keys);  // [r, P]
  if (by_keys.defined()) by_keys.addmm_(of_catalog.t(), queries);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!own_keys[i].defined()) continue;
    const std::int64_t appended = own_keys[i].size(0);
    const at::Tensor by_own =
        logits.narrow(0, static_cast<std::int64_t>(i), 1).narrow(1, size, appended);  // [1, M]
    by_query.narrow(0, static_cast<std::int64_t>(i), 1).addmm_(by_own, own_keys[i]);
    if (by_keys.defined()) {
      const at::Tensor query = queries.narrow(0, static_cast<std::int64_t>(i), 1);
      AddKeyGradient(*chunk.table(chunk.positions[i]), at::mm(by_own.t(), query));
    }
  }
  by_queries.index_copy_(0, which, by_query);
}

at::Tensor CandidateHead::Backward(const UnrollBatch& batch, const BatchTensors& tensors,
                                   std::span<const std::int64_t> rows, const at::Tensor& queries,
                                   const HeadLoss& loss) {
  TORCH_CHECK(queries.is_cpu(), "the candidate head computes on the CPU");
  const CandidateRows& candidates = tensors.candidates;
  std::vector<std::vector<std::int64_t>> by_catalog(candidates.catalogs.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::int32_t catalog = candidates.rows[static_cast<std::size_t>(rows[i])].catalog;
    if (catalog >= 0) {
      by_catalog[static_cast<std::size_t>(catalog)].push_back(static_cast<std::int64_t>(i));
    }
  }
  at::Tensor by_queries = at::zeros_like(queries);
  for (std::size_t catalog = 0; catalog < by_catalog.size(); ++catalog) {
    const std::span<const std::int64_t> positions = by_catalog[catalog];
    if (positions.empty()) continue;
    const auto& table = candidates.catalogs[catalog];
    const at::Tensor keys = Keys(table);
    at::Tensor by_keys = key_gradient_.defined() ? at::zeros_like(keys) : at::Tensor();
    const auto chunk_rows =
        static_cast<std::size_t>(std::max(kFewestRows, kChunkElements / table->size()));
    for (std::size_t begin = 0; begin < positions.size(); begin += chunk_rows) {
      const auto part = positions.subspan(begin, std::min(chunk_rows, positions.size() - begin));
      AddChunk({batch, candidates, catalog, rows, part, queries}, keys, by_keys, by_queries, loss);
    }
    AddKeyGradient(*table, by_keys);
  }
  return by_queries;
}

}  // namespace shoal::algorithms
