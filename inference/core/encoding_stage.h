// SPDX-License-Identifier: Apache-2.0
// The first of two batching stages: texts wait here until the encoder has made vectors of them.
//
// The stage owns one thread, which encodes slices of bounded size into the content store, so that
// no text waits long behind many others. The queue is bounded by bytes of text; a text that does
// not fit is refused and counted. If a slice fails, its texts are encoded one by one. A text that
// fails alone is refused with the encoder's error until it is submitted again. Thread-safe.
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
  // The texts and bytes in one call of the encoder.
  std::size_t slice_texts = 64;
  std::size_t slice_bytes = std::size_t{256} << 10;
  // The nice value of the thread (SetThreadNice). With a slow encoder it lets acting run first.
  int nice = 0;
  // The bound on the waiting texts, in bytes.
  std::size_t max_waiting_bytes = std::size_t{256} << 20;
};

class EncodingStage {
 public:
  // `encoder`, `store` and `metrics` must outlive the stage. `on_encoded` runs on the stage's
  // thread after each slice, including failed ones, and must not block.
  EncodingStage(const EncodingOptions& options, const tokens::TextEncoder& encoder,
                embedding::EmbeddingStore& store, std::function<void()> on_encoded,
                runtime::Metrics& metrics);
  // Stops and waits for the slice that is being encoded.
  ~EncodingStage();

  // Drops the waiting texts and takes no more, without waiting for the slice that is being encoded.
  void Stop() ABSL_LOCKS_EXCLUDED(mutex_);

  // Returns false when the stage is full or stopped. A text that waits already or is in the store
  // is accepted and dropped. REQUIRES: `key` is the key of `text`.
  bool Submit(const content::ContentKey& key, std::string text) ABSL_LOCKS_EXCLUDED(mutex_);
  bool IsWaiting(const content::ContentKey& key) const ABSL_LOCKS_EXCLUDED(mutex_);
  // Returns why the last attempt to encode the text failed. Only a few thousand texts are
  // remembered.
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
  // The keys of texts that are queued or being encoded.
  std::unordered_set<content::ContentKey> waiting_ ABSL_GUARDED_BY(mutex_);
  std::unordered_map<content::ContentKey, std::string> refused_ ABSL_GUARDED_BY(mutex_);
  std::size_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;

  runtime::Thread thread_;
};

}  // namespace shoal::inference
