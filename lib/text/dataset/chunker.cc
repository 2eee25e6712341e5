// SPDX-License-Identifier: Apache-2.0
#include "text/dataset/chunker.h"

#include <algorithm>
#include <string>
#include <utility>

#include "text/dataset/json_spans.h"

namespace shoal::dataset {
namespace {

bool IsAscii(char c) { return (static_cast<unsigned char>(c) & 0x80U) == 0; }
bool Continues(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }
char Small(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Returns the end of the code point at `at`.
std::size_t AfterCodePoint(std::string_view text, std::size_t at) {
  for (++at; at < text.size() && Continues(text[at]); ++at) {
  }
  return at;
}

// Returns, for each byte of `decoded` and for its end, the corresponding offset in `text`.
absl::StatusOr<std::vector<std::size_t>> Origins(std::string_view text, std::string_view decoded) {
  std::vector<std::size_t> origins;
  origins.reserve(decoded.size() + 1);
  std::size_t from = 0;
  while (origins.size() < decoded.size()) {
    const std::size_t at = origins.size();
    const char there = decoded[at];
    const bool left = from < text.size();
    if (left && (text[from] == there || Small(text[from]) == Small(there))) {
      origins.push_back(from++);
    } else if (there == ' ') {
      origins.push_back(from);
    } else if (left && text[from] == ' ') {
      ++from;
    } else if (left && !IsAscii(text[from])) {
      origins.resize(AfterCodePoint(decoded, at), from);
      from = AfterCodePoint(text, from);
    } else if (!IsAscii(there)) {
      origins.push_back(from);
    } else {
      return runtime::FailedPrecondition(
          "byte " + std::to_string(from) +
          ": the tokenizer changes more than blanks and the case of letters");
    }
  }
  while (from < text.size() && text[from] == ' ') ++from;
  if (from < text.size()) {
    return runtime::FailedPrecondition("byte " + std::to_string(from) +
                                       ": the tokenizer leaves out the rest");
  }
  origins.push_back(text.size());
  return origins;
}

}  // namespace

absl::StatusOr<std::vector<std::size_t>> TokenEnds(const tokens::Tokenizer& tokenizer,
                                                   std::string_view text,
                                                   std::span<const std::int32_t> ids) {
  std::vector<std::size_t> ends;
  ends.reserve(ids.size());
  std::string decoded;
  for (const std::int32_t id : ids) {
    decoded += tokenizer.TokenBytes(id);
    ends.push_back(decoded.size());
  }
  if (decoded == text) return ends;
  SHOAL_ASSIGN_OR_RETURN(const std::vector<std::size_t> origins, Origins(text, decoded));
  for (std::size_t& end : ends) end = origins[end];
  return ends;
}

namespace {

constexpr std::int32_t kFewestTokens = 16;

std::uint32_t Index(std::size_t value) { return static_cast<std::uint32_t>(value); }

// Spans of different texts are equal if their tokens are; nested lists may share tokens.
void SortAndDropEqual(std::vector<Span>& spans) {
  std::sort(spans.begin(), spans.end());
  spans.erase(std::unique(spans.begin(), spans.end()), spans.end());
}

}  // namespace

absl::StatusOr<std::unique_ptr<Chunker>> Chunker::Create(
    std::shared_ptr<const tokens::Tokenizer> tokenizer, const Options& options) {
  if (options.chunk_tokens < kFewestTokens) {
    return runtime::InvalidArgument("a chunk of " + std::to_string(options.chunk_tokens) +
                                    " tokens is shorter than " + std::to_string(kFewestTokens));
  }
  if (options.overlap < 0 || options.overlap >= options.chunk_tokens / 2) {
    return runtime::InvalidArgument("an overlap of " + std::to_string(options.overlap) +
                                    " tokens is not between 0 and half a chunk, " +
                                    std::to_string(options.chunk_tokens / 2));
  }
  return std::unique_ptr<Chunker>(new Chunker(std::move(tokenizer), options));
}

Chunker::Chunker(std::shared_ptr<const tokens::Tokenizer> tokenizer, const Options& options)
    : tokenizer_(std::move(tokenizer)),
      options_(options),
      end_of_text_(tokenizer_->IdOf(tokens::kEndOfText)),
      is_added_(static_cast<std::size_t>(tokenizer_->size()), false),
      encoder_(tokenizer_) {
  for (const tokens::AddedToken& token : tokenizer_->added_tokens()) {
    is_added_[static_cast<std::size_t>(token.id)] = !token.special;
  }
}

absl::StatusOr<std::vector<Chunk>> Chunker::Cut(const ResourceText& text) {
  request_.clear();
  body_.clear();
  SHOAL_RETURN_IF_ERROR(encoder_.Encode(text.request, request_));
  SHOAL_RETURN_IF_ERROR(encoder_.Encode(text.body, body_));
  const auto chunk_tokens = static_cast<std::size_t>(options_.chunk_tokens);
  if (request_.size() > chunk_tokens / 2) {
    return runtime::InvalidArgument("the request line has " + std::to_string(request_.size()) +
                                    " tokens, more than half of a chunk of " +
                                    std::to_string(chunk_tokens));
  }
  SHOAL_ASSIGN_OR_RETURN(const std::vector<Span> spans, BodySpans(text.body));
  if (end_of_text_) body_.push_back(*end_of_text_);

  const std::size_t room = chunk_tokens - request_.size();
  const std::size_t step = room - static_cast<std::size_t>(options_.overlap);
  std::vector<Chunk> chunks;
  for (std::size_t begin = 0; begin < body_.size(); begin += step) {
    const std::size_t end = std::min(begin + room, body_.size());
    chunks.push_back(CutOne(begin, end, spans));
    if (end == body_.size()) break;
  }
  return chunks;
}

absl::StatusOr<std::vector<Span>> Chunker::BodySpans(std::string_view body) const {
  SHOAL_ASSIGN_OR_RETURN(const std::vector<std::size_t> ends, TokenEnds(*tokenizer_, body, body_));
  std::vector<Span> spans;
  for (const TextSpan& text : FindTextSpans(body)) {
    const auto first = std::upper_bound(ends.begin(), ends.end(), text.begin);
    const auto last = std::lower_bound(first, ends.end(), text.end);
    spans.push_back({text.kind, Index(static_cast<std::size_t>(first - ends.begin())),
                     Index(static_cast<std::size_t>(last - ends.begin()) + 1)});
  }
  SortAndDropEqual(spans);
  return spans;
}

Chunk Chunker::CutOne(std::size_t begin, std::size_t end, std::span<const Span> spans) const {
  Chunk chunk;
  chunk.tokens = request_;
  chunk.tokens.insert(chunk.tokens.end(), body_.begin() + static_cast<std::ptrdiff_t>(begin),
                      body_.begin() + static_cast<std::ptrdiff_t>(end));
  const std::size_t shift = request_.size();
  chunk.spans.push_back({SpanKind::kResponse, Index(shift), Index(chunk.tokens.size())});
  for (const Span& span : spans) {
    const std::size_t from = std::max<std::size_t>(span.begin, begin);
    const std::size_t to = std::min<std::size_t>(span.end, end);
    if (from < to) {
      chunk.spans.push_back({span.kind, Index(from - begin + shift), Index(to - begin + shift)});
    }
  }
  for (std::size_t i = 0; i < chunk.tokens.size(); ++i) {
    if (is_added_[static_cast<std::size_t>(chunk.tokens[i])]) {
      chunk.spans.push_back({SpanKind::kAddedToken, Index(i), Index(i + 1)});
    }
  }
  SortAndDropEqual(chunk.spans);
  return chunk;
}

}  // namespace shoal::dataset
