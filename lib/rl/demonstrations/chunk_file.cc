// SPDX-License-Identifier: Apache-2.0
#include "rl/demonstrations/chunk_file.h"

#include "platform/content/content_key.h"
#include "platform/runtime/zstd_frame.h"

namespace shoal::demonstrations {
namespace {

using content::ContentKey;

constexpr std::string_view kMagic = "SHOALDEM";
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kHeadBytes = 16;
constexpr std::size_t kSizesBytes = 8;
constexpr int kCompression = 9;

void Append(std::uint32_t value, std::string& out) {
  for (int shift = 0; shift < 32; shift += 8) out += static_cast<char>(value >> shift & 0xFF);
}

// REQUIRES: there are four bytes at `at`.
std::uint32_t ReadNumber(std::string_view bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 4; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

ContentKey SumOf(std::string_view sizes, std::string_view packed) {
  std::string text(sizes);
  text += packed;
  return content::KeyOf(text);
}

absl::Status Damaged(std::size_t offset, const std::string& what) {
  return runtime::DataLoss("offset " + std::to_string(offset) + ": " + what);
}

absl::StatusOr<std::string> Unpack(std::string_view packed, std::size_t plain, std::size_t offset) {
  if (runtime::StatedBytes(packed) != plain) {
    return Damaged(offset, "a chunk whose frame has another size than it says");
  }
  auto bytes = runtime::UnpackFrame(packed, plain);
  if (!bytes.ok()) return Damaged(offset, "a chunk that does not decompress");
  return bytes;
}

// Checks the head and returns the number of chunks.
absl::StatusOr<std::uint32_t> ReadHead(std::string_view file) {
  if (!file.starts_with(kMagic)) {
    return runtime::InvalidArgument("offset 0: this is no file of demonstrations");
  }
  if (file.size() < kHeadBytes + ContentKey::kBytes) {
    return Damaged(file.size(), "the file ends within its head");
  }
  const std::string_view head = file.substr(0, kHeadBytes);
  if (content::KeyOf(head).AsBytes() != file.substr(kHeadBytes, ContentKey::kBytes)) {
    return Damaged(kHeadBytes, "the head does not have its checksum");
  }
  if (const std::uint32_t version = ReadNumber(file, kMagic.size()); version != kVersion) {
    return runtime::FailedPrecondition("offset " + std::to_string(kMagic.size()) + ": version " +
                                       std::to_string(version) + ", this program reads version " +
                                       std::to_string(kVersion));
  }
  return ReadNumber(file, kMagic.size() + 4);
}

}  // namespace

absl::StatusOr<std::string> PackChunks(std::span<const std::string> chunks) {
  std::string file(kMagic);
  Append(kVersion, file);
  Append(static_cast<std::uint32_t>(chunks.size()), file);
  file += content::KeyOf(std::string_view(file)).AsBytes();
  std::size_t total = 0;
  for (const std::string& chunk : chunks) {
    total += chunk.size();
    if (chunk.size() > kMaximumChunkBytes || total > kMaximumFileBytes) {
      return runtime::ResourceExhausted("more than " + std::to_string(kMaximumChunkBytes) +
                                        " bytes in a chunk or " +
                                        std::to_string(kMaximumFileBytes) + " in all");
    }
    SHOAL_ASSIGN_OR_RETURN(const std::string packed, runtime::PackFrame(chunk, kCompression));
    std::string sizes;
    Append(static_cast<std::uint32_t>(packed.size()), sizes);
    Append(static_cast<std::uint32_t>(chunk.size()), sizes);
    file += sizes;
    file += SumOf(sizes, packed).AsBytes();
    file += packed;
  }
  return file;
}

absl::StatusOr<std::vector<Chunk>> UnpackChunks(std::string_view file) {
  SHOAL_ASSIGN_OR_RETURN(const std::uint32_t count, ReadHead(file));
  std::vector<Chunk> chunks;
  std::size_t at = kHeadBytes + ContentKey::kBytes;
  std::size_t total = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::string which = "chunk " + std::to_string(i + 1) + " of " + std::to_string(count);
    if (file.size() - at < kSizesBytes + ContentKey::kBytes) {
      return Damaged(file.size(), "the file ends where " + which + " begins");
    }
    const std::string_view sizes = file.substr(at, kSizesBytes);
    const std::size_t packed_bytes = ReadNumber(file, at);
    const std::size_t plain_bytes = ReadNumber(file, at + 4);
    const std::size_t begin = at + kSizesBytes + ContentKey::kBytes;
    if (file.size() - begin < packed_bytes) {
      return Damaged(at, which + " says " + std::to_string(packed_bytes) + " bytes, " +
                             std::to_string(file.size() - begin) + " follow");
    }
    const std::string_view packed = file.substr(begin, packed_bytes);
    if (SumOf(sizes, packed).AsBytes() != file.substr(at + kSizesBytes, ContentKey::kBytes)) {
      return Damaged(at, which + " does not have its checksum");
    }
    total += plain_bytes;
    if (plain_bytes > kMaximumChunkBytes || total > kMaximumFileBytes) {
      return Damaged(at, which + " would be too large unpacked");
    }
    SHOAL_ASSIGN_OR_RETURN(std::string bytes, Unpack(packed, plain_bytes, at));
    chunks.push_back({at, std::move(bytes)});
    at = begin + packed_bytes;
  }
  if (at != file.size()) return Damaged(at, "the file goes on after its last chunk");
  return chunks;
}

}  // namespace shoal::demonstrations
