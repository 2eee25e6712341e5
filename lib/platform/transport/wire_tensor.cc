// SPDX-License-Identifier: Apache-2.0
#include "platform/transport/wire_tensor.h"

#include <algorithm>
#include <string>

namespace shoal::transport {
namespace {

std::span<const std::int64_t> ShapeOf(const proto::Tensor& tensor) {
  return {tensor.shape().data(), static_cast<std::size_t>(tensor.shape_size())};
}

}  // namespace

absl::StatusOr<runtime::DType> FromWire(proto::DType dtype) {
  if (dtype == proto::DTYPE_UNSPECIFIED || !proto::DType_IsValid(dtype)) {
    return runtime::InvalidArgument("unknown dtype " + std::to_string(static_cast<int>(dtype)));
  }
  return static_cast<runtime::DType>(dtype);
}

proto::DType ToWire(runtime::DType dtype) { return static_cast<proto::DType>(dtype); }

absl::StatusOr<runtime::TensorView> View(const proto::Tensor& tensor, std::string_view name,
                                         const TensorLimits& limits) {
  const auto dtype = FromWire(tensor.dtype());
  if (!dtype.ok()) return runtime::Annotate(dtype.status(), name);
  const std::span<const std::int64_t> shape = ShapeOf(tensor);
  if (shape.size() > limits.max_rank) {
    return runtime::InvalidArgument(std::string(name) + ": rank " + std::to_string(shape.size()) +
                                    " is more than " + std::to_string(limits.max_rank));
  }
  const auto count = runtime::CountElements(shape);
  if (!count.ok()) return runtime::Annotate(count.status(), name);
  const std::size_t bytes = static_cast<std::size_t>(*count) * runtime::SizeOf(*dtype);
  if (bytes > limits.max_bytes) {
    return runtime::ResourceExhausted(std::string(name) + ": " + std::to_string(bytes) +
                                      " bytes are more than " + std::to_string(limits.max_bytes));
  }
  if (tensor.data().size() != bytes) {
    return runtime::InvalidArgument(std::string(name) + ": " + std::string(runtime::Name(*dtype)) +
                                    " " + runtime::ToString(shape) + " needs " +
                                    std::to_string(bytes) + " bytes, got " +
                                    std::to_string(tensor.data().size()));
  }
  return runtime::TensorView(
      *dtype, shape,
      {reinterpret_cast<const std::byte*>(tensor.data().data()), tensor.data().size()});
}

absl::StatusOr<runtime::TensorView> ViewAs(const proto::Tensor& tensor, std::string_view name,
                                           runtime::DType dtype,
                                           std::span<const std::int64_t> shape) {
  SHOAL_ASSIGN_OR_RETURN(const runtime::TensorView view, View(tensor, name));
  if (view.dtype != dtype ||
      !std::equal(shape.begin(), shape.end(), view.shape.begin(), view.shape.end())) {
    return runtime::InvalidArgument(
        std::string(name) + ": expected " + std::string(runtime::Name(dtype)) + " " +
        runtime::ToString(shape) + ", got " + std::string(runtime::Name(view.dtype)) + " " +
        runtime::ToString(view.shape));
  }
  return view;
}

absl::StatusOr<runtime::Tensor> Copy(const proto::Tensor& tensor, std::string_view name,
                                     const TensorLimits& limits) {
  SHOAL_ASSIGN_OR_RETURN(const runtime::TensorView view, View(tensor, name, limits));
  runtime::Tensor copy(view.dtype, runtime::Shape(view.shape.begin(), view.shape.end()));
  std::copy(view.bytes.begin(), view.bytes.end(), copy.mutable_bytes().begin());
  return copy;
}

void ToWire(const runtime::TensorView& view, proto::Tensor& tensor) {
  tensor.set_dtype(ToWire(view.dtype));
  tensor.mutable_shape()->Assign(view.shape.begin(), view.shape.end());
  tensor.set_data(reinterpret_cast<const char*>(view.bytes.data()), view.bytes.size());
}

}  // namespace shoal::transport
