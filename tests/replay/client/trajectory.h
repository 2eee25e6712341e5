// SPDX-License-Identifier: Apache-2.0
// A random trajectory of columns for the tests of chunks, and the unrolls that its rows make
// without chunks.
#pragma once

#include <catch2/catch.hpp>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "platform/runtime/random.h"
#include "platform/runtime/tensor.h"
#include "platform/transport/wire_tensor.h"
#include "proto/replay.pb.h"
#include "proto/unroll.pb.h"
#include "replay/client/chunk_reader.h"
#include "replay/client/chunk_writer.h"

namespace shoal::replay::client {

struct TrajectoryColumn {
  std::string name;
  runtime::Tensor values;
};

// Some columns of every kind of dtype. Half of the numbers stay as they are from row to row, as
// they do in practice.
class Trajectory {
 public:
  Trajectory(std::int64_t rows, runtime::Random& random) {
    using runtime::DType;
    const std::vector<std::pair<DType, runtime::Shape>> kinds = {
        {DType::kFloat32, {3}}, {DType::kInt64, {}},     {DType::kUInt8, {16}},
        {DType::kBool, {}},     {DType::kInt32, {2, 2}}, {DType::kFloat16, {5}},
        {DType::kInt8, {7}},    {DType::kFloat64, {1}},  {DType::kInt64, {2}},
        {DType::kFloat32, {0}}, {DType::kBFloat16, {2}}};
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      runtime::Shape shape = {rows};
      shape.insert(shape.end(), kinds[i].second.begin(), kinds[i].second.end());
      runtime::Tensor values(kinds[i].first, std::move(shape));
      const std::size_t width = values.bytes().size() / static_cast<std::size_t>(rows);
      for (std::size_t at = 0; at < values.bytes().size(); ++at) {
        const bool same = at >= width && random.Below(2) == 0;
        values.mutable_bytes()[at] =
            same ? values.bytes()[at - width] : static_cast<std::byte>(random.Below(256));
      }
      columns_.push_back({"column/" + std::to_string(i), std::move(values)});
    }
  }

  std::size_t size() const { return columns_.size(); }

  // The rows [first, last) of a column.
  runtime::Tensor Slice(std::size_t column, std::uint64_t first, std::uint64_t last) const {
    const runtime::Tensor& from = columns_[column].values;
    runtime::Shape shape = from.shape();
    const std::size_t width = from.bytes().size() / static_cast<std::size_t>(shape[0]);
    shape[0] = static_cast<std::int64_t>(last - first);
    runtime::Tensor to(from.dtype(), std::move(shape));
    if (!to.bytes().empty()) {
      std::memcpy(to.mutable_bytes().data(), from.bytes().data() + first * width,
                  to.bytes().size());
    }
    return to;
  }

  absl::Status AppendTo(ChunkWriter& writer, std::uint64_t first, std::uint64_t last) const {
    std::vector<runtime::Tensor> slices;
    for (std::size_t i = 0; i < columns_.size(); ++i) slices.push_back(Slice(i, first, last));
    std::vector<ColumnRows> rows;
    for (std::size_t i = 0; i < columns_.size(); ++i) rows.push_back({columns_[i].name, slices[i]});
    return writer.Append(rows);
  }

  // Returns the unroll of `ranges` without chunks.
  proto::Unroll Whole(const proto::Unroll& rest, std::span<const ColumnRange> ranges) const {
    proto::Unroll unroll = rest;
    for (const ColumnRange& range : ranges) {
      proto::NamedTensor& out = *unroll.add_step_columns();
      out.set_name(columns_[range.column].name);
      transport::ToWire(Slice(range.column, range.first, range.last), *out.mutable_tensor());
    }
    return unroll;
  }

 private:
  std::vector<TrajectoryColumn> columns_;
};

// What an item's payload holds besides its chunks, and the item around it.
inline proto::Unroll RestOf(std::uint64_t number) {
  proto::Unroll rest;
  rest.mutable_id()->set_environment_id(number);
  rest.mutable_id()->set_incarnation(1);
  rest.set_length(1);
  proto::NamedTensor& flags = *rest.add_step_columns();
  flags.set_name("flags");
  flags.mutable_tensor()->set_dtype(proto::UINT8);
  flags.mutable_tensor()->add_shape(1);
  flags.mutable_tensor()->set_data(std::string(1, static_cast<char>(number)));
  return rest;
}

inline proto::Item ItemAround(const proto::Unroll& unroll) {
  proto::Item item;
  *item.mutable_id() = unroll.id();
  item.set_table("unrolls");
  item.set_steps(1);
  return item;
}

// The rows [first, last) of every column.
inline std::vector<ColumnRange> AllColumns(const Trajectory& trajectory, std::uint64_t first,
                                           std::uint64_t last) {
  std::vector<ColumnRange> ranges;
  for (std::size_t i = 0; i < trajectory.size(); ++i) ranges.push_back({i, first, last});
  return ranges;
}

// Gives the item's chunks to `reader` and returns the unroll that it puts together.
inline absl::StatusOr<proto::Unroll> Read(ChunkReader& reader, const ChunkedItem& item) {
  for (const auto& chunk : item.chunks) {
    const absl::Status added = reader.Add(proto::Chunk(*chunk));
    if (!added.ok()) return added;
  }
  proto::Unroll unroll;
  REQUIRE(unroll.ParseFromString(item.item.payload()));
  std::vector<const std::string*> keys;
  for (const std::string& key : item.item.chunk_keys()) keys.push_back(&key);
  const absl::Status restored = reader.Restore(keys, unroll);
  if (!restored.ok()) return restored;
  return unroll;
}

}  // namespace shoal::replay::client
