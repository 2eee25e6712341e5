// SPDX-License-Identifier: Apache-2.0
// The first of two batching stages: texts wait here until the encoder made vectors of them.
//
// Owns one thread, which encodes slices of bounded size into the content store, so that no text
// waits long behind many. Bounded by bytes of text: what does not fit is refused and counted. When
// a slice fails its texts are tried one by one, and one that fails alone is refused with the
// encoder's reason until it is submitted again. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "platform/content/content_key.h"
#include "platform/runtime/metrics.h"
#include "platform/runtime/mutex.h"
#include "platform/runtime/thread.h"
#include "text/embedding/embedding_store.h"
#include "text/lexical/text_encoder.h"

namespace shoal::inference {

struct EncodingOptions {
  // Texts and bytes in one call of the encoder.
  std::size_t slice_texts = 64;
  std::size_t slice_bytes = std::size_t{256} << 10;
  // Of the thread (SetThreadNice): an encoder that takes long leaves acting first.
  int nice = 0;
  // Text waiting, in bytes.
  std::size_t max_waiting_bytes = std::size_t{256} << 20;
};

class EncodingStage {
 public:
  // `encoder`, `store` and `metrics` outlive this. `on_encoded` runs on the stage's thread after
  // each slice, failed ones too; it must not block.
  EncodingStage(const EncodingOptions& options, const tokens::TextEncoder& encoder,
                embedding::EmbeddingStore& store, std::function<void()> on_encoded,
                runtime::Metrics& metrics);
  // Stops, and waits for the slice under way.
  ~EncodingStage();

  // Drops what waits and takes no more; the slice under way goes on. Does not wait.
  void Stop() ABSL_LOCKS_EXCLUDED(mutex_);

  // False when full or stopped. A text that waits already or is in the store is taken and dropped.
  // REQUIRES: `key` is the text's.
  bool Submit(const content::ContentKey& key, std::string text) ABSL_LOCKS_EXCLUDED(mutex_);
  bool IsWaiting(const content::ContentKey& key) const ABSL_LOCKS_EXCLUDED(mutex_);
  // Why the text could not be encoded when it was tried last; the newest few thousand are known.
  std::optional<std::string> Refusal(const content::ContentKey& key) const
      ABSL_LOCKS_EXCLUDED(mutex_);
  std::size_t waiting() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Text {
    content::ContentKey key;
    std::string text;
  };

  void Run();
  std::vector<Text> TakeSlice() ABSL_LOCKS_EXCLUDED(mutex_);
  void Encode(std::span<const Text> slice);
  void Refuse(const Text& text, const std::string& reason) ABSL_LOCKS_EXCLUDED(mutex_);

  const EncodingOptions options_;
  const tokens::TextEncoder& encoder_;
  embedding::EmbeddingStore& store_;
  const std::function<void()> on_encoded_;
  prometheus::Counter& encoded_total_;
  prometheus::Counter& failed_total_;
  prometheus::Counter& refused_total_;

  mutable runtime::Mutex mutex_;
  runtime::CondVar changed_;
  std::deque<Text> queue_ ABSL_GUARDED_BY(mutex_);
  // Queued or being encoded.
  std::unordered_set<content::ContentKey> waiting_ ABSL_GUARDED_BY(mutex_);
  std::unordered_map<content::ContentKey, std::string> refused_ ABSL_GUARDED_BY(mutex_);
  std::size_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;

  runtime::Thread thread_;
};

}  // namespace shoal::inference
