// SPDX-License-Identifier: Apache-2.0
// The content of a file of a checkpoint: immutable bytes in pieces, each of which says who keeps
// it.
//
// So arrays that lie anywhere become a file, and files become parts of checkpoints, without being
// copied. Copies share the bytes. Contents are equal when their bytes are, whatever their pieces.
// Any thread may read one; whoever keeps a piece must not change it meanwhile.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "platform/runtime/large_memory.h"

namespace shoal::training {

class FileContent {
 public:
  FileContent() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): a text is the content of a file.
  FileContent(std::string text);
  // NOLINTNEXTLINE(google-explicit-constructor)
  FileContent(const char* text) : FileContent(std::string(text)) {}

  void Append(runtime::SharedBytes piece);
  // Appends `count` bytes of `other` from `begin` on. REQUIRES: it has them.
  void Append(const FileContent& other, std::uint64_t begin, std::uint64_t count);

  const std::vector<runtime::SharedBytes>& pieces() const { return pieces_; }
  std::uint64_t size() const { return size_; }
  // Returns all bytes in one piece, which is a copy where there are several.
  runtime::SharedBytes Joined() const;

  friend bool operator==(const FileContent& a, const FileContent& b) {
    return a.size_ == b.size_ && a.Joined().bytes == b.Joined().bytes;
  }

 private:
  // None is empty.
  std::vector<runtime::SharedBytes> pieces_;
  std::uint64_t size_ = 0;
};

}  // namespace shoal::training
