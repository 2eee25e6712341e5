// SPDX-License-Identifier: Apache-2.0
#include "text/embedding/chunked_encoder.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <map>
#include <set>

#include "platform/content/canonical_json.h"
#include "platform/content/segments.h"
#include "tests/redfish/capture/shipped.h"
#include "tests/text/embedding/counting_encoder.h"

namespace shoal::embedding {
namespace {

using content::CanonicalJson;
using content::SplitSegments;

struct Chunked {
  explicit Chunked(const ChunkedEncoderOptions& options = {}, runtime::Metrics* metrics = nullptr) {
    auto counting = std::make_unique<CountingEncoder>(calls);
    inner = counting.get();
    encoder = std::make_unique<ChunkedEncoder>(std::move(counting), options, metrics);
  }

  Calls calls;
  CountingEncoder* inner;
  std::unique_ptr<ChunkedEncoder> encoder;
};

std::string LongText(int seed, std::size_t bytes) {
  std::string text;
  for (int i = 0; text.size() < bytes; ++i) {
    text += "\"name" + std::to_string(i) + "\":\"value " + std::to_string(i * seed) + "\",";
  }
  return text;
}

// Calls `visit` with the whole after each change of one number, text or truth value, then undoes
// it.
void ChangeEach(const nlohmann::json& whole, nlohmann::json& part,
                const std::function<void(const nlohmann::json&)>& visit) {
  if (part.is_structured()) {
    for (auto& child : part) ChangeEach(whole, child, visit);
    return;
  }
  const nlohmann::json before = part;
  if (part.is_string()) {
    part = "another value";
  } else if (part.is_boolean()) {
    part = !part.get<bool>();
  } else {
    part = 31337;
  }
  visit(whole);
  part = before;
}

TEST_CASE("a text's vector is the mean of its segments' by bytes, at length 1") {
  Chunked chunked;
  const std::vector<std::string> texts = {LongText(3, 6000), "set the asset tag",
                                          LongText(5, 3000)};
  const runtime::Tensor vectors = EncodeAll(*chunked.encoder, texts);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const auto segments = SplitSegments(texts[i], {});
    REQUIRE((segments.size() > 1) == (i != 1));
    std::vector<double> mean(16);
    double norm = 0;
    for (std::size_t k = 0; k < mean.size(); ++k) {
      for (const std::string_view segment : segments) {
        mean[k] += static_cast<double>(segment.size()) *
                   static_cast<double>(runtime::FromHalf(chunked.inner->VectorOf(segment)[k]));
      }
      norm += mean[k] * mean[k];
    }
    const auto row = RowOf(vectors, i);
    for (std::size_t k = 0; k < mean.size(); ++k) {
      REQUIRE(std::abs(static_cast<double>(runtime::FromHalf(row[k])) - mean[k] / std::sqrt(norm)) <
              1e-3);
    }
    REQUIRE(std::abs(Dot(row, row) - 1) < 2e-3);
  }
  REQUIRE(RowOf(vectors, 1) == chunked.inner->VectorOf(texts[1]));
}

const nlohmann::json& SystemBody() {
  return *redfish::Shipped("dell-r750").Find("/redfish/v1/Systems/System.Embedded.1");
}

TEST_CASE(
    "any one changed property of a real resource re-encodes one or two segments, rarely three") {
  nlohmann::json body = SystemBody();
  const std::string text = CanonicalJson(body);
  const auto segments = SplitSegments(text, {});
  REQUIRE(segments.size() > 6);
  const std::set<std::string_view> original(segments.begin(), segments.end());
  std::map<std::size_t, std::size_t> changes;
  ChangeEach(body, body, [&](const nlohmann::json& changed) {
    const std::string changed_text = CanonicalJson(changed);
    std::set<std::string_view> cut_anew;
    for (const std::string_view segment : SplitSegments(changed_text, {})) {
      if (!original.contains(segment)) cut_anew.insert(segment);
    }
    // The encoder has a memory of its own, so that chunks of an earlier change are encoded again.
    Chunked chunked;
    EncodeAll(*chunked.encoder, {text});
    const std::size_t before = chunked.calls.count();
    EncodeAll(*chunked.encoder, {changed_text});
    REQUIRE(chunked.calls.count() - before == cut_anew.size());
    ++changes[cut_anew.size()];
  });
  std::size_t sum = 0;
  for (const auto& [segments, count] : changes) sum += count;
  REQUIRE(sum > 200);
  REQUIRE(changes.rbegin()->first <= 3);
  REQUIRE(changes[0] == 0);
  REQUIRE(changes[1] * 100 >= 60 * sum);
  REQUIRE((changes[1] + changes[2]) * 100 >= 97 * sum);
}

TEST_CASE("a new asset tag in a real resource re-encodes one segment") {
  Chunked chunked;
  nlohmann::json body = SystemBody();
  EncodeAll(*chunked.encoder, {CanonicalJson(body)});
  const std::size_t before = chunked.calls.count();
  body["AssetTag"] = "rack 7, unit 12";
  EncodeAll(*chunked.encoder, {CanonicalJson(body)});
  REQUIRE(chunked.calls.count() == before + 1);
}

TEST_CASE("all resources of a capture that differ by a property share nearly all segments") {
  Chunked chunked;
  std::size_t resources = 0;
  std::size_t encoded = 0;
  for (const auto& [uri, resource] : redfish::Shipped("dmtf-rackmount1").resources()) {
    nlohmann::json body = resource;
    EncodeAll(*chunked.encoder, {CanonicalJson(body)});
    body["Name"] = "renamed by hand";
    const std::size_t before = chunked.calls.count();
    EncodeAll(*chunked.encoder, {CanonicalJson(body)});
    encoded += chunked.calls.count() - before;
    ++resources;
  }
  REQUIRE(resources > 50);
  REQUIRE(encoded <= 2 * resources);
}

TEST_CASE("the inner encoder gets each segment once, in slices of bounded bytes") {
  runtime::Metrics metrics;
  Chunked chunked({.slice_bytes = 3000}, &metrics);
  const std::string text = LongText(3, 20000);
  const auto segments = SplitSegments(text, {});
  const std::vector<std::string> texts = {text, "a", "a", text, ""};
  const runtime::Tensor first = EncodeAll(*chunked.encoder, texts);
  std::multiset<std::string> given;
  for (const auto& call : chunked.calls.texts) {
    std::size_t bytes = 0;
    for (const std::string& segment : call) bytes += segment.size();
    REQUIRE((bytes <= 3000 || call.size() == 1));
    given.insert(call.begin(), call.end());
  }
  std::multiset<std::string> expected(segments.begin(), segments.end());
  expected.insert("a");
  REQUIRE(given == expected);
  const auto& encoded = metrics.Counter("shoal_embedding_chunks_encoded_total",
                                        "Parts of texts given to the language model or the "
                                        "file of vectors");
  const auto& found = metrics.Counter("shoal_embedding_chunks_found_total",
                                      "Parts of texts whose vectors were in memory");
  REQUIRE(encoded.Value() == static_cast<double>(segments.size() + 1));
  REQUIRE(found.Value() == 0);

  const std::size_t calls = chunked.calls.texts.size();
  const runtime::Tensor second = EncodeAll(*chunked.encoder, texts);
  REQUIRE(chunked.calls.texts.size() == calls);
  REQUIRE(found.Value() == static_cast<double>(segments.size() + 1));
  REQUIRE(encoded.Value() == static_cast<double>(segments.size() + 1));
  REQUIRE(std::ranges::equal(first.bytes(), second.bytes()));
  REQUIRE(RowOf(second, 4) == std::vector<std::uint16_t>(16));
}

TEST_CASE("a memory too small for one text changes what is encoded again, not the vectors") {
  Chunked small({.cache_bytes = 0, .slice_bytes = 1});
  Chunked large;
  const std::vector<std::string> texts = {LongText(3, 20000), LongText(7, 9000)};
  const runtime::Tensor expected = EncodeAll(*large.encoder, texts);
  for (const std::size_t text : {0, 1, 0, 1}) {
    REQUIRE(RowOf(EncodeAll(*small.encoder, {texts[text]}), 0) == RowOf(expected, text));
  }
  REQUIRE(small.calls.count() > large.calls.count());
}

TEST_CASE("a long text is cut at a character after 32 KiB") {
  Chunked chunked;
  const std::size_t limit = kMaxSegmentedBytes;
  const std::string wide = std::string(limit - 1, 'a') + "\u00e9" + std::string(100, 'b');
  const std::string cut(limit - 1, 'a');
  const std::string whole = std::string(limit - 2, 'a') + "\u00e9";
  const std::string broken(2 * limit, '\x80');
  const std::vector<std::string> texts = {wide,  cut,    whole + "bbb",
                                          whole, broken, broken.substr(0, limit)};
  const runtime::Tensor vectors = EncodeAll(*chunked.encoder, texts);
  REQUIRE(RowOf(vectors, 0) == RowOf(vectors, 1));
  REQUIRE(RowOf(vectors, 2) == RowOf(vectors, 3));
  REQUIRE(RowOf(vectors, 4) == RowOf(vectors, 5));
  REQUIRE(RowOf(vectors, 0) != RowOf(vectors, 2));
}

TEST_CASE("what the inner encoder cannot do is an error, and the version names both") {
  Chunked chunked;
  REQUIRE(chunked.encoder->version() == "counting-chunked1");
  REQUIRE(chunked.encoder->dimension() == 16);
  const std::vector<std::string_view> texts = {"text"};
  chunked.inner->fails = true;
  REQUIRE(runtime::Message(chunked.encoder->Encode(texts).status()) == "made to fail");
  chunked.inner->fails = false;
  chunked.inner->wrong_shape = true;
  REQUIRE(absl::IsInternal(chunked.encoder->Encode(texts).status()));
  chunked.inner->wrong_shape = false;
  REQUIRE(chunked.encoder->Encode(texts).ok());
}

}  // namespace
}  // namespace shoal::embedding
