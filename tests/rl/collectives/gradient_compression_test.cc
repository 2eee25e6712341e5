// SPDX-License-Identifier: Apache-2.0
#include "rl/collectives/gradient_compression.h"

#include <catch2/catch.hpp>

#include "tests/doubles/ranks.h"

namespace shoal::collectives {
namespace {

CompressionRequest Asking(const std::string& value) {
  return {.value = value,
          .name = "compression",
          .reduction_name = "the transport",
          .ring_name = "the ring"};
}

void RequireRefused(const CompressionRequest& request, const GroupOptions& group,
                    const std::string& named) {
  const absl::Status refused = CheckCompression(request, group);
  INFO(refused);
  REQUIRE(absl::IsInvalidArgument(refused));
  REQUIRE(runtime::Message(refused).starts_with("compression: "));
  REQUIRE(doubles::Mentions(refused, named));
}

TEST_CASE("whole gradients may be compressed that go around a ring of sockets") {
  REQUIRE(CheckCompression(Asking("bfloat16"), {}).ok());
  REQUIRE(Asking("bfloat16").compresses());
}

TEST_CASE("compression is refused by the name of what stands in its way") {
  RequireRefused(Asking("float8"), {}, "float8");
  RequireRefused(Asking("bfloat16"), {.reduction = Reduction::kNccl}, "the transport");
  RequireRefused(Asking("bfloat16"), {.ring_min_bytes = 0}, "the ring");
  CompressionRequest divided = Asking("bfloat16");
  divided.obstacle = "gradients are divided";
  RequireRefused(divided, {}, "gradients are divided");
}

TEST_CASE("where nothing is compressed nothing stands in its way") {
  CompressionRequest none = Asking("none");
  none.obstacle = "gradients are divided";
  REQUIRE_FALSE(none.compresses());
  REQUIRE(CheckCompression(none, {.reduction = Reduction::kNccl, .ring_min_bytes = 0}).ok());
}

}  // namespace
}  // namespace shoal::collectives
