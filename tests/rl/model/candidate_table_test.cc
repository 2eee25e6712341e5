// SPDX-License-Identifier: Apache-2.0
#include "rl/model/candidate_table.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstddef>
#include <cstring>
#include <vector>

#include "tests/rl/model/small_policy.h"

namespace shoal::model {
namespace {

// Returns `count` rows of `whole` from `begin` on.
runtime::Tensor Slice(const runtime::Tensor& whole, std::int64_t begin, std::int64_t count) {
  const std::int64_t size = whole.shape()[1];
  runtime::Tensor part(runtime::DType::kFloat16, {count, size});
  const auto row_bytes = static_cast<std::size_t>(size) * sizeof(std::uint16_t);
  const auto bytes = whole.bytes().subspan(static_cast<std::size_t>(begin) * row_bytes,
                                           static_cast<std::size_t>(count) * row_bytes);
  if (!bytes.empty()) std::memcpy(part.mutable_bytes().data(), bytes.data(), bytes.size());
  return part;
}

TEST_CASE("an overlay is the table of its base's candidates and its own, some of them removed") {
  const PolicySpec spec = Small();
  const auto policy = PolicyOf(spec);
  const runtime::Tensor whole = Embeddings(5, kCandidates, spec.embedding_size);
  const std::vector<std::uint32_t> removed = {1};
  for (const std::int64_t added : {0, 2}) {
    const std::int64_t below = kCandidates - added;
    const auto base = CandidateTable::Create(Slice(whole, 0, below), {}).value();
    const auto overlay = CandidateTable::Create(Slice(whole, below, added), removed, base).value();
    REQUIRE(overlay->size() == kCandidates);
    REQUIRE(overlay->legal_count() == kCandidates - 1);
    REQUIRE(overlay->id() != base->id());
    PolicyInputs inputs = Inputs(spec, 1);
    inputs.tables = {Table(5, removed)};
    const auto expected = Distribution(*policy, inputs, kCandidates);
    inputs.tables = {overlay};
    const auto found = Distribution(*policy, inputs, kCandidates);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      REQUIRE(found[i] == Approx(expected[i]).margin(1e-6));
    }
    REQUIRE_FALSE(CandidateTable::Create(Slice(whole, 0, 1), {}, overlay).ok());
  }
}

TEST_CASE(
    "an overlay's table costs what the overlay adds, with its keys, and nothing of its base") {
  const PolicySpec spec = Small();
  const auto policy = PolicyOf(spec);
  const std::vector<std::uint32_t> removed = {1};
  const auto act = [&](std::shared_ptr<const CandidateTable> table) {
    PolicyInputs inputs = Inputs(spec, 1);
    inputs.tables = {std::move(table)};
    Act(*policy, inputs);
  };
  constexpr std::int64_t kMany = 5000;
  const auto base = Table(5, {}, kMany);
  const runtime::Tensor added = Embeddings(6, 2, spec.embedding_size);
  const auto overlay = CandidateTable::Create(added, removed, base).value();
  const std::size_t base_before = base->bytes();
  const std::size_t overlay_before = overlay->bytes();
  act(overlay);
  const auto keys = static_cast<std::size_t>(spec.projection_size) * sizeof(float);
  REQUIRE(base->bytes() == base_before + kMany * keys);
  REQUIRE(overlay->bytes() == overlay_before + 2 * keys);
  REQUIRE(overlay->bytes() < 4096);
  act(overlay);
  act(base);
  REQUIRE(base->bytes() == base_before + kMany * keys);
}

TEST_CASE("a version shares the keys of the one before it if both project in the same way") {
  const PolicySpec spec = Small();
  const ComputeDevice device{.whole_batches = GENERATE(false, true)};
  const auto policy = [&](std::uint64_t seed, const Policy* previous) {
    return Policy::FromSafetensors(spec, InitialParameters(spec, seed).value(), previous, device)
        .value();
  };
  PolicyInputs inputs = Inputs(spec, 1);
  const auto first = policy(1, nullptr);
  Act(*first, inputs);
  const std::size_t bytes = inputs.tables[0]->bytes();
  const auto same = policy(1, first.get());
  Act(*same, inputs);
  REQUIRE(inputs.tables[0]->bytes() == bytes);
  const auto other = policy(2, first.get());
  Act(*other, inputs);
  const auto keys = static_cast<std::size_t>(kCandidates * spec.projection_size) * sizeof(float);
  REQUIRE(inputs.tables[0]->bytes() == bytes + keys);
}

TEST_CASE("keys of a projection that is gone leave a table when another one's come") {
  const PolicySpec spec = Small();
  PolicyInputs inputs = Inputs(spec, 1);
  Act(*PolicyOf(spec, 1), inputs);
  const std::size_t bytes = inputs.tables[0]->bytes();
  Act(*PolicyOf(spec, 2), inputs);
  REQUIRE(inputs.tables[0]->bytes() == bytes);
}

TEST_CASE("only the first numbers of goal and candidates are compared where the table says so") {
  PolicySpec spec = Small();
  spec.query_scale = 0;
  const auto policy = PolicyOf(spec);
  const std::int64_t size = spec.embedding_size;
  const std::int64_t compared = size / 2;
  const runtime::Tensor whole = Embeddings(5, kCandidates, size);
  PolicyInputs inputs = Inputs(spec, 1);
  const auto distribution = [&](std::shared_ptr<const CandidateTable> table) {
    inputs.tables = {std::move(table)};
    return Distribution(*policy, inputs, kCandidates);
  };
  const auto found = distribution(CandidateTable::Create(whole, {}, nullptr, compared).value());
  const auto base = CandidateTable::Create(Slice(whole, 0, 3), {}, nullptr, compared).value();
  const runtime::Tensor rest = Slice(whole, 3, kCandidates - 3);
  const auto of_overlay = distribution(CandidateTable::Create(rest, {}, base, compared).value());
  const auto of_all = distribution(CandidateTable::Create(whole, {}).value());

  runtime::Tensor front = whole;
  auto* const numbers = reinterpret_cast<std::uint16_t*>(front.mutable_bytes().data());
  for (std::int64_t i = 0; i < kCandidates * size; ++i) {
    if (i % size >= compared) numbers[i] = 0;
  }
  const auto goal = inputs.contents.begin() + spec.similarity_index() * size;
  std::fill(goal + compared, goal + size, std::uint16_t{0});
  const auto expected = distribution(CandidateTable::Create(front, {}).value());
  REQUIRE(of_all[0] != Approx(expected[0]).margin(1e-3));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    REQUIRE(found[i] == Approx(expected[i]).margin(1e-6));
    REQUIRE(of_overlay[i] == Approx(expected[i]).margin(1e-6));
  }
  REQUIRE_FALSE(CandidateTable::Create(rest, {}, base).ok());
  REQUIRE_FALSE(CandidateTable::Create(whole, {}, nullptr, size + 1).ok());
}

TEST_CASE("tables refuse what is no table") {
  const std::vector<std::uint32_t> outside = {7};
  const std::vector<std::uint32_t> all = {0, 1};
  const std::vector<std::uint32_t> none;
  REQUIRE_FALSE(CandidateTable::Create(Embeddings(1, 7, 4), outside).ok());
  REQUIRE_FALSE(CandidateTable::Create(Embeddings(1, 2, 4), all).ok());
  REQUIRE_FALSE(CandidateTable::Create(Embeddings(1, 0, 4), none).ok());
  REQUIRE_FALSE(
      CandidateTable::Create(runtime::Tensor(runtime::DType::kFloat32, {2, 4}), none).ok());
  runtime::Tensor infinite = Embeddings(1, 2, 4);
  infinite.mutable_bytes()[1] = std::byte{0x7c};
  infinite.mutable_bytes()[0] = std::byte{0};
  REQUIRE_FALSE(CandidateTable::Create(infinite, none).ok());
}

}  // namespace
}  // namespace shoal::model
