// SPDX-License-Identifier: Apache-2.0
// Fuzzes ChunkReader with the chunks and the unroll of an item. It must neither crash nor take
// memory beyond its limits, and what it puts together must have the bytes that its shapes say.
//
// Input: the lengths of a ChunkLayout and of ChunkRows, two bytes each, little endian; these
// messages; and a ChunkedColumns.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "platform/content/content_key.h"
#include "platform/transport/wire_tensor.h"
#include "replay/client/chunk_reader.h"

namespace shoal::replay::client {
namespace {

constexpr std::size_t kMaxUnrollBytes = std::size_t{1} << 20;

void Require(bool condition) {
  if (!condition) std::abort();
}

std::string Take(std::string_view& input, std::size_t bytes) {
  const std::string taken(input.substr(0, bytes));
  input.remove_prefix(taken.size());
  return taken;
}

std::size_t LengthAt(std::string_view input, std::size_t at) {
  return static_cast<std::size_t>(static_cast<std::uint8_t>(input[at])) +
         (static_cast<std::size_t>(static_cast<std::uint8_t>(input[at + 1])) << 8);
}

void Run(std::string_view input) {
  if (input.size() < 4) return;
  const std::size_t layout_bytes = LengthAt(input, 0);
  const std::size_t rows_bytes = LengthAt(input, 2);
  input.remove_prefix(4);
  ChunkReader reader({.max_unroll_bytes = kMaxUnrollBytes});
  std::vector<std::string> names;
  for (const std::size_t bytes : {layout_bytes, rows_bytes}) {
    proto::Chunk chunk;
    chunk.set_data(Take(input, bytes));
    chunk.set_key(std::string(content::KeyOf(chunk.data()).AsBytes()));
    names.push_back(chunk.key());
    // An empty text has the zero key, which is a name like others here.
    Require(reader.Add(std::move(chunk)).ok());
  }
  const std::vector<const std::string*> keys = {&names[0], &names[1]};
  proto::Unroll unroll;
  if (!unroll.mutable_chunked()->ParseFromArray(input.data(), static_cast<int>(input.size()))) {
    return;
  }
  const absl::Status status = reader.Restore(keys, unroll);
  if (!status.ok()) {
    Require(absl::IsInvalidArgument(status) && !status.message().empty());
    return;
  }
  std::size_t bytes = 0;
  for (const proto::NamedTensor& column : unroll.step_columns()) {
    Require(transport::View(column.tensor(), column.name()).ok() ||
            column.tensor().shape_size() > 8);
    bytes += column.tensor().data().size();
  }
  Require(bytes <= kMaxUnrollBytes);
}

}  // namespace
}  // namespace shoal::replay::client

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  shoal::replay::client::Run({reinterpret_cast<const char*>(data), size});
  return 0;
}
