// SPDX-License-Identifier: Apache-2.0
#include "learner/cloning/demonstration_table.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "platform/runtime/check.h"
#include "platform/runtime/log.h"
#include "platform/runtime/random.h"
#include "rl/estimators/priorities.h"

namespace shoal::learner {
namespace {

// Returns the rows from `begin` to before `end` of row-major values, or nothing of nothing.
template <typename T>
std::vector<T> Rows(const std::vector<T>& values, std::int64_t begin, std::int64_t end,
                    std::int64_t width = 1) {
  if (values.empty()) return {};
  return std::vector<T>(values.begin() + begin * width, values.begin() + end * width);
}

DecodedUnroll Sequence(const model::PolicySpec& spec, const DecodedUnroll& episode,
                       std::int64_t begin, std::int64_t end) {
  DecodedUnroll part;
  part.key = episode.key;
  part.key.id.first_sequence += static_cast<std::uint64_t>(begin);
  part.length = end - begin;
  part.encoder_version = episode.encoder_version;
  part.observation = Rows(episode.observation, begin, end + 1, spec.observation_size);
  part.frames = Rows(episode.frames, begin, end + 1, spec.frame_size());
  part.content_keys = episode.content_keys;
  part.contents = episode.contents;
  part.content_index = Rows(episode.content_index, begin, end + 1, spec.content_count());
  part.tables = episode.tables;
  part.catalog = Rows(episode.catalog, begin, end + 1);
  for (std::int64_t row = begin; row <= end && episode.marks.rows() > 0; ++row) {
    part.marks.Add(episode.marks.Row(static_cast<std::size_t>(row)));
  }
  part.legal = Rows(episode.legal, begin, end + 1, spec.action_count);
  part.past_requests = episode.past_requests;
  part.core_state.assign(episode.core_state.size(), 0);
  part.action = Rows(episode.action, begin, end);
  part.box_action = Rows(episode.box_action, begin, end, spec.action_count);
  part.behaviour_log_probability = Rows(episode.behaviour_log_probability, begin, end);
  part.reward = Rows(episode.reward, begin, end);
  part.value = Rows(episode.value, begin, end + 1);
  part.flags = Rows(episode.flags, begin, end + 1);
  part.weight = Rows(episode.weight, begin, end);
  part.acted = Rows(episode.acted, begin, end);
  part.group = episode.group;
  part.episode_id = Rows(episode.episode_id, begin, end + 1);
  part.relabelled = Rows(episode.relabelled, begin, end);
  return part;
}

}  // namespace

std::vector<DecodedUnroll> CutIntoSequences(const model::PolicySpec& spec,
                                            const DecodedUnroll& episode, std::int64_t length,
                                            std::int64_t burn_in) {
  if (length == 0 || episode.length <= length) return {episode};
  std::vector<DecodedUnroll> sequences;
  for (std::int64_t begin = 0; begin + burn_in < episode.length; begin += length - burn_in) {
    DecodedUnroll part = Sequence(spec, episode, begin, std::min(begin + length, episode.length));
    if (begin > 0) {
      part.overlap = burn_in;
      std::fill_n(part.weight.begin(), burn_in, 0.0F);
    }
    part.steps = std::count(part.weight.begin(), part.weight.end(), 1.0F);
    sequences.push_back(std::move(part));
  }
  return sequences;
}

absl::StatusOr<std::unique_ptr<DemonstrationTable>> DemonstrationTable::Create(
    const DemonstrationTableOptions& options, const model::PolicySpec& spec,
    const DemonstrationSet& demonstrations) {
  if (options.length > 0 && options.length <= options.burn_in) {
    return runtime::InvalidArgument(
        "learner.demonstration_length: " + std::to_string(options.length) +
        " rows are not more than learner.burn_in");
  }
  auto table = std::unique_ptr<DemonstrationTable>(new DemonstrationTable(options));
  for (const DecodedUnroll& episode : demonstrations.unrolls()) {
    auto parts = CutIntoSequences(spec, episode, options.length, options.burn_in);
    if (parts.size() > 1 && spec.has_candidates() && spec.past_requests) {
      return runtime::FailedPrecondition("learner.demonstration_length: a demonstration has " +
                                         std::to_string(episode.length) +
                                         " rows, and with policy.past_requests it cannot be cut");
    }
    std::move(parts.begin(), parts.end(), std::back_inserter(table->sequences_));
  }
  for (std::size_t place = 0; place < table->size(); ++place) {
    table->trained_.Append(0);
    table->untrained_.Append(1);
  }
  spdlog::info("event=demonstration_table sequences={} ratio={}", table->size(), options.ratio);
  return table;
}

std::size_t DemonstrationTable::CountOf(std::int64_t update, std::size_t share) const {
  runtime::Random random(runtime::DeriveSeed(options_.seed, "demonstration ratio of rank " +
                                                                std::to_string(options_.rank)),
                         static_cast<std::uint64_t>(update));
  std::size_t count = 0;
  for (std::size_t i = 0; i < share; ++i) count += random.Uniform() < options_.ratio ? 1 : 0;
  return count;
}

double DemonstrationTable::WeightOf(double priority) const {
  return std::pow(priority, options_.priority_exponent);
}

std::vector<DecodedUnroll> DemonstrationTable::Draw(std::int64_t update, std::size_t count,
                                                    const parameters::Version& current) {
  drawn_.clear();
  if (count == 0) return {};
  const double untrained = WeightOf(greatest_);
  const double sum = trained_.sum() + untrained_.sum() * untrained;
  const double least =
      untrained_.sum() > 0 ? std::min(trained_.least(), untrained) : trained_.least();
  runtime::Random random(
      runtime::DeriveSeed(options_.seed, "demonstrations of rank " + std::to_string(options_.rank)),
      static_cast<std::uint64_t>(update));
  std::vector<DecodedUnroll> unrolls;
  for (std::size_t i = 0; i < count; ++i) {
    const double mass = random.Uniform() * sum;
    const bool among_trained = untrained_.sum() == 0 || mass < trained_.sum();
    const std::size_t place =
        among_trained ? trained_.Find(mass) : untrained_.Find((mass - trained_.sum()) / untrained);
    drawn_.push_back(place);
    DecodedUnroll unroll = sequences_[place];
    unroll.probability = (among_trained ? trained_.at(place) : untrained) / sum;
    unroll.least_probability = least / sum;
    std::fill(unroll.acted.begin(), unroll.acted.end(), current);
    unrolls.push_back(std::move(unroll));
  }
  return unrolls;
}

void DemonstrationTable::UpdatePriorities(std::span<const float> priorities) {
  SHOAL_CHECK(priorities.size() == drawn_.size());
  for (std::size_t i = 0; i < drawn_.size(); ++i) {
    const double priority = std::max<double>(priorities[i], estimators::kLeastPriority);
    trained_.Set(drawn_[i], WeightOf(priority));
    untrained_.Set(drawn_[i], 0);
    greatest_ = std::max(greatest_, priority);
  }
}

}  // namespace shoal::learner
