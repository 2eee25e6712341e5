// SPDX-License-Identifier: Apache-2.0
#include "inference/service/unroll_chunker.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace shoal::inference {
namespace {

using replay::client::ColumnRange;
using replay::client::ColumnRows;

// An unroll has these columns of flags only where one is set, and chunks always have them.
constexpr std::array<std::string_view, 2> kSometimes = {"forced", "relabelled"};

bool StaysInItem(const UnrollColumn& column) {
  return column.name == "flags" || column.name == "catalog";
}

// The rows of an unroll as a chunk writer takes them: all columns have T + 1 rows, and those of
// steps stand one row later, after a row of zeros.
class Rows {
 public:
  explicit Rows(const Unroll& unroll) : rows_(std::int64_t{unroll.length} + 1) {
    for (const UnrollColumn& column : unroll.step_columns) {
      if (!StaysInItem(column) && !IsOneOf(kSometimes, column.name)) Add(column);
    }
    for (const std::string_view name : kSometimes) {
      const UnrollColumn* const column = Find(unroll, name);
      const runtime::Tensor none(runtime::DType::kBool, {rows_ - 1});
      columns_.push_back(
          {std::string(name), Later(column == nullptr ? none : column->values), true});
    }
  }

  // The rows from `first` on.
  std::vector<ColumnRows> From(std::int64_t first) {
    std::vector<ColumnRows> out;
    shapes_.clear();
    for (const Column& column : columns_) {
      runtime::Shape shape = column.values.shape();
      const std::size_t row_bytes =
          column.values.bytes().size() / static_cast<std::size_t>(shape[0]);
      shape[0] -= first;
      shapes_.push_back(std::move(shape));
      out.push_back({column.name,
                     {column.values.dtype(), shapes_.back(),
                      column.values.bytes().subspan(static_cast<std::size_t>(first) * row_bytes)}});
    }
    return out;
  }

  // The rows of the unroll's own columns, of which the last is `end` - 1 in the writer.
  std::vector<ColumnRange> RangesBefore(std::uint64_t end, const Unroll& unroll) const {
    const std::uint64_t first = end - static_cast<std::uint64_t>(rows_);
    std::vector<ColumnRange> ranges;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (Find(unroll, columns_[i].name) == nullptr) continue;
      ranges.push_back({.column = i, .first = first + (columns_[i].later ? 1 : 0), .last = end});
    }
    return ranges;
  }

 private:
  struct Column {
    std::string name;
    runtime::Tensor values;
    bool later = false;
  };

  static bool IsOneOf(std::span<const std::string_view> names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  }
  static const UnrollColumn* Find(const Unroll& unroll, std::string_view name) {
    const auto found = std::find_if(unroll.step_columns.begin(), unroll.step_columns.end(),
                                    [&](const auto& column) { return column.name == name; });
    return found == unroll.step_columns.end() ? nullptr : &*found;
  }

  void Add(const UnrollColumn& column) {
    const bool later = column.values.shape()[0] < rows_;
    columns_.push_back({column.name, later ? Later(column.values) : column.values, later});
  }

  static runtime::Tensor Later(const runtime::Tensor& steps) {
    runtime::Shape shape = steps.shape();
    ++shape[0];
    runtime::Tensor rows(steps.dtype(), std::move(shape));
    const std::size_t skip = rows.bytes().size() - steps.bytes().size();
    if (!steps.bytes().empty()) {
      std::memcpy(rows.mutable_bytes().data() + skip, steps.bytes().data(), steps.bytes().size());
    }
    return rows;
  }

  const std::int64_t rows_;
  std::vector<Column> columns_;
  // The views that From returns borrow from it.
  std::deque<runtime::Shape> shapes_;
};

}  // namespace

UnrollChunker::UnrollChunker(const UnrollChunkerOptions& options, runtime::Metrics& metrics)
    : options_(options),
      encoder_(options.compression_level),
      plain_bytes_(metrics.Counter("shoal_inference_chunk_plain_bytes_total",
                                   "Bytes of rows that were put into chunks",
                                   {{"table", options.to.table}})),
      chunk_bytes_(metrics.Counter("shoal_inference_chunk_bytes_total",
                                   "Bytes of the chunks they became",
                                   {{"table", options.to.table}})),
      bytes_left_(metrics.Gauge({.name = "shoal_inference_chunk_bytes_left",
                                 .help = "Bytes of all chunks so far, as a share of their rows'",
                                 .unit = "share",
                                 .title = "bytes of rows that compression leaves",
                                 .draw = runtime::Draw::kLabels},
                                {{"table", options.to.table}})) {}

absl::Status UnrollChunker::Add(const Unroll& unroll, const std::string& signature) {
  Rows rows(unroll);
  Trajectory* trajectory = &Find(unroll);
  absl::Status appended =
      trajectory->writer.Append(rows.From(trajectory->writer.rows() == 0 ? 0 : unroll.shared_rows));
  if (!appended.ok() && trajectory->writer.rows() > 0) {
    // The environment has other columns now.
    trajectory = &Begin(unroll);
    appended = trajectory->writer.Append(rows.From(0));
  }
  SHOAL_RETURN_IF_ERROR(appended);
  trajectory->last_unroll = unroll.first_sequence;
  proto::Unroll body = BodyOf(unroll, options_.to);
  for (const UnrollColumn& column : unroll.step_columns) {
    if (StaysInItem(column)) AddStepColumn(column, body);
  }
  proto::Item item = HeadOf(unroll, options_.to);
  item.set_signature(signature);
  const std::vector<ColumnRange> ranges = rows.RangesBefore(trajectory->writer.rows(), unroll);
  const absl::Status added = trajectory->writer.AddItem(std::move(item), std::move(body), ranges);
  if (options_.ends_chunks) trajectory->writer.Flush();
  TakeReady(*trajectory);
  Count();
  return added;
}

UnrollChunker::Trajectory& UnrollChunker::Find(const Unroll& unroll) {
  const auto found = trajectories_.find(unroll.environment);
  if (found == trajectories_.end() || unroll.shared_rows == 0 ||
      found->second.incarnation != unroll.incarnation ||
      found->second.last_unroll != unroll.shared_with) {
    return Begin(unroll);
  }
  recent_.splice(recent_.begin(), recent_, found->second.place);
  return found->second;
}

UnrollChunker::Trajectory& UnrollChunker::Begin(const Unroll& unroll) {
  End(unroll.environment);
  if (trajectories_.size() >= options_.max_environments) End(recent_.back());
  recent_.push_front(unroll.environment);
  Trajectory trajectory{
      .writer = replay::client::ChunkWriter(
          {.chunk_rows = options_.chunk_rows, .item_rows = options_.unroll_rows}, encoder_),
      .incarnation = unroll.incarnation,
      .place = recent_.begin()};
  return trajectories_.emplace(unroll.environment, std::move(trajectory)).first->second;
}

void UnrollChunker::End(std::uint64_t environment) {
  const auto found = trajectories_.find(environment);
  if (found == trajectories_.end()) return;
  found->second.writer.Flush();
  TakeReady(found->second);
  recent_.erase(found->second.place);
  trajectories_.erase(found);
}

void UnrollChunker::Flush() {
  for (auto& [environment, trajectory] : trajectories_) {
    trajectory.writer.Flush();
    TakeReady(trajectory);
  }
  Count();
}

void UnrollChunker::TakeReady(Trajectory& trajectory) {
  for (auto& item : trajectory.writer.TakeReady()) ready_.push_back(std::move(item));
}

void UnrollChunker::Count() {
  const auto count = [](prometheus::Counter& counter, std::uint64_t now, std::uint64_t& counted) {
    counter.Increment(static_cast<double>(now - counted));
    counted = now;
  };
  count(plain_bytes_, encoder_.plain_bytes_total(), counted_plain_bytes_);
  count(chunk_bytes_, encoder_.chunk_bytes_total(), counted_chunk_bytes_);
  if (counted_plain_bytes_ == 0) return;
  bytes_left_.Set(static_cast<double>(counted_chunk_bytes_) /
                  static_cast<double>(counted_plain_bytes_));
}

}  // namespace shoal::inference
