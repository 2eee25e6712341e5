// SPDX-License-Identifier: Apache-2.0
#include "replay/client/chunk_codec.h"

#include <absl/container/flat_hash_set.h>
#include <zstd.h>

#include <cstring>
#include <optional>
#include <utility>

#include "platform/content/content_key.h"
#include "platform/runtime/check.h"
#include "platform/runtime/unsigned_bits.h"
#include "platform/transport/wire_tensor.h"

namespace shoal::replay::client {
namespace {

using runtime::Load;
using runtime::Store;

constexpr std::size_t kMaxColumns = 1024;
constexpr std::size_t kMaxRowBytes = std::size_t{1} << 30;

template <typename Message>
std::shared_ptr<const proto::Chunk> ChunkOf(const Message& message) {
  auto chunk = std::make_shared<proto::Chunk>();
  message.SerializeToString(chunk->mutable_data());
  chunk->set_key(std::string(content::KeyOf(chunk->data()).AsBytes()));
  return chunk;
}

bool IsFloat(runtime::DType dtype) {
  switch (dtype) {
    case runtime::DType::kFloat32:
    case runtime::DType::kFloat16:
    case runtime::DType::kBFloat16:
    case runtime::DType::kFloat64:
      return true;
    default:
      return false;
  }
}

// T is unsigned, so that differences wrap around.
template <typename T>
void ToDifferences(char* values, std::size_t row_bytes, std::size_t bytes) {
  for (std::size_t at = bytes; at > row_bytes; at -= sizeof(T)) {
    char* const here = values + at - sizeof(T);
    Store<T>(static_cast<T>(Load<T>(here) - Load<T>(here - row_bytes)), here);
  }
}

template <typename T>
void ToValues(char* values, std::size_t row_bytes, std::size_t bytes) {
  for (std::size_t at = row_bytes; at < bytes; at += sizeof(T)) {
    char* const here = values + at;
    Store<T>(static_cast<T>(Load<T>(here) + Load<T>(here - row_bytes)), here);
  }
}

enum class Direction { kToDifferences, kToValues };

template <typename T>
void Convert(Direction direction, char* values, std::size_t row_bytes, std::size_t bytes) {
  direction == Direction::kToDifferences ? ToDifferences<T>(values, row_bytes, bytes)
                                         : ToValues<T>(values, row_bytes, bytes);
}

void ConvertColumns(Direction direction, const ChunkLayout& layout, std::size_t rows,
                    std::string& values) {
  char* at = values.data();
  for (const ChunkColumn& column : layout) {
    const std::size_t bytes = rows * column.row_bytes;
    if (!IsFloat(column.dtype) && bytes > 0) {
      runtime::VisitUnsigned(runtime::SizeOf(column.dtype), [&](auto zero) {
        Convert<decltype(zero)>(direction, at, column.row_bytes, bytes);
      });
    }
    at += bytes;
  }
}

absl::StatusOr<ChunkColumn> ColumnOf(const proto::ChunkColumn& wire) {
  ChunkColumn column{.name = wire.name(), .shape = {wire.shape().begin(), wire.shape().end()}};
  if (column.name.empty()) return runtime::InvalidArgument("a column of a chunk has no name");
  const auto dtype = transport::FromWire(wire.dtype());
  if (!dtype.ok()) return runtime::Annotate(dtype.status(), column.name);
  column.dtype = *dtype;
  const auto count = runtime::CountElements(column.shape);
  if (!count.ok()) return runtime::Annotate(count.status(), column.name);
  column.row_bytes = static_cast<std::size_t>(*count) * runtime::SizeOf(column.dtype);
  return column;
}

}  // namespace

std::size_t RowBytes(const ChunkLayout& layout) {
  std::size_t bytes = 0;
  for (const ChunkColumn& column : layout) bytes += column.row_bytes;
  return bytes;
}

std::shared_ptr<const proto::Chunk> EncodeLayout(const ChunkLayout& layout) {
  proto::ChunkLayout message;
  for (const ChunkColumn& column : layout) {
    proto::ChunkColumn& out = *message.add_columns();
    out.set_name(column.name);
    out.set_dtype(transport::ToWire(column.dtype));
    out.mutable_shape()->Assign(column.shape.begin(), column.shape.end());
  }
  return ChunkOf(message);
}

absl::StatusOr<ChunkLayout> DecodeLayout(std::string_view data) {
  proto::ChunkLayout message;
  if (!message.ParseFromArray(data.data(), static_cast<int>(data.size()))) {
    return runtime::InvalidArgument("a chunk is no layout");
  }
  const auto columns = static_cast<std::size_t>(message.columns_size());
  if (columns == 0 || columns > kMaxColumns) {
    return runtime::InvalidArgument("a layout of chunks has " + std::to_string(columns) +
                                    " columns, not 1 to " + std::to_string(kMaxColumns));
  }
  ChunkLayout layout;
  absl::flat_hash_set<std::string> names;
  std::size_t bytes = 0;
  for (const proto::ChunkColumn& wire : message.columns()) {
    SHOAL_ASSIGN_OR_RETURN(ChunkColumn column, ColumnOf(wire));
    if (!names.insert(column.name).second) {
      return runtime::InvalidArgument("a layout of chunks has " + column.name + " twice");
    }
    bytes += column.row_bytes;
    if (bytes > kMaxRowBytes) {
      return runtime::InvalidArgument("a row of chunks has more than " +
                                      std::to_string(kMaxRowBytes) + " bytes");
    }
    layout.push_back(std::move(column));
  }
  return layout;
}

ChunkEncoder::ChunkEncoder(int level)
    : level_(level), context_(level > 0 ? ZSTD_createCCtx() : nullptr, ZSTD_freeCCtx) {
  SHOAL_CHECK(level >= 0 && level <= kMaxLevel);
  SHOAL_CHECK(level == 0 || context_ != nullptr);
}

ChunkEncoder::~ChunkEncoder() = default;

std::shared_ptr<const proto::Chunk> ChunkEncoder::Encode(const ChunkLayout& layout,
                                                         std::size_t rows, std::string values) {
  SHOAL_CHECK(rows > 0 && values.size() == rows * RowBytes(layout));
  plain_bytes_total_ += values.size();
  proto::ChunkRows message;
  message.set_rows(static_cast<std::uint32_t>(rows));
  if (level_ > 0 && !values.empty()) {
    std::string& frame = *message.mutable_zstd();
    ConvertColumns(Direction::kToDifferences, layout, rows, values);
    frame.resize(ZSTD_compressBound(values.size()));
    const std::size_t size = ZSTD_compressCCtx(context_.get(), frame.data(), frame.size(),
                                               values.data(), values.size(), level_);
    SHOAL_CHECK(ZSTD_isError(size) == 0);
    frame.resize(size);
    if (size >= values.size()) {
      ConvertColumns(Direction::kToValues, layout, rows, values);
      message.clear_zstd();
    }
  }
  if (!message.has_zstd()) message.set_plain(std::move(values));
  auto chunk = ChunkOf(message);
  chunk_bytes_total_ += chunk->data().size();
  return chunk;
}

ChunkDecoder::ChunkDecoder() : context_(ZSTD_createDCtx(), ZSTD_freeDCtx) {
  SHOAL_CHECK(context_ != nullptr);
}

ChunkDecoder::~ChunkDecoder() = default;

absl::StatusOr<ChunkRows> ChunkDecoder::Decode(std::string_view data, const ChunkLayout& layout,
                                               std::size_t max_bytes) {
  proto::ChunkRows message;
  if (!message.ParseFromArray(data.data(), static_cast<int>(data.size())) || message.rows() == 0) {
    return runtime::InvalidArgument("a chunk holds no rows");
  }
  const std::size_t rows = message.rows();
  // Neither factor exceeds 2^32, so the product does not wrap around.
  const std::size_t expected = rows * RowBytes(layout);
  if (expected > max_bytes) {
    return runtime::InvalidArgument("a chunk unpacks to " + std::to_string(expected) +
                                    " bytes, the limit is " + std::to_string(max_bytes));
  }
  const bool packed = message.has_zstd();
  const std::size_t stated = packed ? static_cast<std::size_t>(ZSTD_getFrameContentSize(
                                          message.zstd().data(), message.zstd().size()))
                                    : message.plain().size();
  if (stated != expected) {
    return runtime::InvalidArgument("a chunk of " + std::to_string(rows) + " rows does not hold " +
                                    std::to_string(expected) + " bytes");
  }
  if (!packed) return ChunkRows{.rows = rows, .values = std::move(*message.mutable_plain())};
  ChunkRows out{.rows = rows, .values = std::string(expected, '\0')};
  const std::size_t size = ZSTD_decompressDCtx(context_.get(), out.values.data(), out.values.size(),
                                               message.zstd().data(), message.zstd().size());
  if (ZSTD_isError(size) != 0 || size != expected) {
    return runtime::InvalidArgument("a chunk's zstd frame is damaged");
  }
  ConvertColumns(Direction::kToValues, layout, rows, out.values);
  return out;
}

}  // namespace shoal::replay::client
