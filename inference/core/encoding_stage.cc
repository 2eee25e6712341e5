// SPDX-License-Identifier: Apache-2.0
#include "inference/core/encoding_stage.h"

#include <span>
#include <string_view>
#include <utility>

#include "platform/runtime/log.h"
#include "platform/runtime/thread.h"
#include "text/embedding/unit_rows.h"

namespace shoal::inference {
namespace {

constexpr std::size_t kMaxRefused = 4096;

}  // namespace

EncodingStage::EncodingStage(const EncodingOptions& options, const tokens::TextEncoder& encoder,
                             embedding::EmbeddingStore& store, std::function<void()> on_encoded,
                             runtime::Metrics& metrics)
    : options_(options),
      encoder_(encoder),
      store_(store),
      on_encoded_(std::move(on_encoded)),
      encoded_total_(metrics.Counter("shoal_inference_encoded_texts_total", "Texts encoded")),
      failed_total_(metrics.Counter("shoal_inference_encoding_failures_total",
                                    "Texts that the encoder refused")),
      refused_total_(metrics.Counter("shoal_inference_refused_texts_total",
                                     "Texts refused because too many waited")),
      thread_("encode", [this] { Run(); }) {}

EncodingStage::~EncodingStage() {
  Stop();
  thread_.Join();
}

void EncodingStage::Stop() {
  const runtime::MutexLock lock(mutex_);
  stopping_ = true;
  changed_.NotifyAll();
}

bool EncodingStage::Submit(const content::ContentKey& key, std::string text) {
  if (store_.Find(key)) return true;
  const runtime::MutexLock lock(mutex_);
  if (stopping_) return false;
  if (waiting_.contains(key)) return true;
  if (bytes_ + text.size() > options_.max_waiting_bytes) {
    refused_total_.Increment();
    return false;
  }
  refused_.erase(key);
  bytes_ += text.size();
  waiting_.insert(key);
  queue_.push_back({key, std::move(text)});
  changed_.NotifyOne();
  return true;
}

bool EncodingStage::IsWaiting(const content::ContentKey& key) const {
  const runtime::MutexLock lock(mutex_);
  return waiting_.contains(key);
}

std::optional<std::string> EncodingStage::Refusal(const content::ContentKey& key) const {
  const runtime::MutexLock lock(mutex_);
  const auto found = refused_.find(key);
  if (found == refused_.end()) return std::nullopt;
  return found->second;
}

std::size_t EncodingStage::waiting() const {
  const runtime::MutexLock lock(mutex_);
  return waiting_.size();
}

void EncodingStage::Run() {
  if (options_.nice > 0) runtime::SetThreadNice(options_.nice);
  for (;;) {
    const std::vector<Text> slice = TakeSlice();
    if (slice.empty()) return;
    Encode(slice);
    {
      const runtime::MutexLock lock(mutex_);
      for (const Text& text : slice) {
        waiting_.erase(text.key);
        bytes_ -= text.text.size();
      }
    }
    on_encoded_();
  }
}

std::vector<EncodingStage::Text> EncodingStage::TakeSlice() {
  const runtime::MutexLock lock(mutex_);
  while (!stopping_ && queue_.empty()) changed_.Wait(mutex_);
  std::vector<Text> slice;
  std::size_t bytes = 0;
  while (!stopping_ && !queue_.empty() && slice.size() < options_.slice_texts) {
    bytes += queue_.front().text.size();
    if (!slice.empty() && bytes > options_.slice_bytes) break;
    slice.push_back(std::move(queue_.front()));
    queue_.pop_front();
  }
  return slice;
}

void EncodingStage::Encode(std::span<const Text> slice) {
  std::vector<std::string_view> texts;
  texts.reserve(slice.size());
  for (const Text& text : slice) texts.emplace_back(text.text);
  const std::size_t size = store_.embedding_size();
  const auto encoded = encoder_.Encode(texts);
  const auto halves = encoded.ok()
                          ? embedding::Halves(*encoded, slice.size(), size)
                          : absl::StatusOr<std::span<const std::uint16_t>>(encoded.status());
  if (!halves.ok()) {
    if (slice.size() == 1) return Refuse(slice[0], runtime::Message(halves.status()));
    for (std::size_t i = 0; i < slice.size(); ++i) Encode(slice.subspan(i, 1));
    return;
  }
  for (std::size_t i = 0; i < slice.size(); ++i) {
    store_.Insert(slice[i].key, halves->subspan(i * size, size));
  }
  encoded_total_.Increment(static_cast<double>(slice.size()));
}

void EncodingStage::Refuse(const Text& text, const std::string& reason) {
  failed_total_.Increment();
  spdlog::error("event=encoding_failed content={} bytes={} reason={}", text.key.ToHex(),
                text.text.size(), runtime::Quoted(reason));
  const runtime::MutexLock lock(mutex_);
  if (refused_.size() >= kMaxRefused) refused_.clear();
  refused_.emplace(text.key, reason);
}

}  // namespace shoal::inference
