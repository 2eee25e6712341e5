// SPDX-License-Identifier: Apache-2.0
// A token that is found in a text as it stands, before the text is split into words:
// "<|endoftext|>", or "/redfish/v1/Systems". The fields are those of `added_tokens` in a
// tokenizer.json.
#pragma once

#include <cstdint>
#include <string>

namespace shoal::tokens {

struct AddedToken {
  std::int32_t id = 0;
  std::string content;
  // Found only between characters that are no part of a word (kWordCharacter), so that "On" is not
  // found in "Only".
  bool single_word = false;
  // Takes the white space before it, or after it, along: decoding does not give that back.
  bool lstrip = false;
  bool rstrip = false;
  // Looked for in the normalised text; otherwise in the text as it came.
  bool normalized = false;
  // Says what it is for alone; matches like any other.
  bool special = false;

  bool operator==(const AddedToken&) const = default;
};

}  // namespace shoal::tokens
