// SPDX-License-Identifier: Apache-2.0
// The open unroll of one environment: rows go in as they are evaluated, unrolls come out.
//
// Cut by length: T rows make an unroll; the row that follows bootstraps it and is row 0 of the next
// one (a FINAL row only bootstraps). Cut by episode: an unroll is an episode's acting rows; its
// FINAL row, or zeros, bootstraps; an episode longer than `max_rows` is cut there as by length. See
// proto/unroll.proto for the rows' meaning. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "inference/core/row_block.h"
#include "inference/core/unroll.h"

namespace shoal::inference {

struct UnrollCut {
  bool by_episode = false;
  // T; by episode: the most. At least 1.
  std::size_t max_rows = 16;
};

class UnrollBuilder {
 public:
  // What the policy made of a row. Core state and past requests are those before the row.
  struct Step {
    std::int64_t action = -1;
    float log_probability = 0;
    float value = 0;
    bool forced = false;
    parameters::Version version = {};
    std::span<const float> core_state = {};     // [S]
    std::span<const float> past_requests = {};  // [D], or empty
  };

  // `shape` outlives the builder.
  UnrollBuilder(const PolicyShape& shape, const UnrollCut& cut) : shape_(shape), cut_(cut) {}

  // Reward and end of the action of the last row; `flags` of the row that brought them. Nothing
  // without rows.
  std::optional<Unroll> SetOutcome(float reward, std::uint8_t flags);

  // REQUIRES: in order; a row that is not FIRST follows a SetOutcome.
  std::optional<Unroll> Append(const Row& row, const Step& step);

  // Forgets the open unroll.
  void Clear();

  // Rows of the open unroll.
  std::size_t size() const { return actions_.size(); }

 private:
  void Begin(const Row& row, const Step& step);
  void Push(const Row& row, const Step& step);
  void PushBytes(const Row& row);
  std::int32_t CatalogIndex(const Row& row);
  void PushLegal(const Row& row);
  // Adds row T: zeros.
  void PushZeros();
  // REQUIRES: T + 1 rows are here.
  Unroll Finish();
  void AddObservations(Unroll& unroll, std::int64_t rows) const;
  void AddContents(Unroll& unroll, std::int64_t rows) const;
  void AddActions(Unroll& unroll, std::int64_t rows) const;
  void AddEnvironment(Unroll& unroll, std::int64_t rows) const;
  void AddUnrollColumns(Unroll& unroll) const;
  void Summarise(Unroll& unroll) const;

  const PolicyShape& shape_;
  const UnrollCut cut_;

  std::shared_ptr<const RowLayout> layout_;
  std::uint64_t environment_ = 0;
  std::uint64_t incarnation_ = 0;
  std::uint64_t first_sequence_ = 0;
  std::optional<std::uint64_t> group_;
  std::vector<float> core_state_;
  std::vector<float> past_requests_;

  // One entry (or B of the layout) a row.
  std::vector<float> observations_;
  std::vector<content::ContentKey> contents_;
  std::vector<std::int32_t> catalogs_;
  std::vector<std::uint8_t> legal_;
  std::vector<std::int64_t> actions_;
  std::vector<float> log_probabilities_;
  std::vector<float> values_;
  std::vector<float> rewards_;
  std::vector<std::uint8_t> flags_;
  std::vector<std::uint8_t> forced_;
  std::vector<parameters::Version> versions_;
  std::vector<std::int64_t> episodes_;
  std::vector<std::byte> extras_;
  std::vector<std::shared_ptr<const Candidates>> used_catalogs_;
};

}  // namespace shoal::inference
