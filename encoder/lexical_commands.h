// SPDX-License-Identifier: Apache-2.0
// `encoder lexical fit` and `encoder lexical embed`: the first makes the IDF table, the second
// shows the vector of a text and what is near it.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>
#include <vector>

#include "platform/runtime/status.h"

namespace shoal::encoder {

struct FitOptions {
  // Capture archives or folders. The documents are the candidates of their catalogs.
  std::vector<std::string> captures;
  std::string schema = "data/schema/redfish.schema.zst";
  std::string output;
};

// Writes the table to `output` and prints what it was made from and the encoder's version.
absl::Status FitLexical(const FitOptions& options, std::ostream& out);

struct EmbedOptions {
  std::string text;
  std::string table = "data/encoder/lexical.idf";
  std::string schema = "data/schema/redfish.schema.zst";
  // Empty means that no candidates are ranked.
  std::string capture;
  std::size_t top = 10;
};

// Prints the words of the text and the length of its vector. With a capture it also prints the
// candidates nearest by cosine.
absl::Status EmbedLexical(const EmbedOptions& options, std::ostream& out);

}  // namespace shoal::encoder
