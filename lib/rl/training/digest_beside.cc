// SPDX-License-Identifier: Apache-2.0
#include "rl/training/digest_beside.h"

#include <optional>
#include <utility>

namespace shoal::training {
namespace {

// With fewer bytes a thread costs more than it saves.
constexpr std::uint64_t kLeastBytesBeside = std::uint64_t{1} << 20;
constexpr std::size_t kMostWaiting = 4096;

}  // namespace

DigestBeside::DigestBeside(std::uint64_t bytes) : waiting_(kMostWaiting) {
  if (bytes < kLeastBytesBeside) return;
  hashing_ = runtime::Thread("digest", [this] {
    while (const std::optional<runtime::SharedBytes> next = waiting_.Pop()) Hash(*next);
  });
}

DigestBeside::~DigestBeside() {
  waiting_.Close();
  if (hashing_.joinable()) hashing_.Join();
}

void DigestBeside::Hash(const runtime::SharedBytes& bytes) {
  sha256_.Add(bytes.bytes);
  bytes_ += bytes.bytes.size();
}

void DigestBeside::Add(const runtime::SharedBytes& bytes) {
  if (!hashing_.joinable()) return Hash(bytes);
  runtime::SharedBytes kept = bytes;
  waiting_.Push(std::move(kept));
}

FileDigest DigestBeside::Finish() {
  waiting_.Drain();
  if (hashing_.joinable()) hashing_.Join();
  return {bytes_, sha256_.Hex()};
}

}  // namespace shoal::training
