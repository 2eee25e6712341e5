// SPDX-License-Identifier: Apache-2.0
#include "rl/training/file_content.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

namespace shoal::training {

FileContent::FileContent(std::string text) {
  const auto owner = std::make_shared<const std::string>(std::move(text));
  Append({*owner, owner});
}

void FileContent::Append(runtime::SharedBytes piece) {
  if (piece.bytes.empty()) return;
  size_ += piece.bytes.size();
  pieces_.push_back(std::move(piece));
}

void FileContent::Append(const FileContent& other, std::uint64_t begin, std::uint64_t count) {
  for (const runtime::SharedBytes& piece : other.pieces_) {
    const std::uint64_t skipped = std::min<std::uint64_t>(begin, piece.bytes.size());
    const std::uint64_t taken = std::min<std::uint64_t>(count, piece.bytes.size() - skipped);
    Append({piece.bytes.substr(skipped, taken), piece.owner});
    begin -= skipped;
    count -= taken;
  }
}

runtime::SharedBytes FileContent::Joined() const {
  if (pieces_.empty()) return {};
  if (pieces_.size() == 1) return pieces_.front();
  const std::shared_ptr<char> memory = runtime::NewLargeMemory(size_);
  std::size_t place = 0;
  for (const runtime::SharedBytes& piece : pieces_) {
    std::memcpy(memory.get() + place, piece.bytes.data(), piece.bytes.size());
    place += piece.bytes.size();
  }
  return {{memory.get(), place}, memory};
}

}  // namespace shoal::training
