// SPDX-License-Identifier: Apache-2.0
#include "platform/transport/wire_tensor.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace shoal::transport {
namespace {

proto::Tensor Floats(const std::vector<std::int64_t>& shape, std::size_t bytes) {
  proto::Tensor tensor;
  tensor.set_dtype(proto::FLOAT32);
  tensor.mutable_shape()->Assign(shape.begin(), shape.end());
  tensor.set_data(std::string(bytes, '\0'));
  return tensor;
}

std::string Refusal(const proto::Tensor& tensor, const TensorLimits& limits = {}) {
  const auto view = View(tensor, "observation", limits);
  REQUIRE(!view.ok());
  return runtime::Message(view.status());
}

TEST_CASE("A tensor survives the wire") {
  const std::vector<float> values = {1, -2, 3.5F, 4, 5, 6};
  const auto tensor = runtime::Tensor::Of<float>({2, 3}, values);
  proto::Tensor wire;
  ToWire(tensor, wire);
  const auto back = Copy(wire, "x");
  REQUIRE(back.ok());
  REQUIRE(back->shape() == runtime::Shape{2, 3});
  REQUIRE(std::vector<float>(back->values<float>().begin(), back->values<float>().end()) == values);
}

TEST_CASE("A wrong byte count is refused, naming the tensor and both numbers") {
  const std::string message = Refusal(Floats({2, 3}, 23));
  REQUIRE(message == "observation: float32 [2, 3] needs 24 bytes, got 23");
}

TEST_CASE("An unknown dtype is refused") {
  proto::Tensor tensor = Floats({1}, 4);
  tensor.set_dtype(proto::DTYPE_UNSPECIFIED);
  REQUIRE(Refusal(tensor).find("observation: unknown dtype 0") == 0);
  tensor.set_dtype(static_cast<proto::DType>(77));
  REQUIRE(Refusal(tensor).find("unknown dtype 77") != std::string::npos);
}

TEST_CASE("Rank, negative dimensions, overflow and size are bounded") {
  REQUIRE(Refusal(Floats({1, 1, 1}, 4), {.max_rank = 2}).find("rank 3 is more than 2") !=
          std::string::npos);
  REQUIRE(!View(Floats({-1}, 0), "x").ok());
  REQUIRE(!View(Floats({std::int64_t{1} << 40, std::int64_t{1} << 40}, 0), "x").ok());
  const auto large = View(Floats({1024}, 4096), "x", {.max_bytes = 4095});
  REQUIRE(absl::IsResourceExhausted(large.status()));
}

TEST_CASE("An expected shape and dtype are compared exactly") {
  const std::vector<std::int64_t> expected = {2, 3};
  REQUIRE(ViewAs(Floats({2, 3}, 24), "x", runtime::DType::kFloat32, expected).ok());
  REQUIRE(!ViewAs(Floats({3, 2}, 24), "x", runtime::DType::kFloat32, expected).ok());
  const auto other = ViewAs(Floats({2, 3}, 24), "x", runtime::DType::kInt32, expected);
  REQUIRE(runtime::Message(other.status()) == "x: expected int32 [2, 3], got float32 [2, 3]");
}

TEST_CASE("A scalar has the empty shape") {
  const auto view = View(Floats({}, 4), "x");
  REQUIRE(view.ok());
  REQUIRE(view->shape.empty());
}

}  // namespace
}  // namespace shoal::transport
