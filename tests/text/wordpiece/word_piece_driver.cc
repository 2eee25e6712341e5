// SPDX-License-Identifier: Apache-2.0
// Prints the ids of texts by the tokenizer of a folder, for tests/golden/word_piece_golden.py.
//
// Standard input has a 32-bit size and the bytes of each text; standard output gets for each the
// number of its ids and the ids, 32 bits each.
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "text/wordpiece/word_piece_files.h"

int main(int argc, char** argv) {
  using namespace shoal;
  constexpr std::size_t kMaximumIds = 256;
  if (argc != 2) return 2;
  const auto tokenizer = tokens::LoadWordPieceFolder(argv[1]);
  if (!tokenizer.ok()) {
    std::fprintf(stderr, "%s\n", runtime::Message(tokenizer.status()).c_str());
    return 1;
  }
  const std::string input{std::istreambuf_iterator<char>(std::cin), {}};
  for (std::string_view rest = input; rest.size() >= sizeof(std::uint32_t);) {
    std::uint32_t size = 0;
    rest.copy(reinterpret_cast<char*>(&size), sizeof(size));
    rest.remove_prefix(sizeof(size));
    const auto ids = (*tokenizer)->Encode(rest.substr(0, size), kMaximumIds);
    const auto count = static_cast<std::uint32_t>(ids.size());
    std::fwrite(&count, sizeof(count), 1, stdout);
    std::fwrite(ids.data(), sizeof(ids[0]), ids.size(), stdout);
    rest.remove_prefix(std::min<std::size_t>(size, rest.size()));
  }
  return 0;
}
