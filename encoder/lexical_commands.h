// SPDX-License-Identifier: Apache-2.0
// `encoder lexical fit` and `encoder lexical embed`: makes the IDF table, shows what vectors say.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>
#include <vector>

#include "platform/runtime/status.h"

namespace shoal::encoder {

struct FitOptions {
  // Capture archives or folders; the candidates of their catalogs are the documents.
  std::vector<std::string> captures;
  std::string schema = "data/schema/redfish.schema.zst";
  std::string output;
};

// Writes the table to `output` and prints what went in and the encoder's version.
absl::Status FitLexical(const FitOptions& options, std::ostream& out);

struct EmbedOptions {
  std::string text;
  std::string table = "data/encoder/lexical.idf";
  std::string schema = "data/schema/redfish.schema.zst";
  // Empty: no candidates are ranked.
  std::string capture;
  std::size_t top = 10;
};

// Prints the text's words and its vector's length; with a capture, the candidates nearest by
// cosine.
absl::Status EmbedLexical(const EmbedOptions& options, std::ostream& out);

}  // namespace shoal::encoder
