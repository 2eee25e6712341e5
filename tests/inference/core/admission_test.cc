// SPDX-License-Identifier: Apache-2.0
#include "inference/core/admission.h"

#include <catch2/catch.hpp>

#include "tests/inference/core/row_maker.h"

namespace shoal::inference {
namespace {

using content::ContentKey;
using testing::RecordingSink;

// Encodes nothing until the test opens the gate, and fails for a slice with a text that begins
// "bad".
class GatedEncoder final : public tokens::TextEncoder {
 public:
  const std::string& version() const override { return version_; }
  std::int64_t dimension() const override { return 1; }
  absl::StatusOr<runtime::Tensor> Encode(std::span<const std::string_view> texts) const override {
    const runtime::MutexLock lock(mutex_);
    while (!open_) changed_.Wait(mutex_);
    for (const std::string_view text : texts) {
      if (text.starts_with("bad")) return runtime::Internal("of all texts this one");
    }
    return runtime::Tensor(runtime::DType::kFloat16, {static_cast<std::int64_t>(texts.size()), 1});
  }
  void Open() {
    const runtime::MutexLock lock(mutex_);
    open_ = true;
    changed_.NotifyAll();
  }

 private:
  const std::string version_ = "gated";
  mutable runtime::Mutex mutex_;
  mutable runtime::CondVar changed_;
  bool open_ ABSL_GUARDED_BY(mutex_) = false;
};

struct AdmissionFixture {
  AdmissionFixture() {
    shape.content_count = 1;
    shape.embedding_size = 1;
    batcher.SetPaused(false);
  }
  ~AdmissionFixture() { encoder.Open(); }

  // Makes rows of environments 0, 1, ... with these texts.
  Arrival Message(const std::vector<std::string>& texts) {
    std::vector<testing::RowSpec> specs;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      specs.push_back({.environment = i, .flags = kFirst});
    }
    Arrival arrival;
    arrival.rows = testing::MakeBlock(specs, sink);
    for (const std::string& text : texts) {
      arrival.rows->content_keys.push_back(content::KeyOf(text));
    }
    return arrival;
  }
  void AwaitEncoded() {
    const runtime::MutexLock lock(mutex);
    while (slices == 0 || encoding.waiting() > 0) changed.Wait(mutex);
    slices = 0;
  }

  PolicyShape shape = testing::PlainShape();
  runtime::Metrics registry;
  InferenceMetrics metrics{registry};
  GatedEncoder encoder;
  runtime::Mutex mutex;
  runtime::CondVar changed;
  int slices = 0;
  embedding::EmbeddingStore contents{"gated", 1, 1 << 20};
  CatalogStore catalogs{contents,
                        [](const runtime::Tensor&, std::span<const std::uint32_t>, const auto&) {
                          return std::shared_ptr<const model::CandidateTable>();
                        }};
  EncodingStage encoding{{},
                         encoder,
                         contents,
                         [this] {
                           const runtime::MutexLock lock(mutex);
                           ++slices;
                           changed.NotifyAll();
                         },
                         registry};
  BatcherSet batchers{1,
                      {.max_rows = 100, .max_delay = runtime::Duration::zero(), .max_queued = 8}};
  Batcher& batcher = batchers[0];
  Admission admission{{shape, contents, catalogs, encoding, batchers, metrics}, 16};
  std::shared_ptr<RecordingSink> sink = std::make_shared<RecordingSink>();
};

TEST_CASE("Unknown contents are asked for at once while the other rows go on") {
  AdmissionFixture fixture;
  const std::vector<std::uint16_t> values = {1};
  fixture.contents.Insert(content::KeyOf("known"), values);
  fixture.admission.Admit(fixture.Message({"unknown", "known"}));
  const auto answers = fixture.sink->Take(1);
  REQUIRE(answers.size() == 1);
  REQUIRE(answers[0].status == RowStatus::kNeedContent);
  REQUIRE(answers[0].missing == std::vector<ContentKey>{content::KeyOf("unknown")});
  const auto batch = fixture.batcher.Take();
  REQUIRE(batch.rows.size() == 1);
  REQUIRE(batch.rows[0].environment() == 1);
}

TEST_CASE("A row whose text came along waits for the encoder only") {
  AdmissionFixture fixture;
  Arrival arrival = fixture.Message({"new", "known"});
  const std::vector<std::uint16_t> values = {1};
  fixture.contents.Insert(content::KeyOf("known"), values);
  arrival.contents.push_back({content::KeyOf("new"), "new"});
  fixture.admission.Admit(std::move(arrival));
  REQUIRE(fixture.batcher.Take().rows.size() == 1);
  REQUIRE(fixture.admission.waiting() == 1);
  REQUIRE(fixture.sink->size() == 0);
  fixture.encoder.Open();
  fixture.AwaitEncoded();
  fixture.admission.Recheck();
  REQUIRE(fixture.admission.waiting() == 0);
  REQUIRE(fixture.batcher.Take().rows[0].environment() == 0);
}

TEST_CASE("A text that cannot be encoded is refused with its rows, not with its slice") {
  AdmissionFixture fixture;
  const std::vector<std::string> texts = {"good", "bad", "better"};
  const auto sent = [&] {
    Arrival arrival = fixture.Message(texts);
    for (const std::string& text : texts) arrival.contents.push_back({content::KeyOf(text), text});
    return arrival;
  };
  fixture.admission.Admit(sent());
  fixture.encoder.Open();
  fixture.AwaitEncoded();
  fixture.admission.Recheck();
  const auto answers = fixture.sink->Take(1);
  REQUIRE(answers[0].status == RowStatus::kInvalid);
  REQUIRE(answers[0].environment == 1);
  REQUIRE(answers[0].error.find(content::KeyOf("bad").ToHex()) != std::string::npos);
  REQUIRE(answers[0].error.find("of all texts this one") != std::string::npos);
  REQUIRE(fixture.batcher.Take().rows.size() == 2);
  // The text is not asked for again, but it is tried again if it is sent again.
  fixture.admission.Admit(fixture.Message({"bad"}));
  REQUIRE(fixture.sink->Take(1)[0].status == RowStatus::kInvalid);
  const auto& failures = fixture.registry.Counter("shoal_inference_encoding_failures_total", "");
  REQUIRE(failures.Value() == 1);
  fixture.admission.Admit(sent());
  fixture.AwaitEncoded();
  REQUIRE(failures.Value() == 2);
}

TEST_CASE("A stopped encoding stage drops what waits and takes no more, at once") {
  AdmissionFixture fixture;
  REQUIRE(fixture.encoding.Submit(content::KeyOf("first"), "first"));
  fixture.encoding.Stop();
  REQUIRE_FALSE(fixture.encoding.Submit(content::KeyOf("second"), "second"));
  REQUIRE_FALSE(fixture.encoding.IsWaiting(content::KeyOf("second")));
}

TEST_CASE("A text that does not match its key is refused with the rows that name it") {
  AdmissionFixture fixture;
  Arrival arrival = fixture.Message({"one", "two"});
  arrival.contents.push_back({content::KeyOf("one"), "another"});
  fixture.admission.Admit(std::move(arrival));
  const auto answers = fixture.sink->Take(2);
  REQUIRE(answers[0].status == RowStatus::kInvalid);
  REQUIRE(answers[0].error.find("does not match its key") != std::string::npos);
  REQUIRE(answers[0].error.find(content::KeyOf("one").ToHex()) != std::string::npos);
  REQUIRE(answers[1].status == RowStatus::kNeedContent);
}

TEST_CASE("Rows of one environment keep their order while one of them waits") {
  AdmissionFixture fixture;
  Arrival first = fixture.Message({"new"});
  first.contents.push_back({content::KeyOf("new"), "new"});
  fixture.admission.Admit(std::move(first));
  Arrival second = fixture.Message({""});
  second.rows->sequences = {1};
  second.rows->flags = {kTerminated};
  second.rows->content_keys = {ContentKey{}};
  fixture.admission.Admit(std::move(second));
  REQUIRE(fixture.admission.waiting() == 2);
  fixture.encoder.Open();
  fixture.AwaitEncoded();
  fixture.admission.Recheck();
  const auto batch = fixture.batcher.Take();
  REQUIRE(batch.rows.size() == 2);
  REQUIRE(batch.rows[0].sequence() == 0);
  REQUIRE(batch.rows[1].sequence() == 1);
}

TEST_CASE("An unknown catalog is asked for by key") {
  AdmissionFixture fixture;
  Arrival arrival = fixture.Message({""});
  arrival.rows->content_keys = {ContentKey{}};
  arrival.rows->catalog_keys = {content::KeyOf("catalog")};
  fixture.admission.Admit(std::move(arrival));
  const auto answers = fixture.sink->Take(1);
  REQUIRE(answers[0].status == RowStatus::kNeedCatalog);
  REQUIRE(answers[0].missing == std::vector<ContentKey>{content::KeyOf("catalog")});
}

TEST_CASE("A mark on a candidate that the row's catalog lacks makes the row invalid") {
  AdmissionFixture fixture;
  const auto one = content::KeyOf("one");
  fixture.contents.Insert(one, std::vector<std::uint16_t>{0});
  const std::vector<ContentKey> list = {one};
  const auto admit = [&](std::uint32_t candidate) {
    Arrival arrival = fixture.Message({""});
    arrival.rows->content_keys = {ContentKey{}};
    arrival.lists.push_back(
        {.key = content::KeyOf(list), .base = {}, .removed = {}, .candidates = list});
    arrival.rows->catalog_keys = {content::KeyOf(list)};
    arrival.rows->candidates.resize(1);
    arrival.rows->marks.Add(std::vector<model::CandidateMark>{{candidate, 1}});
    fixture.admission.Admit(std::move(arrival));
  };
  admit(1);
  const auto answers = fixture.sink->Take(1);
  REQUIRE(answers[0].status == RowStatus::kInvalid);
  REQUIRE(answers[0].error.find("no candidate 1") != std::string::npos);
  admit(0);
  REQUIRE(fixture.batcher.size() == 1);
}

TEST_CASE("Rows past the batcher's room are told to come later") {
  AdmissionFixture fixture;
  Arrival arrival = fixture.Message(std::vector<std::string>(10, "known"));
  const std::vector<std::uint16_t> values = {1};
  fixture.contents.Insert(content::KeyOf("known"), values);
  fixture.admission.Admit(std::move(arrival));
  const auto answers = fixture.sink->Take(2);
  REQUIRE(answers.size() == 2);
  REQUIRE(answers[0].status == RowStatus::kOverloaded);
  REQUIRE(fixture.batcher.Take().rows.size() == 8);
}

TEST_CASE("A row that decoding refused is invalid and goes no further") {
  AdmissionFixture fixture;
  Arrival arrival = fixture.Message({"known"});
  arrival.rows->errors = {"observation: a number is not finite"};
  fixture.admission.Admit(std::move(arrival));
  REQUIRE(fixture.sink->Take(1)[0].error == "observation: a number is not finite");
  REQUIRE(fixture.batcher.size() == 0);
}

}  // namespace
}  // namespace shoal::inference
