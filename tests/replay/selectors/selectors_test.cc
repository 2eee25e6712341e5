// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <vector>

#include "platform/runtime/random.h"
#include "replay/selectors/selector_kind.h"

namespace shoal::replay {
namespace {

std::vector<SelectorKind> AllKinds() {
  std::vector<SelectorKind> kinds;
  for (const std::string_view name : SelectorNames()) kinds.push_back(*SelectorKindFrom(name));
  return kinds;
}

// Returns the probability with which a selector of `kind` must choose each item by its definition.
std::map<Handle, double> Expected(SelectorKind kind, const std::map<Handle, double>& priorities) {
  std::map<Handle, double> expected;
  for (const auto& [handle, priority] : priorities) {
    switch (kind) {
      case SelectorKind::kFifo:
        expected[handle] = handle == priorities.begin()->first ? 1 : 0;
        break;
      case SelectorKind::kUniform:
        expected[handle] = 1.0 / static_cast<double>(priorities.size());
        break;
    }
  }
  return expected;
}

double ChiSquare(const std::map<Handle, int>& counts, const std::map<Handle, double>& expected,
                 int draws) {
  double sum = 0;
  for (const auto& [handle, probability] : expected) {
    const auto found = counts.find(handle);
    const double seen = found == counts.end() ? 0 : found->second;
    const double mean = probability * draws;
    sum += (seen - mean) * (seen - mean) / mean;
  }
  return sum;
}

TEST_CASE("every selector has a name, and another name is an error that lists them") {
  REQUIRE(*SelectorKindFrom("fifo") == SelectorKind::kFifo);
  REQUIRE(*SelectorKindFrom("uniform") == SelectorKind::kUniform);
  const absl::Status unknown = SelectorKindFrom("lifo").status();
  REQUIRE(absl::IsInvalidArgument(unknown));
  REQUIRE(runtime::Message(unknown) == "there is no selector \"lifo\"; there are fifo, uniform");
  for (const SelectorKind kind : AllKinds()) REQUIRE(MakeSelector(kind, 1) != nullptr);
}

TEST_CASE("a first-in-first-out selector gives the items in exactly the order in which they came") {
  const auto fifo = MakeSelector(SelectorKind::kFifo, 1);
  for (Handle handle = 0; handle < 1000; ++handle) fifo->Insert(handle, 0);
  for (Handle handle = 1; handle < 1000; handle += 3) fifo->Remove(handle);
  for (Handle handle = 0; handle < 1000; ++handle) {
    if (handle % 3 == 1) continue;
    REQUIRE(fifo->Sample().handle == handle);
    REQUIRE(fifo->Sample().probability == 1);
    fifo->Remove(handle);
  }
}

TEST_CASE("a uniform selector draws every item equally often, after removals too") {
  const auto uniform = MakeSelector(SelectorKind::kUniform, 7);
  std::map<Handle, double> in;
  for (Handle handle = 0; handle < 150; ++handle) uniform->Insert(handle, in[handle] = 1);
  for (Handle handle = 0; handle < 150; handle += 3) {
    uniform->Remove(handle);
    in.erase(handle);
  }
  constexpr int kDraws = 1000000;
  std::map<Handle, int> counts;
  for (int i = 0; i < kDraws; ++i) {
    const Choice choice = uniform->Sample();
    REQUIRE(choice.probability == Approx(0.01));
    ++counts[choice.handle];
  }
  REQUIRE(counts.size() == in.size());
  // With 99 degrees of freedom the statistic exceeds 148.2 for one seed in a thousand.
  REQUIRE(ChiSquare(counts, Expected(SelectorKind::kUniform, in), kDraws) < 148.2);
}

TEST_CASE("the same seed and calls give the same choices, and another seed gives others") {
  const auto draws = [](std::uint64_t seed) {
    const auto uniform = MakeSelector(SelectorKind::kUniform, seed);
    for (Handle handle = 0; handle < 50; ++handle) uniform->Insert(handle, 1);
    uniform->Remove(20);
    std::vector<Handle> chosen;
    for (int i = 0; i < 100; ++i) chosen.push_back(uniform->Sample().handle);
    return chosen;
  };
  REQUIRE(draws(3) == draws(3));
  REQUIRE(draws(3) != draws(4));
}

TEST_CASE(
    "every selector chooses what the plain rule allows, with its probability, whatever comes") {
  for (const SelectorKind kind : AllKinds()) {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      runtime::Random random(seed);
      const auto selector = MakeSelector(kind, seed);
      std::map<Handle, double> model;
      Handle next = 0;
      const auto any = [&] {
        return std::next(model.begin(), static_cast<std::ptrdiff_t>(random.Below(model.size())));
      };
      for (int i = 0; i < 5000; ++i) {
        const std::uint64_t what = random.Below(model.size() > 40 ? 4 : 6);
        if (what >= 4 || model.empty()) {
          selector->Insert(next, model[next] = random.Uniform());
          next += 1 + random.Below(3);
        } else if (what == 0) {
          const auto gone = any();
          selector->Remove(gone->first);
          model.erase(gone);
        } else if (what == 1) {
          const auto changed = any();
          selector->Update(changed->first, changed->second = random.Uniform());
        } else {
          const Choice choice = selector->Sample();
          const std::map<Handle, double> expected = Expected(kind, model);
          REQUIRE(expected.contains(choice.handle));
          REQUIRE(choice.probability == Approx(expected.at(choice.handle)));
          REQUIRE(choice.probability > 0);
        }
      }
    }
  }
}

}  // namespace
}  // namespace shoal::replay
