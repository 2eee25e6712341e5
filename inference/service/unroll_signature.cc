// SPDX-License-Identifier: Apache-2.0
#include "inference/service/unroll_signature.h"

#include <absl/strings/str_join.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include "platform/transport/wire_tensor.h"

namespace shoal::inference {
namespace {

constexpr std::array<std::string_view, 6> kOptional = {"forced",  "group_id",  "legal",
                                                       "overlap", "policy_id", "relabelled"};
constexpr std::string_view kMarks = "marks/";

void Add(const UnrollColumn& column, std::string_view shape, std::string& text) {
  text += column.name + " " + proto::DType_Name(transport::ToWire(column.values.dtype())) + " [" +
          std::string(shape) + "]";
  if (std::find(kOptional.begin(), kOptional.end(), column.name) != kOptional.end()) {
    text += " optional";
  }
  text += "\n";
}

}  // namespace

std::string SignatureOf(const Unroll& unroll) {
  std::string text;
  for (const UnrollColumn& column : unroll.step_columns) {
    const runtime::Shape& shape = column.values.shape();
    const auto of_row = shape.begin() + std::min<std::ptrdiff_t>(1, std::ssize(shape));
    Add(column, absl::StrJoin(of_row, shape.end(), ", "), text);
  }
  for (const UnrollColumn& column : unroll.unroll_columns) {
    const bool varies = column.name.starts_with(kMarks);
    Add(column, varies ? "?" : absl::StrJoin(column.values.shape(), ", "), text);
  }
  return text;
}

}  // namespace shoal::inference
