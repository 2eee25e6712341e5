// SPDX-License-Identifier: Apache-2.0
#include "inference/core/input_gatherer.h"

#include <cstring>
#include <span>
#include <string>

#include "platform/runtime/random.h"
#include "platform/runtime/tensor.h"

namespace shoal::inference {
namespace {

using model::Choice;

Choice ChoiceOf(const Row& row, bool action_values) {
  const RowBlock& block = *row.block;
  if (!row.acts()) return Choice::kValueOnly;
  if (!block.forced.empty() && block.forced[row.index] >= 0) return Choice::kForced;
  if (!row.evaluate()) return action_values ? Choice::kEpsilonGreedy : Choice::kSample;
  if (block.selectors.empty()) return Choice::kGreedy;
  switch (block.selectors[row.index].kind) {
    case PolicySelector::Kind::kUniform:
      return Choice::kUniform;
    case PolicySelector::Kind::kSimilarity:
      return Choice::kSimilarity;
    case PolicySelector::Kind::kCurrent:
    case PolicySelector::Kind::kPinned:
    case PolicySelector::Kind::kInitial:
      break;
  }
  return Choice::kGreedy;
}

}  // namespace

InputGatherer::InputGatherer(const PolicyShape& shape, std::uint64_t seed,
                             std::pmr::memory_resource* frame_memory)
    : shape_(shape), seed_(seed), inputs_(frame_memory) {
  for (std::size_t i = 0; shape.box && i < 2 * shape.action_count; ++i) {
    box_seeds_.push_back(runtime::DeriveSeed(seed, "draw " + std::to_string(i) + " of a box"));
  }
}

void InputGatherer::Begin(std::size_t rows) {
  inputs_.rows = 0;
  inputs_.observation.clear();
  // Not cleared first, since each byte that a vector grows by is written once more.
  inputs_.frames.resize(shape_.frames ? rows * shape_.observation_size : 0);
  inputs_.contents.clear();
  inputs_.goal_keys.clear();
  inputs_.past_requests.clear();
  inputs_.core_state.clear();
  inputs_.first.clear();
  inputs_.marks.Clear();
  inputs_.legal.clear();
  inputs_.tables.clear();
  inputs_.table.clear();
  inputs_.choice.clear();
  inputs_.draw.clear();
  inputs_.box_draws.clear();
  inputs_.epsilon.clear();
  inputs_.forced_action.clear();
  inputs_.similarity_rank.clear();
}

void InputGatherer::Add(const Row& row, const EnvironmentSlot& slot, double epsilon) {
  AddObservation(row);
  AddContents(row);
  AddMemory(row, slot);
  if (shape_.candidates) {
    AddTable(row);
    if (shape_.candidate_marks > 0) inputs_.marks.Add(row.marks());
  } else if (!shape_.box) {
    AddLegal(row);
  }
  AddChoice(row, slot, epsilon);
  ++inputs_.rows;
}

void InputGatherer::AddObservation(const Row& row) {
  const RowLayout& layout = *row.block->layout;
  std::span<const std::byte> bytes =
      std::as_bytes(std::span(row.block->observations))
          .subspan(row.index * layout.observation_bytes, layout.observation_bytes);
  if (shape_.frames) {
    std::memcpy(inputs_.frames.data() + static_cast<std::size_t>(inputs_.rows) * bytes.size(),
                bytes.data(), bytes.size());
    return;
  }
  std::size_t at = inputs_.observation.size();
  inputs_.observation.resize(at + layout.observation_size);
  for (const RowColumn& column : layout.observations) {
    runtime::ToFloats(column.dtype, bytes.first(column.bytes),
                      std::span(inputs_.observation).subspan(at, column.elements));
    bytes = bytes.subspan(column.bytes);
    at += column.elements;
  }
}

void InputGatherer::AddContents(const Row& row) {
  const std::size_t first = row.index * shape_.content_count;
  for (std::size_t field = first; field < first + shape_.content_count; ++field) {
    const embedding::Embedding& embedding = row.block->embeddings[field];
    if (embedding) {
      inputs_.contents.insert(inputs_.contents.end(), embedding->begin(), embedding->end());
    } else {
      inputs_.contents.resize(inputs_.contents.size() + shape_.embedding_size);
    }
  }
}

void InputGatherer::AddMemory(const Row& row, const EnvironmentSlot& slot) {
  const bool first = (row.flags() & kFirst) != 0;
  inputs_.first.push_back(first ? 1 : 0);
  const auto append = [first](std::vector<float>& to, const std::vector<float>& from,
                              std::size_t size) {
    if (first || from.size() != size) {
      to.resize(to.size() + size, 0.0F);
    } else {
      to.insert(to.end(), from.begin(), from.end());
    }
  };
  append(inputs_.core_state, slot.core_state, shape_.core_state_size);
  if (shape_.past_requests) {
    append(inputs_.past_requests, slot.past_requests, shape_.embedding_size);
  }
}

void InputGatherer::AddLegal(const Row& row) {
  const std::vector<std::uint8_t>& legal = row.block->legal;
  if (legal.empty() && inputs_.legal.empty()) return;
  const std::size_t n = shape_.action_count;
  inputs_.legal.resize(static_cast<std::size_t>(inputs_.rows) * n, 1);
  if (legal.empty()) {
    inputs_.legal.resize(inputs_.legal.size() + n, 1);
  } else {
    const auto begin = legal.begin() + static_cast<std::ptrdiff_t>(row.index * n);
    inputs_.legal.insert(inputs_.legal.end(), begin, begin + static_cast<std::ptrdiff_t>(n));
  }
}

void InputGatherer::AddTable(const Row& row) {
  const auto& table = row.block->candidates[row.index]->table;
  std::size_t index = 0;
  while (index < inputs_.tables.size() && inputs_.tables[index] != table) ++index;
  if (index == inputs_.tables.size()) inputs_.tables.push_back(table);
  inputs_.table.push_back(static_cast<std::int32_t>(index));
  const content::ContentKey key = row.SimilarityKey(shape_);
  inputs_.goal_keys.insert(inputs_.goal_keys.end(), key.bytes.begin(), key.bytes.end());
}

void InputGatherer::AddChoice(const Row& row, const EnvironmentSlot& slot, double epsilon) {
  const Choice choice = ChoiceOf(row, shape_.action_values);
  inputs_.choice.push_back(choice);
  inputs_.epsilon.push_back(epsilon);
  inputs_.draw.push_back(runtime::UniformAt(seed_, row.environment(), row.episode(), slot.step));
  for (const std::uint64_t seed : box_seeds_) {
    inputs_.box_draws.push_back(
        runtime::UniformAt(seed, row.environment(), row.episode(), slot.step));
  }
  inputs_.forced_action.push_back(choice == Choice::kForced ? row.block->forced[row.index] : 0);
  const auto about = slot.steps_about.find(row.SimilarityKey(shape_));
  const bool is_new = (row.flags() & kFirst) != 0 || about == slot.steps_about.end();
  inputs_.similarity_rank.push_back(is_new ? 0 : about->second);
}

}  // namespace shoal::inference
