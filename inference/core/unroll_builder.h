// SPDX-License-Identifier: Apache-2.0
// The unroll builder holds the open unroll of one environment: evaluated rows go in, unrolls come
// out.
//
// When unrolls are cut by length, T rows make an unroll. The next row bootstraps it and is row 0 of
// the next unroll, except that a FINAL row only bootstraps. When they are cut by episode, an unroll
// holds the acting rows of one episode, and its FINAL row, or zeros, bootstraps it. An episode
// longer than `max_rows` is cut there as by length. With action values an unroll has the priority
// that unroll_priority.h makes of its rows. proto/unroll.proto defines the rows.
//
// With an overlap the next unroll begins `overlap` rows before the row that bootstraps this one,
// but not before the episode of that row. So n-step transitions are unrolls of n rows that overlap
// by n - 1, sequences that begin every P rows overlap by T - P, and sequences with burn-in by the
// rows that are burnt in. The first row's core state is that with which the row was evaluated.
//
// Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "inference/core/open_unroll.h"
#include "inference/core/row_block.h"
#include "inference/core/unroll.h"
#include "inference/core/unroll_priority.h"

namespace shoal::inference {

struct UnrollCut {
  bool by_episode = false;
  // T, or the most rows of an unroll that is cut by episode. At least 1.
  std::size_t max_rows = 16;
  // How many rows the next unroll has in common with this one, besides the bootstrap row. Less than
  // `max_rows`.
  std::size_t overlap = 0;
};

class UnrollBuilder {
 public:
  // The policy's outputs for a row. Core state and past requests are those before the row.
  struct Step {
    std::int64_t action = -1;
    // [n], as in PolicyOutputs, where actions are points of a box.
    std::span<const float> box_action = {};
    float log_probability = 0;
    float value = 0;
    // Q(s, a) of the action, where the policy has action values.
    float action_value = 0;
    // Whether the action has no weight in training.
    bool forced = false;
    parameters::Version version = {};
    std::span<const float> core_state = {};     // [S]
    std::span<const float> past_requests = {};  // [D], or empty
  };

  // `shape` must outlive the builder.
  UnrollBuilder(const PolicyShape& shape, const UnrollCut& cut,
                const PriorityOptions& priority = {})
      : shape_(shape), cut_(cut), priority_(priority) {}

  // Sets the reward and the end that followed the last row's action. `flags` are those of the row
  // that brought them. Without rows it does nothing. Returns the unroll if this completes it.
  std::optional<Unroll> SetOutcome(float reward, std::uint8_t flags);

  // Returns the unroll that the row completes, if any.
  // REQUIRES: rows come in order, and a row that is not FIRST follows a SetOutcome.
  std::optional<Unroll> Append(const Row& row, const Step& step);

  // Drops the open unroll.
  void Clear();

  // The number of rows of the open unroll.
  std::size_t size() const { return open_.actions.size(); }
  // The numbers of the open unroll, and whether they are all of it: it has no group.
  const OpenUnroll& open() const { return open_; }
  bool grouped() const { return group_.has_value(); }
  // Goes on with an open unroll that was saved, whose rows were of `row`'s layout, as one of
  // `row`'s environment in `incarnation`. INVALID_ARGUMENT, and no change, where its rows are not
  // of that layout and the policy's shape. REQUIRES: the policy observes no contents.
  absl::Status Resume(OpenUnroll saved, const Row& row, std::uint64_t incarnation);

 private:
  void Begin(const Row& row, const Step& step);
  void Push(const Row& row, const Step& step);
  void PushBytes(const Row& row);
  std::int32_t CatalogIndex(const std::shared_ptr<const Candidates>& candidates);
  void PushLegal(const Row& row);
  // Adds the bootstrap row, at index T, as zeros.
  void PushZeros();
  // Whether Finish gives the bytes of the observation away. What is open is then spent, and has to
  // be cleared.
  bool GivesBytesAway() const {
    return !cut_.by_episode && cut_.overlap == 0 && layout_->observations.size() == 1;
  }
  // REQUIRES: the bootstrap row has been added, so there are T + 1 rows.
  Unroll Finish();
  // Returns the row that the next unroll begins with. REQUIRES: as for Finish, and there is a row
  // after this unroll.
  std::size_t NextBegin() const;
  // Drops the rows before `begin`; the others are the next unroll's first.
  void Keep(std::size_t begin);
  void AddObservations(Unroll& unroll, std::int64_t rows);
  void AddContents(Unroll& unroll, std::int64_t rows) const;
  void AddActions(Unroll& unroll, std::int64_t rows) const;
  void AddEnvironment(Unroll& unroll, std::int64_t rows) const;
  void AddUnrollColumns(Unroll& unroll) const;
  void AddMarks(Unroll& unroll, std::int64_t rows) const;
  void Summarise(Unroll& unroll) const;

  const PolicyShape& shape_;
  const UnrollCut cut_;
  const PriorityOptions priority_;

  std::shared_ptr<const RowLayout> layout_;
  std::uint64_t environment_ = 0;
  std::uint64_t incarnation_ = 0;
  std::optional<std::uint64_t> group_;
  OpenUnroll open_;
  // Those before each row, or without overlap only before row 0.
  std::vector<float> past_requests_;
  // These hold one entry for each row, or one for each content field.
  std::vector<content::ContentKey> contents_;
  std::vector<std::int32_t> catalogs_;
  model::MarkRows marks_;
  std::vector<std::shared_ptr<const Candidates>> used_catalogs_;
};

}  // namespace shoal::inference
