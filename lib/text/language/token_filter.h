// SPDX-License-Identifier: Apache-2.0
// Constrained decoding: who says which token may come next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace shoal::language {

// One bit an id.
class TokenMask {
 public:
  // All allowed.
  explicit TokenMask(std::int64_t vocabulary_size)
      : allowed_(static_cast<std::size_t>(vocabulary_size), true) {}

  std::int64_t size() const { return static_cast<std::int64_t>(allowed_.size()); }
  // False outside the vocabulary.
  bool allows(std::int64_t id) const {
    return id >= 0 && id < size() && allowed_[static_cast<std::size_t>(id)];
  }

  void AllowAll() { allowed_.assign(allowed_.size(), true); }
  void ForbidAll() { allowed_.assign(allowed_.size(), false); }
  // Ids outside the vocabulary are passed over.
  void Allow(std::int64_t id) { Set(id, true); }
  void Forbid(std::int64_t id) { Set(id, false); }

 private:
  void Set(std::int64_t id, bool value) {
    if (id >= 0 && id < size()) allowed_[static_cast<std::size_t>(id)] = value;
  }

  std::vector<bool> allowed_;
};

// Called before each token with the sequence so far, prompt included, and a mask that allows all;
// leaves allowed what may come next. Nothing allowed ends the generation. Empty: no constraint.
using TokenFilter = std::function<void(std::span<const std::int32_t> sequence, TokenMask& mask)>;

}  // namespace shoal::language
