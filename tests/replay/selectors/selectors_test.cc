// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <vector>

#include "platform/runtime/random.h"
#include "replay/selectors/selector_kind.h"
#include "tests/replay/selectors/plain_rule.h"

namespace shoal::replay {
namespace {

std::vector<SelectorKind> AllKinds() {
  std::vector<SelectorKind> kinds;
  for (const std::string_view name : SelectorNames()) kinds.push_back(*SelectorKindFrom(name));
  return kinds;
}

constexpr double kExponent = 0.6;

std::unique_ptr<Selector> Make(SelectorKind kind, std::uint64_t seed) {
  return MakeSelector(kind, {.priority_exponent = kExponent, .seed = seed});
}

// Returns the probability of each item by the plain rule.
std::map<Handle, double> Expected(SelectorKind kind, const std::map<Handle, double>& in) {
  std::vector<double> priorities;
  for (const auto& [handle, priority] : in) priorities.push_back(priority);
  const std::vector<double> probabilities = PlainProbabilities(kind, priorities, kExponent);
  std::map<Handle, double> expected;
  for (const auto& [handle, priority] : in) expected[handle] = probabilities[expected.size()];
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
  REQUIRE(*SelectorKindFrom("recency") == SelectorKind::kRecency);
  const absl::Status unknown = SelectorKindFrom("newest").status();
  REQUIRE(absl::IsInvalidArgument(unknown));
  REQUIRE(runtime::Message(unknown) ==
          "there is no selector \"newest\"; there are fifo, lifo, uniform, prioritized, min_heap, "
          "max_heap, recency");
  for (const SelectorKind kind : AllKinds()) REQUIRE(Make(kind, 1) != nullptr);
}

TEST_CASE("a first-in-first-out selector gives the items in exactly the order in which they came") {
  const auto fifo = Make(SelectorKind::kFifo, 1);
  for (Handle handle = 0; handle < 1000; ++handle) fifo->Insert(handle, 0);
  for (Handle handle = 1; handle < 1000; handle += 3) fifo->Remove(handle);
  for (Handle handle = 0; handle < 1000; ++handle) {
    if (handle % 3 == 1) continue;
    REQUIRE(fifo->Sample().handle == handle);
    REQUIRE(fifo->Sample().probability == 1);
    fifo->Remove(handle);
  }
}

TEST_CASE("what is drawn a million times follows the distribution, after removals and updates") {
  const SelectorKind kind =
      GENERATE(SelectorKind::kUniform, SelectorKind::kPrioritized, SelectorKind::kRecency);
  const auto selector = Make(kind, 7);
  std::map<Handle, double> in;
  for (Handle handle = 0; handle < 150; ++handle) {
    selector->Insert(handle, in[handle] = 0.01 + static_cast<double>(handle % 7));
  }
  for (Handle handle = 0; handle < 150; handle += 3) {
    selector->Remove(handle);
    in.erase(handle);
  }
  for (Handle handle = 1; handle < 150; handle += 6) {
    selector->Update(handle, in[handle] = 1.5 * static_cast<double>(handle));
  }
  const std::map<Handle, double> expected = Expected(kind, in);
  constexpr int kDraws = 1000000;
  std::map<Handle, int> counts;
  for (int i = 0; i < kDraws; ++i) {
    const Choice choice = selector->Sample();
    if (i % 1000 == 0) REQUIRE(choice.probability == Approx(expected.at(choice.handle)));
    ++counts[choice.handle];
  }
  REQUIRE(counts.size() == in.size());
  // With 99 degrees of freedom the statistic exceeds 148.2 for one seed in a thousand.
  REQUIRE(ChiSquare(counts, expected, kDraws) < 148.2);
}

TEST_CASE("the same seed and calls give the same choices, and another seed gives others") {
  const SelectorKind kind =
      GENERATE(SelectorKind::kUniform, SelectorKind::kPrioritized, SelectorKind::kRecency);
  const auto draws = [kind](std::uint64_t seed) {
    const auto selector = Make(kind, seed);
    for (Handle handle = 0; handle < 50; ++handle) selector->Insert(handle, 1);
    selector->Remove(20);
    std::vector<Handle> chosen;
    for (int i = 0; i < 100; ++i) chosen.push_back(selector->Sample().handle);
    return chosen;
  };
  REQUIRE(draws(3) == draws(3));
  REQUIRE(draws(3) != draws(4));
}

TEST_CASE("items of priority 0 are drawn only among themselves, and then all alike") {
  const auto selector = Make(SelectorKind::kPrioritized, 1);
  selector->Insert(0, 0);
  selector->Insert(1, 0);
  REQUIRE(selector->mass().sum == 0);
  REQUIRE(selector->Sample().probability == 0.5);
  selector->Insert(2, 4);
  for (int i = 0; i < 1000; ++i) REQUIRE(selector->Sample().handle == 2);
  REQUIRE(selector->mass().sum == Approx(std::pow(4, kExponent)));
  REQUIRE(selector->mass().least == selector->mass().sum);
  selector->Insert(3, 1);
  REQUIRE(selector->mass().least == 1);
  selector->Update(3, 0);
  REQUIRE(selector->mass().least == Approx(std::pow(4, kExponent)));
}

TEST_CASE("the golden probabilities of prioritized replay") {
  const auto selector = Make(SelectorKind::kPrioritized, 1);
  const double priorities[] = {0.5, 1, 2, 4};
  const double golden[] = {0.12054997, 0.18271958, 0.27695109, 0.41977936};
  for (Handle handle = 0; handle < 4; ++handle) selector->Insert(handle, priorities[handle]);
  for (int i = 0; i < 100; ++i) {
    const Choice choice = selector->Sample();
    REQUIRE(choice.probability == Approx(golden[choice.handle]).epsilon(1e-7));
  }
  // Importance weights, divided by the greatest: (least weight / weight)^beta, here with beta 0.4.
  const double weights[] = {1, 0.84674531, 0.71697762, 0.60709744};
  const Mass mass = selector->mass();
  for (Handle handle = 0; handle < 4; ++handle) {
    const double weight = golden[handle] * mass.sum;
    REQUIRE(std::pow(mass.least / weight, 0.4) == Approx(weights[handle]).epsilon(1e-7));
  }
}

TEST_CASE(
    "every selector chooses what the plain rule allows, with its probability, whatever comes") {
  for (const SelectorKind kind : AllKinds()) {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      runtime::Random random(seed);
      const auto selector = Make(kind, seed);
      std::map<Handle, double> model;
      Handle next = 0;
      const auto any = [&] {
        return std::next(model.begin(), static_cast<std::ptrdiff_t>(random.Below(model.size())));
      };
      for (int i = 0; i < 5000; ++i) {
        const std::uint64_t what = random.Below(model.size() > 40 ? 4 : 6);
        // Equal priorities, and those of 0, occur too.
        const auto priority = [&random] { return static_cast<double>(random.Below(5)) / 4; };
        if (what >= 4 || model.empty()) {
          selector->Insert(next, model[next] = priority());
          next += 1 + random.Below(3);
        } else if (what == 0) {
          const auto gone = any();
          selector->Remove(gone->first);
          model.erase(gone);
        } else if (what == 1) {
          const auto changed = any();
          selector->Update(changed->first, changed->second = priority());
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
