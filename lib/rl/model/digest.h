// SPDX-License-Identifier: Apache-2.0
// SHA-256 as 64 lower-case hexadecimal digits, which identifies specs, parameters and files.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace shoal::model {

std::string HexSha256(std::string_view bytes);

// The same of bytes that come one after the other. Not thread-safe.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  void Add(std::string_view bytes);
  // REQUIRES: it was not called before, and nothing is added afterwards.
  std::string Hex();

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

}  // namespace shoal::model
