// SPDX-License-Identifier: Apache-2.0
// Constrained decoding: a callback decides which token may come next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace shoal::language {

// A set of allowed tokens, with one bit for each id.
class TokenMask {
 public:
  // Allows all tokens.
  explicit TokenMask(std::int64_t vocabulary_size)
      : allowed_(static_cast<std::size_t>(vocabulary_size), true) {}

  std::int64_t size() const { return static_cast<std::int64_t>(allowed_.size()); }
  // Returns false for ids outside the vocabulary.
  bool allows(std::int64_t id) const {
    return id >= 0 && id < size() && allowed_[static_cast<std::size_t>(id)];
  }

  void AllowAll() { allowed_.assign(allowed_.size(), true); }
  void ForbidAll() { allowed_.assign(allowed_.size(), false); }
  // Ids outside the vocabulary are ignored.
  void Allow(std::int64_t id) { Set(id, true); }
  void Forbid(std::int64_t id) { Set(id, false); }

 private:
  void Set(std::int64_t id, bool value) {
    if (id >= 0 && id < size()) allowed_[static_cast<std::size_t>(id)] = value;
  }

  std::vector<bool> allowed_;
};

// It is called before each token with the sequence so far, prompt included, and a mask that allows
// all tokens. It forbids what must not come next. If it allows nothing, the generation ends. An
// empty function means no constraint.
using TokenFilter = std::function<void(std::span<const std::int32_t> sequence, TokenMask& mask)>;

}  // namespace shoal::language
