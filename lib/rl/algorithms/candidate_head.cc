// SPDX-License-Identifier: Apache-2.0
#include "rl/algorithms/candidate_head.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "rl/algorithms/head_rows.h"
#include "rl/model/candidate_softmax.h"
#include "rl/model/candidate_table_tensors.h"

namespace shoal::algorithms {
namespace {

// The number of logits in a chunk: large enough to amortise reading the keys, small enough for the
// chunk to stay in the caches.
constexpr std::int64_t kChunkElements = 192 * 1024;
constexpr std::int64_t kFewestRows = 16;
// A product with embeddings reads four times as much as one with keys, so it takes more rows.
constexpr std::int64_t kFewestLiftedRows = 64;

// Whether `rows` rows with one catalog cost less in the space of embeddings [D] than in that of
// keys [P], counted in multiplications for each candidate: two products with embeddings, against
// three with keys and two between embeddings and keys.
bool LiftingIsCheaper(std::int64_t rows, std::int64_t key_size, std::int64_t embedding_size) {
  return rows * (2 * embedding_size - 3 * key_size) < 2 * key_size * embedding_size;
}

// The candidates that a product takes at once: their numbers fit into a core's cache, which makes a
// product with embeddings a third faster.
constexpr std::int64_t kBlock = 1024;

// Calls `body` with each block of `features` [N, F] as floats, and its first row.
template <typename Body>
void ForEachBlock(const at::Tensor& features, const Body& body) {
  for (std::int64_t begin = 0; begin < features.size(0); begin += kBlock) {
    const std::int64_t count = std::min(kBlock, features.size(0) - begin);
    body(features.narrow(0, begin, count).to(at::kFloat), begin);
  }
}

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
  std::span<const std::int64_t> actions;    // their actions
  std::span<const std::int64_t> positions;  // indices into `rows`
  HeadOutput output;

  const RowSimilarity& similarity(std::int64_t position) const {
    return candidates.rows[static_cast<std::size_t>(rows[static_cast<std::size_t>(position)])];
  }
  const std::shared_ptr<const model::CandidateTable>& table(std::int64_t position) const {
    const auto row = static_cast<std::size_t>(rows[static_cast<std::size_t>(position)]);
    return batch.tables[static_cast<std::size_t>(batch.catalog[row])];
  }
  std::span<const model::CandidateMark> marks(std::int64_t position) const {
    return batch.marks.Row(static_cast<std::size_t>(rows[static_cast<std::size_t>(position)]));
  }
  std::int64_t action(std::int64_t position) const {
    return actions[static_cast<std::size_t>(position)];
  }
};

at::Tensor CandidateHead::Keys(const std::shared_ptr<const model::CandidateTable>& table) {
  if (!key_gradient_.defined()) return keys_.Of(*table, network_);
  return network_.Keys(table->tensors().embeddings.to(at::kFloat)).detach();
}

void CandidateHead::AddKeyGradient(const model::CandidateTable& table, const at::Tensor& by_keys) {
  if (!by_keys.defined()) return;
  key_gradient_.addmm_(by_keys.t(), table.tensors().embeddings.to(at::kFloat));
}

at::Tensor CandidateHead::AppendedFeatures(
    const std::shared_ptr<const model::CandidateTable>& table) {
  return key_gradient_.defined() ? table->tensors().embeddings.to(at::kFloat) : Keys(table);
}

void CandidateHead::AddChunk(const Chunk& chunk, const at::Tensor& features,
                             at::Tensor& by_features, Vectors& vectors, Vectors& appended,
                             Vectors& marks, const HeadLoss& loss) {
  const auto count = static_cast<std::int64_t>(chunk.positions.size());
  const std::int64_t size = features.size(0);
  const at::Tensor which =
      at::from_blob(const_cast<std::int64_t*>(chunk.positions.data()), {count}, at::kLong);
  const at::Tensor of_rows = vectors.values.index_select(0, which);  // [r, F]
  std::int64_t widest = size;
  for (const std::int64_t position : chunk.positions) {
    widest = std::max(widest, chunk.table(position)->size());
  }
  const at::Tensor logits = at::empty({count, widest}, at::kFloat);
  at::Tensor of_catalog = logits.narrow(1, 0, size);
  ForEachBlock(features, [&](const at::Tensor& block, std::int64_t begin) {
    at::Tensor out = of_catalog.narrow(1, begin, block.size(0));
    at::mm_out(out, of_rows, block.t());
  });
  const at::Tensor& cosines = chunk.candidates.cosines[chunk.catalog];
  std::vector<HeadRow> rows;
  std::vector<at::Tensor> own_features(chunk.positions.size());
  for (std::size_t i = 0; i < chunk.positions.size(); ++i) {
    const std::int64_t position = chunk.positions[i];
    const auto& table = chunk.table(position);
    const RowSimilarity& similarity = chunk.similarity(position);
    const std::span<float> row(RowAt(logits, i), static_cast<std::size_t>(table->size()));
    const auto catalog = static_cast<std::size_t>(size);
    model::AddSimilarity(row.first(catalog), model::RowOf(cosines, similarity.goal),
                         similarity.scale, similarity.shift);
    if (similarity.appended >= 0) {
      own_features[i] = AppendedFeatures(table);
      const auto& cosines_of_own =
          chunk.candidates.appended[static_cast<std::size_t>(similarity.appended)];
      const auto vector = model::RowOf(appended.values, position);
      for (std::size_t c = 0; c < cosines_of_own.size(); ++c) {
        const auto feature = model::RowOf(own_features[i], static_cast<std::int64_t>(c));
        row[catalog + c] =
            model::Dot(vector, feature) + similarity.scale * cosines_of_own[c] + similarity.shift;
      }
    }
    if (marks.values.defined()) {
      model::AddMarkWeights(chunk.marks(position), model::RowOf(marks.values, position), row);
    }
    for (const std::int32_t removed : table->removed()) {
      row[static_cast<std::size_t>(removed)] = model::kIllegalLogit;
    }
    rows.emplace_back(row, chunk.action(position), chunk.output);
  }
  if (!HeadBackward(rows, chunk.positions, chunk.output, loss)) return;
  at::Tensor by_rows = at::zeros_like(of_rows);
  ForEachBlock(features, [&](const at::Tensor& block, std::int64_t begin) {
    by_rows.addmm_(of_catalog.narrow(1, begin, block.size(0)), block);
  });
  vectors.by.index_add_(0, which, by_rows);
  if (by_features.defined()) by_features.addmm_(of_catalog.t(), of_rows);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (marks.by.defined()) {
      const std::int64_t position = chunk.positions[i];
      const auto kinds = static_cast<std::size_t>(marks.by.size(1));
      const std::span<float> by(RowAt(marks.by, static_cast<std::size_t>(position)), kinds);
      model::AddMarkGradient(chunk.marks(position), rows[i].numbers, by);
    }
    if (!own_features[i].defined()) continue;
    const at::Tensor by_own = logits.narrow(0, static_cast<std::int64_t>(i), 1)
                                  .narrow(1, size, own_features[i].size(0));  // [1, M]
    appended.by.narrow(0, chunk.positions[i], 1).addmm_(by_own, own_features[i]);
  }
}

CandidateHead::Rows CandidateHead::Backward(const UnrollBatch& batch, const BatchTensors& tensors,
                                            std::span<const std::int64_t> rows,
                                            std::span<const std::int64_t> actions,
                                            const Rows& inputs, HeadOutput output,
                                            const HeadLoss& loss) {
  const at::Tensor& queries = inputs.queries;
  TORCH_CHECK(queries.is_cpu(), "the candidate head computes on the CPU");
  const CandidateRows& candidates = tensors.candidates;
  std::vector<std::vector<std::int64_t>> by_catalog(candidates.catalogs.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::int32_t catalog = candidates.rows[static_cast<std::size_t>(rows[i])].catalog;
    if (catalog >= 0) {
      by_catalog[static_cast<std::size_t>(catalog)].push_back(static_cast<std::int64_t>(i));
    }
  }
  const bool trained = key_gradient_.defined();
  Vectors plain = {.values = queries, .by = at::zeros_like(queries)};
  const at::Tensor key = network_.key().detach();  // [P, D]
  Vectors marks = {.values = inputs.mark_weights, .by = {}};
  if (marks.values.defined()) marks.by = at::zeros_like(marks.values);
  Vectors lifted;
  if (trained) {
    lifted.values = at::mm(queries, key);  // [R, D]
    lifted.by = at::zeros_like(lifted.values);
  }
  for (std::size_t catalog = 0; catalog < by_catalog.size(); ++catalog) {
    const std::span<const std::int64_t> positions = by_catalog[catalog];
    if (positions.empty()) continue;
    const auto& table = candidates.catalogs[catalog];
    const bool lift = trained && LiftingIsCheaper(static_cast<std::int64_t>(positions.size()),
                                                  key.size(0), key.size(1));
    const at::Tensor features = lift ? table->tensors().embeddings : Keys(table);
    at::Tensor by_features = trained && !lift ? at::zeros_like(features) : at::Tensor();
    const auto chunk_rows = static_cast<std::size_t>(
        std::max(lift ? kFewestLiftedRows : kFewestRows, kChunkElements / table->size()));
    for (std::size_t begin = 0; begin < positions.size(); begin += chunk_rows) {
      const auto part = positions.subspan(begin, std::min(chunk_rows, positions.size() - begin));
      AddChunk({batch, candidates, catalog, rows, actions, part, output}, features, by_features,
               lift ? lifted : plain, trained ? lifted : plain, marks, loss);
    }
    AddKeyGradient(*table, by_features);
  }
  if (trained) {
    key_gradient_.addmm_(queries.t(), lifted.by);
    plain.by.addmm_(lifted.by, key.t());
  }
  return {.queries = plain.by, .mark_weights = marks.by};
}

}  // namespace shoal::algorithms
