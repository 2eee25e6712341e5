// SPDX-License-Identifier: Apache-2.0
// Sums that travel around the ring in bfloat16, with what rounding takes kept for the next sum.
#include "rl/collectives/rounded_sum.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "rl/collectives/gradient_reducer.h"
#include "rl/collectives/ring.h"
#include "rl/collectives/socket.h"
#include "tests/doubles/ranks.h"

namespace shoal::collectives {
namespace {

using doubles::Mentions;
using doubles::PatientGroup;
using doubles::TryRanks;

// Eight bits of a normal number, ties to even.
float Rounded(float value) {
  int exponent = 0;
  const float mantissa = std::frexp(value, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(mantissa, 8)), exponent - 8);
}

// A gradient of a rank, of both signs and of several sizes.
float GradientOf(std::size_t rank, std::size_t step, std::size_t i) {
  const auto place = static_cast<float>(i * 7 + rank * 31 + step * 13 + 1);
  return std::sin(place) * std::exp(std::cos(place * 3));
}

std::vector<float> GradientsOf(std::size_t rank, std::size_t step, std::size_t size) {
  std::vector<float> values(size);
  for (std::size_t i = 0; i < size; ++i) values[i] = GradientOf(rank, step, i);
  return values;
}

// By step and rank: what the ranks got.
using SumsOfSteps = std::vector<std::vector<std::vector<float>>>;
using ValuesOfRank = std::function<std::vector<float>(std::size_t rank, std::size_t step)>;

// Runs steps of compressed sums around a ring. Without feedback each step forgets what it kept.
SumsOfSteps RunSteps(std::size_t ranks, std::size_t steps, bool feedback,
                     const ValuesOfRank& values_of) {
  SumsOfSteps course(steps, std::vector<std::vector<float>>(ranks));
  const auto statuses = TryRanks(
      ranks,
      [&](std::size_t rank, GradientReducer& reducer) -> absl::Status {
        std::vector<float> residual;
        for (std::size_t step = 0; step < steps; ++step) {
          std::vector<float> values = values_of(rank, step);
          residual.resize(values.size());
          if (!feedback) std::fill(residual.begin(), residual.end(), 0.0F);
          SHOAL_RETURN_IF_ERROR(reducer.AllReduceSumCompressed(values, residual));
          for (const float kept : residual) {
            if (!std::isfinite(kept)) return runtime::Internal("kept what is not finite");
          }
          course[step][rank] = std::move(values);
        }
        return absl::OkStatus();
      },
      PatientGroup(1));
  for (const absl::Status& status : statuses) {
    INFO(status);
    REQUIRE(status.ok());
  }
  return course;
}

TEST_CASE("a compressed sum is rounded wherever a rank passes it on, the same on all ranks") {
  for (const std::size_t ranks : {2U, 3U, 4U}) {
    for (const std::size_t size : {ranks, 5 * ranks + 2, std::size_t{1009}, std::size_t{200'003}}) {
      INFO("ranks " << ranks << " size " << size);
      const SumsOfSteps course = RunSteps(ranks, 1, true, [&](std::size_t rank, std::size_t step) {
        return GradientsOf(rank, step, size);
      });
      std::vector<float> expected;
      for (std::size_t segment = 0; segment < ranks; ++segment) {
        const std::size_t count = size / ranks + (segment < size % ranks ? 1 : 0);
        for (std::size_t n = 0; n < count; ++n) {
          const std::size_t i = expected.size();
          float sum = 0;
          for (std::size_t k = 1; k <= ranks; ++k) {
            sum = Rounded(sum + GradientOf((segment + k) % ranks, 0, i));
          }
          expected.push_back(sum);
        }
      }
      for (const std::vector<float>& values : course[0]) REQUIRE(values == expected);
    }
  }
}

TEST_CASE(
    "what ranks got stays within one rounding of what they gave, and drifts without residuals") {
  constexpr std::size_t kSteps = 300;
  constexpr std::size_t kSize = 1003;
  // Less than half a rounding step above numbers in bfloat16, so that rounding takes it each time.
  const auto gradient = [](std::size_t rank, std::size_t) {
    std::vector<float> values = GradientsOf(rank, 0, kSize);
    for (float& value : values) value = Rounded(value) * 1.00133F;
    return values;
  };
  for (const std::size_t ranks : {2U, 3U, 4U}) {
    std::vector<double> given(kSize);
    std::vector<double> largest(kSize);
    for (std::size_t step = 0; step < kSteps; ++step) {
      for (std::size_t rank = 0; rank < ranks; ++rank) {
        const std::vector<float> values = gradient(rank, step);
        for (std::size_t i = 0; i < kSize; ++i) {
          given[i] += values[i];
          largest[i] = std::max(largest[i], std::abs(double{values[i]}));
        }
      }
    }
    const auto apart = [&](bool feedback) {
      const SumsOfSteps course = RunSteps(ranks, kSteps, feedback, gradient);
      std::vector<double> got(kSize);
      for (const auto& step : course) {
        for (std::size_t rank = 1; rank < ranks; ++rank) REQUIRE(step[rank] == step[0]);
        for (std::size_t i = 0; i < kSize; ++i) got[i] += step[0][i];
      }
      // In roundings of the largest sum that a rank could pass on, one for each rank.
      double most = 0;
      for (std::size_t i = 0; i < kSize; ++i) {
        const double rounding = largest[i] * static_cast<double>(ranks) * 0x1p-8;
        most = std::max(most, std::abs(got[i] - given[i]) / rounding);
      }
      return most / static_cast<double>(ranks);
    };
    INFO("ranks " << ranks);
    REQUIRE(apart(true) < 1);
    REQUIRE(apart(false) > 3);
  }
}

TEST_CASE("infinities and NaNs pass through a compressed sum, and the next one is finite again") {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr std::size_t kSize = 103;
  for (const std::size_t ranks : {2U, 3U, 4U}) {
    for (std::size_t culprit = 0; culprit < ranks; ++culprit) {
      const SumsOfSteps course = RunSteps(ranks, 2, true, [&](std::size_t rank, std::size_t step) {
        std::vector<float> values = GradientsOf(rank, step, kSize);
        if (step > 0 || rank != culprit) return values;
        for (std::size_t i = 0; i < kSize; i += 4) {
          values[i] = std::numeric_limits<float>::quiet_NaN();
          // All bits of this one are set, so that rounding it would wrap around.
          if (i % 8 == 0) values[i] = std::bit_cast<float>(0x7fffffffU);
        }
        for (std::size_t i = 1; i < kSize; i += 4) values[i] = kInfinity;
        for (std::size_t i = 2; i < kSize; i += 4) values[i] = -kInfinity;
        return values;
      });
      for (std::size_t rank = 0; rank < ranks; ++rank) {
        const std::vector<float>& first = course[0][rank];
        for (std::size_t i = 0; i < kSize; ++i) {
          if (i % 4 == 0) REQUIRE(std::isnan(first[i]));
          if (i % 4 == 1) REQUIRE(first[i] == kInfinity);
          if (i % 4 == 2) REQUIRE(first[i] == -kInfinity);
          if (i % 4 == 3) REQUIRE(std::isfinite(first[i]));
          REQUIRE(std::isfinite(course[1][rank][i]));
        }
      }
    }
  }
}

TEST_CASE("sums of one rank and sums over rank 0 are not rounded") {
  std::vector<float> values = GradientsOf(0, 0, 100);
  std::vector<float> residual(values.size());
  SingleRank alone;
  REQUIRE_FALSE(alone.compresses(values.size()));
  REQUIRE(alone.AllReduceSumCompressed(values, residual).ok());
  REQUIRE(values == GradientsOf(0, 0, 100));
  REQUIRE(residual == std::vector<float>(100));

  // The first is below the size from which on sums go around the ring, the second makes no ring.
  for (const std::int64_t ring_min_bytes : {401, 0}) {
    const auto statuses = TryRanks(
        3,
        [](std::size_t rank, GradientReducer& reducer) -> absl::Status {
          std::vector<float> compressed = GradientsOf(rank, 0, 100);
          std::vector<float> plain = compressed;
          std::vector<float> kept(compressed.size());
          if (reducer.compresses(compressed.size())) return runtime::Internal("says it rounds");
          SHOAL_RETURN_IF_ERROR(reducer.AllReduceSumCompressed(compressed, kept));
          SHOAL_RETURN_IF_ERROR(reducer.AllReduceSum(std::span<float>(plain)));
          if (compressed != plain) return runtime::Internal("rounds");
          if (kept != std::vector<float>(kept.size())) return runtime::Internal("keeps something");
          return absl::OkStatus();
        },
        PatientGroup(ring_min_bytes));
    for (const absl::Status& status : statuses) {
      INFO(status);
      REQUIRE(status.ok());
    }
  }
}

TEST_CASE("ranks of which one compresses its sums and another does not are out of step") {
  const auto statuses = TryRanks(
      2,
      [](std::size_t rank, GradientReducer& reducer) {
        std::vector<float> values(1000);
        std::vector<float> residual(1000);
        return rank == 0 ? reducer.AllReduceSumCompressed(values, residual)
                         : reducer.AllReduceSum(std::span<float>(values));
      },
      PatientGroup(1));
  for (const absl::Status& status : statuses) {
    REQUIRE(absl::IsInternal(status));
    REQUIRE(Mentions(status, "sum of floats in bfloat16"));
  }
}

// Carries what one rank of a ring sends to the next one, and counts it.
class Wire {
 public:
  Wire() : from_(ConnectedPair().value()), to_(ConnectedPair().value()) {}
  ~Wire() {
    ::close(from_[1]);
    ::close(to_[0]);
  }
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;

  // The ends of the two ranks, which close them.
  int sender() const { return from_[0]; }
  int receiver() const { return to_[1]; }
  std::size_t bytes() const { return bytes_; }
  bool Carry() {
    std::array<std::byte, 4096> room;
    const std::size_t came = TryReceive(from_[1], room, "a rank").value();
    std::span<const std::byte> rest = std::span(room).first(came);
    while (!rest.empty()) rest = rest.subspan(TrySend(to_[0], rest, "a rank").value());
    bytes_ += came;
    return came > 0;
  }

 private:
  const std::array<int, 2> from_;
  const std::array<int, 2> to_;
  std::size_t bytes_ = 0;
};

// Returns the bytes that all ranks have sent, without headers.
std::size_t BytesOfSum(std::size_t ranks, std::size_t size, bool compresses) {
  std::vector<Wire> wires(ranks);
  std::vector<std::unique_ptr<Ring>> rings;
  std::vector<std::vector<float>> values;
  std::vector<std::vector<float>> residuals(ranks, std::vector<float>(size));
  std::vector<std::vector<std::uint16_t>> rounded(ranks, std::vector<std::uint16_t>(size));
  std::vector<RoundedSum> sums;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    values.push_back(GradientsOf(rank, 0, size));
    sums.emplace_back(values[rank], residuals[rank], rounded[rank]);
    rings.push_back(std::make_unique<Ring>(static_cast<std::int64_t>(rank),
                                           static_cast<std::int64_t>(ranks), wires[rank].sender(),
                                           wires[(rank + ranks - 1) % ranks].receiver()));
  }
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const auto bytes = compresses ? std::as_writable_bytes(std::span(rounded[rank]))
                                  : std::as_writable_bytes(std::span(values[rank]));
    rings[rank]->Begin(bytes, compresses ? sums[rank].operation() : kSumOfFloats, {},
                       Ring::Way::kAllReduce);
  }
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      moved = rings[rank]->Advance().value() || moved;
      moved = wires[rank].Carry() || moved;
    }
  }
  std::size_t bytes = 0;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    REQUIRE(rings[rank]->done());
    bytes += wires[rank].bytes() - sizeof(CallHeader);
  }
  return bytes;
}

TEST_CASE("compressed sums send half as many bytes over the sockets of the ring") {
  for (const std::size_t ranks : {2U, 3U, 4U}) {
    for (const std::size_t size : {5 * ranks + 2, std::size_t{50'001}}) {
      INFO("ranks " << ranks << " size " << size);
      REQUIRE(BytesOfSum(ranks, size, false) == 2 * (ranks - 1) * size * sizeof(float));
      REQUIRE(BytesOfSum(ranks, size, true) == (ranks - 1) * size * sizeof(float));
    }
  }
}

}  // namespace
}  // namespace shoal::collectives
