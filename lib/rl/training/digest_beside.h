// SPDX-License-Identifier: Apache-2.0
// The digest of a file that is computed while the file is read or written.
//
// The bytes of a large file are hashed by a thread of its own, those of a small one by the caller.
// Not thread-safe. Where nobody asks for the digest, the destructor gives up what is left to do.
#pragma once

#include <cstdint>
#include <memory>

#include "platform/runtime/bounded_queue.h"
#include "platform/runtime/large_memory.h"
#include "platform/runtime/thread.h"
#include "rl/model/digest.h"
#include "rl/training/checkpoint_manifest.h"

namespace shoal::training {

class DigestBeside {
 public:
  // About `bytes` bytes will be added.
  explicit DigestBeside(std::uint64_t bytes);
  ~DigestBeside();
  DigestBeside(const DigestBeside&) = delete;
  DigestBeside& operator=(const DigestBeside&) = delete;

  // Adds bytes, which are kept until they are hashed. Waits only where very many parts wait
  // already.
  void Add(const runtime::SharedBytes& bytes);
  // Waits until all are hashed. REQUIRES: it was not called before, and nothing is added
  // afterwards.
  FileDigest Finish();

 private:
  // REQUIRES: no other thread is hashing.
  void Hash(const runtime::SharedBytes& bytes);

  model::Sha256 sha256_;
  std::uint64_t bytes_ = 0;
  runtime::BoundedQueue<runtime::SharedBytes> waiting_;
  // Not started for a small file.
  runtime::Thread hashing_;
};

}  // namespace shoal::training
