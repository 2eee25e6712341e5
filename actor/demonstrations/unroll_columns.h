// SPDX-License-Identifier: Apache-2.0
// Writes the columns of a demonstration's unroll (proto/unroll.proto).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "platform/runtime/tensor.h"
#include "platform/transport/wire_tensor.h"
#include "proto/unroll.pb.h"

namespace shoal::actor {

// Appends columns to a list of an unroll, which must outlive the writer.
class ColumnWriter {
 public:
  using Columns = google::protobuf::RepeatedPtrField<proto::NamedTensor>;

  explicit ColumnWriter(Columns& columns) : columns_(columns) {}

  template <typename T>
  void Add(const std::string& name, runtime::Shape shape, const std::vector<T>& values) {
    proto::NamedTensor& column = *columns_.Add();
    column.set_name(name);
    const auto tensor = runtime::Tensor::Of<T>(std::move(shape), std::span<const T>(values));
    transport::ToWire(tensor, *column.mutable_tensor());
  }

 private:
  Columns& columns_;
};

// What an expert did in an episode that its last action ended, and what that earned, row by row.
struct ExpertSteps {
  std::vector<std::int64_t> actions;
  std::vector<float> rewards;
};

// Adds the columns of actions, rewards and ends of a whole episode. Those of the behaviour policy
// are zeros. REQUIRES: there is a step, and a reward for each action.
void AddOutcomes(const ExpertSteps& steps, std::uint64_t episode, proto::Unroll& unroll);

}  // namespace shoal::actor
