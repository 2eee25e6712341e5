// SPDX-License-Identifier: Apache-2.0
// Reads BERT's tokenizer from the files of Hugging Face.
//
// A tokenizer.json must have these parts; anything else is an error:
//   model           WordPiece
//   added_tokens    all fields; none is `normalized`, each is in the vocabulary
//   normalizer      BertNormalizer
//   pre_tokenizer   BertPreTokenizer
//   post_processor  null, BertProcessing, or TemplateProcessing of "[CLS]", the text, "[SEP]"
// `truncation`, `padding` and `decoder` are ignored: the caller cuts, and nothing is padded or
// decoded.
//
// A vocab.txt has a token in each line, the number of the line being its id; the special tokens in
// it are matched verbatim. A tokenizer_config.json beside it may set do_lower_case, strip_accents
// and tokenize_chinese_chars.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "platform/runtime/status.h"
#include "text/wordpiece/word_piece_tokenizer.h"

namespace shoal::tokens {

// INVALID_ARGUMENT names `file` and either the byte that is not JSON, or the JSON Pointer of a
// value that is unsupported or contradictory.
absl::StatusOr<std::shared_ptr<const WordPieceTokenizer>> ParseWordPieceJson(
    std::string_view json, const std::string& file);

// Loads the tokenizer.json of `folder`, or its vocab.txt where there is none. Errors name the file:
// NOT_FOUND when both are absent, INVALID_ARGUMENT for bad contents, RESOURCE_EXHAUSTED for a file
// that exceeds kMaximumTokenizerFile (bpe/tokenizer_json.h).
absl::StatusOr<std::shared_ptr<const WordPieceTokenizer>> LoadWordPieceFolder(
    const std::string& folder);

}  // namespace shoal::tokens
