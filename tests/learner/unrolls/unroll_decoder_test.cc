// SPDX-License-Identifier: Apache-2.0
#include "learner/unrolls/unroll_decoder.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "learner/unrolls/batch_builder.h"
#include "learner/unrolls/episode_returns.h"
#include "tests/learner/unrolls/unroll_maker.h"

namespace shoal::learner {
namespace {

constexpr std::uint8_t kFirst = 1;
constexpr std::uint8_t kTerminated = 2;
constexpr std::uint8_t kTruncated = 4;
constexpr std::uint8_t kFinal = 8;

void SetFlags(proto::Unroll& unroll, const std::vector<std::uint8_t>& flags) {
  SetColumn(Column(unroll, "flags"), "flags", proto::UINT8,
            {static_cast<std::int64_t>(flags.size())}, flags);
}

DecodedUnroll Decode(const model::PolicySpec& spec, ContentTable& contents,
                     const proto::Unroll& unroll) {
  auto decoded = UnrollDecoder(spec, contents).Decode(unroll);
  INFO(decoded.status().message());
  REQUIRE(decoded.ok());
  return *std::move(decoded);
}

void RequireRefused(const model::PolicySpec& spec, ContentTable& contents,
                    const proto::Unroll& unroll, const std::string& name) {
  const auto decoded = UnrollDecoder(spec, contents).Decode(unroll);
  REQUIRE_FALSE(decoded.ok());
  INFO(decoded.status().message());
  REQUIRE(std::string(decoded.status().message()).find(name) != std::string::npos);
}

TEST_CASE("a sound unroll of a discrete policy decodes", "[decoder]") {
  ContentTable contents({.embedding_size = kEmbedding});
  const DecodedUnroll unroll = Decode(DiscreteSpec(), contents, MakeDiscrete(1));
  REQUIRE(unroll.length == 2);
  REQUIRE(unroll.observation == std::vector<float>{10, 11, 12, 13, 14, 15});
  REQUIRE(unroll.weight == std::vector<float>{1, 1});
  REQUIRE(unroll.acted[1] == parameters::Version{1, 5});
}

TEST_CASE("what a learner expects of unrolls is what it decodes", "[decoder]") {
  ContentTable contents({.embedding_size = kEmbedding});
  const std::string discrete = UnrollDecoder(DiscreteSpec(), contents).Signature();
  const proto::Unroll unroll = MakeDiscrete(1);
  std::set<std::string> columns;
  for (const proto::NamedTensor& column : unroll.step_columns()) columns.insert(column.name());
  const auto lines = std::count(discrete.begin(), discrete.end(), '\n');
  REQUIRE(lines > 0);
  for (std::string_view rest = discrete; !rest.empty(); rest.remove_prefix(rest.find('\n') + 1)) {
    REQUIRE(columns.contains(std::string(rest.substr(0, rest.find(' ')))));
  }
  REQUIRE(discrete.find("action INT64 []\n") != std::string::npos);
}

TEST_CASE("observations of every dtype are read as numbers, one after another", "[decoder]") {
  ContentTable contents({.embedding_size = kEmbedding});
  proto::Unroll unroll = MakeDiscrete(1);
  SetColumn<std::uint8_t>(Column(unroll, "observation/state"), "observation/pixels", proto::UINT8,
                          {3, 1}, {0, 200, 255});
  SetColumn<std::int64_t>(*unroll.add_step_columns(), "observation/count", proto::INT64, {3, 1},
                          {-1, 0, 1});
  REQUIRE(Decode(DiscreteSpec(), contents, unroll).observation ==
          std::vector<float>{0, -1, 200, 0, 255, 1});
}

TEST_CASE("a frame stays bytes, and what is no frame of its shape is refused", "[decoder]") {
  ContentTable contents({.embedding_size = kEmbedding});
  model::PolicySpec spec = DiscreteSpec();
  spec.convolution = "impala";
  spec.frame_shape = {1, 2, 1};
  REQUIRE(spec.Validate().ok());
  proto::Unroll unroll = MakeDiscrete(1);
  RequireRefused(spec, contents, unroll, "observation/state");
  proto::NamedTensor& frame = Column(unroll, "observation/state");
  const std::vector<std::uint8_t> pixels = {0, 200, 255, 1, 2, 3};
  SetColumn<std::uint8_t>(frame, "observation/pixels", proto::UINT8, {3, 1, 2, 1}, pixels);
  const DecodedUnroll decoded = Decode(spec, contents, unroll);
  REQUIRE(decoded.frames == pixels);
  REQUIRE(decoded.observation.empty());
  const std::vector<DecodedUnroll> two = {decoded, decoded};
  const algorithms::UnrollBatch batch = BuildBatch(spec, two, {1, 5}, 1);
  REQUIRE(batch.Validate(spec).ok());
  REQUIRE(batch.frames == std::vector<std::uint8_t>{0, 200, 0, 200, 255, 1, 255, 1, 2, 3, 2, 3});

  SetColumn<std::uint8_t>(frame, "observation/pixels", proto::UINT8, {3, 2, 1, 1}, pixels);
  RequireRefused(spec, contents, unroll, "observation/pixels");
  SetColumn<std::uint8_t>(frame, "observation/pixels", proto::UINT8, {3, 1, 2, 1}, pixels);
  SetColumn<std::uint8_t>(*unroll.add_step_columns(), "observation/more", proto::UINT8,
                          {3, 1, 2, 1}, pixels);
  RequireRefused(spec, contents, unroll, "observation/more: a second observation");
}

TEST_CASE("an unroll of another policy than the learner's is refused, naming both", "[decoder]") {
  ContentTable contents({.embedding_size = kEmbedding});
  proto::Unroll unroll = MakeDiscrete(1);
  REQUIRE(runtime::Message(UnrollDecoder(DiscreteSpec(), contents, 3).Decode(unroll).status()) ==
          "policy_id: policy 0 acted, this learner trains policy 3");
  SetColumn<std::int64_t>(*unroll.add_unroll_columns(), "policy_id", proto::INT64, {1}, {3});
  REQUIRE(UnrollDecoder(DiscreteSpec(), contents, 3).Decode(unroll).ok());
  REQUIRE_FALSE(UnrollDecoder(DiscreteSpec(), contents).Decode(unroll).ok());
}

TEST_CASE("the stored state of an LSTM is its output and its cells", "[decoder]") {
  ContentTable contents({.embedding_size = kEmbedding});
  model::PolicySpec spec = DiscreteSpec();
  spec.core = "lstm";
  spec.core_size = 2;
  proto::Unroll unroll = MakeDiscrete(1);
  proto::NamedTensor& state = *unroll.add_unroll_columns();
  SetColumn<float>(state, "core/state", proto::FLOAT32, {4}, {1, 2, 3, 4});
  REQUIRE(Decode(spec, contents, unroll).core_state == std::vector<float>{1, 2, 3, 4});
  SetColumn<float>(state, "core/state", proto::FLOAT32, {2}, {1, 2});
  REQUIRE(runtime::Message(UnrollDecoder(spec, contents).Decode(unroll).status()) ==
          "core: expected 4 numbers, got 2");
}

TEST_CASE("whatever a peer spoils costs its unroll and names the column", "[decoder]") {
  ContentTable contents({.embedding_size = kEmbedding});
  using Spoil = std::function<void(proto::Unroll&)>;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<std::pair<std::string, Spoil>> spoils = {
      {"length", [](proto::Unroll& u) { u.set_length(0); }},
      {"length", [](proto::Unroll& u) { u.set_length(4000000000U); }},
      {"action", [](proto::Unroll& u) { u.set_length(3); }},
      {"reward",
       [](proto::Unroll& u) { Column(u, "reward").mutable_tensor()->mutable_data()->pop_back(); }},
      {"reward",
       [](proto::Unroll& u) { Column(u, "reward").mutable_tensor()->set_dtype(proto::INT64); }},
      {"reward", [](proto::Unroll& u) { Column(u, "reward").mutable_tensor()->set_shape(0, -2); }},
      {"reward",
       [=](proto::Unroll& u) {
         SetColumn<float>(Column(u, "reward"), "reward", proto::FLOAT32, {2}, {0, nan});
       }},
      {"value", [](proto::Unroll& u) { Column(u, "value").set_name("values"); }},
      {"reward: twice", [](proto::Unroll& u) { *u.add_step_columns() = Column(u, "reward"); }},
      {"observation", [](proto::Unroll& u) { Column(u, "observation/state").set_name("x"); }},
      {"observation",
       [](proto::Unroll& u) {
         SetColumn<float>(Column(u, "observation/more"), "observation/more", proto::FLOAT32, {3, 1},
                          {1, 2, 3});
       }},
      {"flags",
       [](proto::Unroll& u) {
         SetFlags(u, {16, 0, 0});
       }},
      {"behaviour_log_probability",
       [](proto::Unroll& u) {
         SetColumn<float>(Column(u, "behaviour_log_probability"), "behaviour_log_probability",
                          proto::FLOAT32, {2}, {0.5F, 0});
       }},
      {"action: 3 of 3",
       [](proto::Unroll& u) {
         SetColumn<std::int64_t>(Column(u, "action"), "action", proto::INT64, {2}, {0, 3});
       }},
      {"action: -1 of 3",
       [](proto::Unroll& u) {
         SetColumn<std::int64_t>(Column(u, "action"), "action", proto::INT64, {2}, {-1, 0});
       }},
      {"illegal",
       [](proto::Unroll& u) {
         SetColumn<char>(Column(u, "legal"), "legal", proto::BOOL, {3, 3},
                         {1, 1, 1, 1, 0, 1, 1, 1, 1});
       }},
      {"legal", [](proto::Unroll& u) {
         SetColumn<char>(Column(u, "legal"), "legal", proto::BOOL, {3, 2}, {1, 1, 1, 1, 1, 1});
       }}};
  for (const auto& [name, spoil] : spoils) {
    proto::Unroll unroll = MakeDiscrete(1);
    spoil(unroll);
    RequireRefused(DiscreteSpec(), contents, unroll, name);
  }
}

TEST_CASE("final rows, forced rows and blind cuts carry no weight", "[decoder]") {
  ContentTable contents({.embedding_size = kEmbedding});
  proto::Unroll unroll = MakeDiscrete(1, 4);
  SetFlags(unroll, {kTruncated, kFinal, kFirst | kTruncated, kFirst, 0});
  SetColumn<std::int64_t>(Column(unroll, "action"), "action", proto::INT64, {4}, {1, -1, 1, 1});
  SetColumn<char>(Column(unroll, "forced"), "forced", proto::BOOL, {4}, {0, 0, 0, 1});
  const DecodedUnroll decoded = Decode(DiscreteSpec(), contents, unroll);
  REQUIRE(decoded.weight == std::vector<float>{1, 0, 0, 0});
  REQUIRE(decoded.steps == 1);
}

TEST_CASE("relabelled rows carry weight and are told apart", "[decoder]") {
  ContentTable contents({.embedding_size = kEmbedding});
  proto::Unroll unroll = MakeDiscrete(1, 3);
  REQUIRE(Decode(DiscreteSpec(), contents, unroll).relabelled == std::vector<std::uint8_t>(3));
  SetColumn<char>(Column(unroll, "relabelled"), "relabelled", proto::BOOL, {3}, {0, 1, 1});
  const DecodedUnroll decoded = Decode(DiscreteSpec(), contents, unroll);
  REQUIRE(decoded.relabelled == std::vector<std::uint8_t>{0, 1, 1});
  REQUIRE(decoded.steps == 3);
}

TEST_CASE("rows of burn-in carry no weight, unless they are new and an episode begins in them",
          "[decoder]") {
  ContentTable contents({.embedding_size = kEmbedding});
  const auto weights = [&contents](std::int64_t burn_in, const std::vector<std::uint8_t>& flags,
                                   std::int64_t overlap = 0) {
    proto::Unroll unroll = MakeDiscrete(1, 4);
    SetFlags(unroll, flags);
    SetColumn<std::int64_t>(*unroll.add_unroll_columns(), "overlap", proto::INT64, {1}, {overlap});
    const auto decoded = UnrollDecoder(DiscreteSpec(), contents, 0, burn_in).Decode(unroll);
    REQUIRE(decoded.ok());
    REQUIRE(decoded->steps == std::count(decoded->weight.begin(), decoded->weight.end(), 1.0F));
    return decoded->weight;
  };
  REQUIRE(weights(2, {0, 0, 0, 0, 0}) == std::vector<float>{0, 0, 1, 1});
  REQUIRE(weights(2, {kFirst, 0, 0, 0, 0}) == std::vector<float>{1, 1, 1, 1});
  REQUIRE(weights(3, {0, kFirst, 0, 0, 0}) == std::vector<float>{0, 1, 1, 1});
  REQUIRE(weights(9, {0, 0, 0, 0, kFirst}) == std::vector<float>{0, 0, 0, 0});
  // The unroll before has the first two rows, which were learned from there.
  REQUIRE(weights(2, {kFirst, 0, 0, 0, 0}, 2) == std::vector<float>{0, 0, 1, 1});
  REQUIRE(weights(3, {kFirst, 0, 0, 0, 0}, 2) == std::vector<float>{0, 0, 1, 1});
  REQUIRE(weights(0, {kFirst, 0, 0, 0, 0}, 2) == std::vector<float>{1, 1, 1, 1});
}

TEST_CASE("an overlap that the unroll cannot have is refused", "[decoder]") {
  ContentTable contents({.embedding_size = kEmbedding});
  proto::Unroll unroll = MakeDiscrete(1, 4);
  proto::NamedTensor& overlap = *unroll.add_unroll_columns();
  SetColumn<std::int64_t>(overlap, "overlap", proto::INT64, {1}, {4});
  REQUIRE(Decode(DiscreteSpec(), contents, unroll).overlap == 4);
  for (const std::int64_t bad : {std::int64_t{-1}, std::int64_t{5}}) {
    SetColumn<std::int64_t>(overlap, "overlap", proto::INT64, {1}, {bad});
    RequireRefused(DiscreteSpec(), contents, unroll, "overlap");
  }
}

TEST_CASE("an unroll of candidates needs its contents and its catalog", "[decoder]") {
  ContentTable contents({.embedding_size = kEmbedding});
  const model::PolicySpec spec = CandidateSpec();
  RequireRefused(spec, contents, MakeCandidates(1), "content " + KeyOf("goal").ToHex());
  AddEmbeddings(contents, {"goal"});
  RequireRefused(spec, contents, MakeCandidates(1), "catalog " + KeyOf("catalog").ToHex());
  AddCatalog(contents);
  const DecodedUnroll unroll = Decode(spec, contents, MakeCandidates(1));
  REQUIRE(unroll.content_index == std::vector<std::int32_t>{0, -1, 0, -1, 0, -1});
  REQUIRE(unroll.tables.size() == 1);
  REQUIRE(unroll.tables[0]->size() == 3);

  proto::Unroll other = MakeCandidates(1);
  other.set_encoder_version("encoder-2");
  RequireRefused(spec, contents, other, "content");
  proto::Unroll beyond = MakeCandidates(1);
  SetColumn<std::int32_t>(Column(beyond, "catalog"), "catalog", proto::INT32, {3}, {0, 1, 0});
  RequireRefused(spec, contents, beyond, "catalog: 1 of 1");
}

TEST_CASE("marks of candidates decode row by row and follow their rows into a batch", "[decoder]") {
  ContentTable contents({.embedding_size = kEmbedding});
  AddCatalog(contents);
  AddEmbeddings(contents, {"goal"});
  model::PolicySpec spec = CandidateSpec();
  spec.candidate_marks = 2;
  const auto marked =
      [](std::uint64_t environment, std::int64_t length, const std::vector<std::int32_t>& counts,
         const std::vector<std::int32_t>& candidates, const std::vector<std::int32_t>& bits) {
        proto::Unroll unroll = MakeCandidates(environment, length);
        const auto add = [&](const std::string& name, const std::vector<std::int32_t>& values) {
          SetColumn(*unroll.add_unroll_columns(), name, proto::INT32,
                    {static_cast<std::int64_t>(values.size())}, values);
        };
        add("marks/count", counts);
        add("marks/candidate", candidates);
        add("marks/bits", bits);
        return unroll;
      };
  const std::vector<DecodedUnroll> unrolls = {
      Decode(spec, contents, marked(1, 2, {1, 0, 2}, {2, 0, 1}, {3, 1, 2})),
      Decode(spec, contents, marked(2, 1, {0, 1}, {1}, {1}))};
  REQUIRE(unrolls[0].marks.Row(2)[1] == model::CandidateMark{1, 2});
  const algorithms::UnrollBatch batch = BuildBatch(spec, unrolls, {1, 5}, 0);
  REQUIRE(batch.Validate(spec).ok());
  REQUIRE(batch.marks.rows() == 6);
  REQUIRE(batch.marks.Row(0)[0] == model::CandidateMark{2, 3});
  REQUIRE(batch.marks.Row(1).empty());
  REQUIRE(batch.marks.Row(3)[0] == model::CandidateMark{1, 1});
  REQUIRE(batch.marks.Row(4).size() == 2);
  REQUIRE(batch.marks.Row(5).empty());

  RequireRefused(spec, contents, MakeCandidates(1), "marks/count");
  RequireRefused(spec, contents, marked(1, 2, {1, 0, 0}, {3}, {1}), "marks");
  RequireRefused(spec, contents, marked(1, 2, {1, 0, 0}, {-1}, {1}), "marks");
  RequireRefused(spec, contents, marked(1, 2, {1, 0, 0}, {0}, {4}), "marks");
  RequireRefused(spec, contents, marked(1, 2, {2, 0, 0}, {1, 0}, {1, 1}), "marks");
  RequireRefused(spec, contents, marked(1, 2, {2, 0, -1}, {0}, {1}), "marks/count");
  RequireRefused(spec, contents, marked(1, 2, {2, 0, 0}, {0}, {1}), "marks/candidate");
}

TEST_CASE("an overlay's removed candidates are illegal and its own are appended", "[contents]") {
  ContentTable contents({.embedding_size = kEmbedding});
  AddCatalog(contents);
  AddEmbeddings(contents, {"d"});
  proto::Overlay overlay;
  overlay.set_key(std::string(KeyOf("overlay").AsBytes()));
  overlay.set_base(std::string(KeyOf("catalog").AsBytes()));
  overlay.add_removed(1);
  overlay.set_appended_keys(std::string(KeyOf("d").AsBytes()));
  contents.AddOverlay(overlay);
  const auto table = contents.Table(kEncoder, KeyOf("overlay"));
  REQUIRE(table.ok());
  REQUIRE((*table)->size() == 4);
  REQUIRE_FALSE((*table)->legal(1));
  REQUIRE((*table)->legal(3));
  REQUIRE((*contents.Table(kEncoder, KeyOf("overlay"))).get() == table->get());
}

// The bound in which a table keeps `number` contents, and lists of `number` candidates.
std::size_t BytesOf(std::size_t number) {
  return 3 * number * ContentTable::ContentBytes(kEmbedding);
}

TEST_CASE("contents leave past the limit and candidates of a catalog do not", "[contents]") {
  ContentTable contents({.embedding_size = kEmbedding, .max_bytes = BytesOf(3)});
  AddCatalog(contents);
  for (const char* text : {"p", "q", "r"}) AddEmbeddings(contents, {text});
  REQUIRE(contents.Find(kEncoder, KeyOf("p")) != nullptr);
  AddEmbeddings(contents, {"s"});
  REQUIRE(contents.Find(kEncoder, KeyOf("q")) == nullptr);
  REQUIRE(contents.Find(kEncoder, KeyOf("p")) != nullptr);
  REQUIRE(contents.Find(kEncoder, KeyOf("a")) != nullptr);
  REQUIRE(contents.size() == 6);
}

TEST_CASE("contents that left are named once, so that shards give them again", "[contents]") {
  ContentTable contents({.embedding_size = kEmbedding, .max_bytes = BytesOf(2)});
  for (const char* text : {"p", "q", "r", "s"}) AddEmbeddings(contents, {text});
  REQUIRE(contents.TakeForgotten() == std::vector<content::ContentKey>{KeyOf("p"), KeyOf("q")});
  REQUIRE(contents.TakeForgotten().empty());
  AddEmbeddings(contents, {"p"});
  REQUIRE(contents.Find(kEncoder, KeyOf("p")) != nullptr);
}

proto::Catalog NumberedCatalog(int number) {
  proto::Catalog catalog;
  catalog.set_key(std::string(KeyOf("catalog " + std::to_string(number)).AsBytes()));
  catalog.set_candidate_keys(std::string(KeyOf("candidate " + std::to_string(number)).AsBytes()) +
                             std::string(KeyOf("shared").AsBytes()));
  return catalog;
}

TEST_CASE("catalogs and overlays leave past the limit, oldest first, then their candidates",
          "[contents]") {
  ContentTable contents({.embedding_size = kEmbedding, .max_bytes = BytesOf(30)});
  AddEmbeddings(contents, {"shared"});
  for (int i = 0; i < 1000; ++i) {
    const std::string number = std::to_string(i);
    AddEmbeddings(contents, {"candidate " + number, "appended " + number});
    contents.AddCatalog(NumberedCatalog(i));
    proto::Overlay overlay;
    overlay.set_key(std::string(KeyOf("overlay " + number).AsBytes()));
    overlay.set_base(std::string(KeyOf("catalog " + number).AsBytes()));
    overlay.set_appended_keys(std::string(KeyOf("appended " + number).AsBytes()));
    contents.AddOverlay(overlay);
    REQUIRE(contents.Table(kEncoder, KeyOf("overlay " + number)).ok());
    REQUIRE(contents.Table(kEncoder, KeyOf("catalog 0")).ok());
    // A catalog and its overlay count as five; thirty contents are kept besides candidates.
    REQUIRE(contents.lists() <= 13);
    REQUIRE(contents.size() <= 30 + 30);
  }
  const auto forgotten = contents.TakeForgotten();
  const auto named = [&forgotten](const std::string& text) {
    return std::find(forgotten.begin(), forgotten.end(), KeyOf(text)) - forgotten.begin();
  };
  REQUIRE(named("overlay 1") < named("catalog 1"));
  REQUIRE(named("catalog 1") < named("candidate 1"));
  REQUIRE(named("candidate 1") < static_cast<std::ptrdiff_t>(forgotten.size()));
  REQUIRE(named("catalog 0") == static_cast<std::ptrdiff_t>(forgotten.size()));
  REQUIRE(named("shared") == static_cast<std::ptrdiff_t>(forgotten.size()));
}

TEST_CASE("tables of candidates leave past the limit, least recently used first", "[contents]") {
  const auto remade = [](std::size_t max_bytes) {
    ContentTable contents({.embedding_size = kEmbedding, .max_bytes = max_bytes});
    AddEmbeddings(contents, {"shared"});
    const auto id_of = [&contents](int number) {
      AddEmbeddings(contents, {"candidate " + std::to_string(number)});
      contents.AddCatalog(NumberedCatalog(number));
      const auto table = contents.Table(kEncoder, KeyOf("catalog " + std::to_string(number)));
      REQUIRE(table.ok());
      return (*table)->id();
    };
    const std::uint64_t first = id_of(0);
    for (int number = 1; number < 200; ++number) id_of(number);
    return id_of(0) != first;
  };
  REQUIRE(remade(BytesOf(5)));
  REQUIRE_FALSE(remade(BytesOf(1000)));
}

TEST_CASE("tables leave many at a time, as each time all are counted", "[contents]") {
  ContentTable contents({.embedding_size = kEmbedding, .max_bytes = BytesOf(1000)});
  AddEmbeddings(contents, {"shared"});
  std::vector<std::weak_ptr<const model::CandidateTable>> made;
  std::ptrdiff_t before = 0;
  int times = 0;
  for (int number = 0; number < 1000; ++number) {
    AddEmbeddings(contents, {"candidate " + std::to_string(number)});
    contents.AddCatalog(NumberedCatalog(number));
    made.push_back(*contents.Table(kEncoder, KeyOf("catalog " + std::to_string(number))));
    const auto kept =
        std::count_if(made.begin(), made.end(), [](const auto& table) { return !table.expired(); });
    const std::ptrdiff_t gone = before + 1 - kept;
    REQUIRE((gone == 0 || gone > before / 10));
    times += gone > 0 ? 1 : 0;
    before = kept;
  }
  REQUIRE(times > 1);
}

TEST_CASE("a catalog that lacks a candidate is named, so that it comes again with all of them",
          "[contents]") {
  ContentTable contents({.embedding_size = kEmbedding});
  AddEmbeddings(contents, {"candidate 1"});
  contents.AddCatalog(NumberedCatalog(1));
  REQUIRE(absl::IsNotFound(contents.Table(kEncoder, KeyOf("catalog 1")).status()));
  REQUIRE(contents.TakeForgotten() == std::vector<content::ContentKey>{KeyOf("catalog 1")});
  AddEmbeddings(contents, {"candidate 1", "shared"});
  contents.AddCatalog(NumberedCatalog(1));
  REQUIRE(contents.Table(kEncoder, KeyOf("catalog 1")).ok());
}

TEST_CASE("malformed contents are ignored and counted", "[contents]") {
  ContentTable contents({.embedding_size = kEmbedding});
  proto::Embeddings embeddings;
  embeddings.set_keys("short");
  contents.AddEmbeddings(embeddings);
  proto::Catalog catalog;
  catalog.set_key("short");
  contents.AddCatalog(catalog);
  contents.AddOverlay({});
  REQUIRE(contents.ignored_total() == 3);
  REQUIRE(contents.size() == 0);
}

TEST_CASE("a batch pads shorter unrolls and holds each content and catalog once", "[batch]") {
  ContentTable contents({.embedding_size = kEmbedding});
  AddCatalog(contents);
  AddEmbeddings(contents, {"goal"});
  const model::PolicySpec spec = CandidateSpec();
  const std::vector<DecodedUnroll> unrolls = {Decode(spec, contents, MakeCandidates(1, 1)),
                                              Decode(spec, contents, MakeCandidates(2, 3))};
  const auto batch = BuildBatch(spec, unrolls, {1, 7}, 0);
  REQUIRE(batch.Validate(spec).ok());
  REQUIRE(batch.length == 3);
  REQUIRE(batch.columns == 2);
  REQUIRE(batch.tables.size() == 1);
  REQUIRE(batch.embeddings.size() == static_cast<std::size_t>(kEmbedding));
  REQUIRE(batch.weight == std::vector<float>{1, 1, 0, 1, 0, 1});
  REQUIRE(batch.staleness == std::vector<std::int64_t>{2, 2, 0, 2, 0, 2});
  REQUIRE(batch.observation[0] == 10);
  REQUIRE(batch.observation[2] == 20);
  REQUIRE(batch.observation[4 * 2 + 2] == 24);  // row 2 of the second
}

TEST_CASE("a batch of masked and unmasked unrolls masks the one alone", "[batch]") {
  ContentTable contents({.embedding_size = kEmbedding});
  proto::Unroll masked = MakeDiscrete(1, 1);
  SetColumn<char>(Column(masked, "legal"), "legal", proto::BOOL, {2, 3}, {0, 1, 0, 1, 1, 1});
  const model::PolicySpec spec = DiscreteSpec();
  const std::vector<DecodedUnroll> unrolls = {Decode(spec, contents, masked),
                                              Decode(spec, contents, MakeDiscrete(2, 1))};
  const auto batch = BuildBatch(spec, unrolls, {1, 5}, 0);
  REQUIRE(batch.Validate(spec).ok());
  REQUIRE(batch.legal == std::vector<std::uint8_t>{0, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1});
  REQUIRE(BuildBatch(spec, {}, {1, 5}, 0).columns == 0);
}

TEST_CASE("an episode's return adds up over unrolls from its first row on", "[returns]") {
  ContentTable contents({.embedding_size = kEmbedding});
  proto::Unroll begin = MakeDiscrete(1);
  SetFlags(begin, {kFirst, 0, 0});
  proto::Unroll end = MakeDiscrete(1);
  end.mutable_id()->set_first_sequence(2);
  SetFlags(end, {0, kTerminated, kFirst});
  proto::Unroll headless = MakeDiscrete(2);
  SetFlags(headless, {0, kTerminated, kFirst});
  EpisodeReturns returns;
  const model::PolicySpec spec = DiscreteSpec();
  const std::vector<DecodedUnroll> first = {Decode(spec, contents, begin)};
  REQUIRE(returns.Add(first).episodes == 0);
  const std::vector<DecodedUnroll> second = {Decode(spec, contents, headless),
                                             Decode(spec, contents, end)};
  const EpisodeSummary summary = returns.Add(second);
  REQUIRE(summary.episodes == 1);
  REQUIRE(summary.mean_return == 4);
  REQUIRE(summary.mean_length == 4);
}

TEST_CASE("an episode without a last observation is lost, and one that was cut off with it is not",
          "[returns]") {
  ContentTable contents({.embedding_size = kEmbedding});
  proto::Unroll unroll = MakeDiscrete(1, 8);
  SetFlags(unroll,
           {kFirst, kTruncated, kFirst, kTruncated, kFinal, kFirst, kTerminated, kFirst, 0});
  EpisodeReturns returns;
  const std::vector<DecodedUnroll> unrolls = {Decode(DiscreteSpec(), contents, unroll)};
  const EpisodeSummary summary = returns.Add(unrolls);
  REQUIRE(summary.lost == 1);
  REQUIRE(summary.episodes == 2);
}

TEST_CASE("episodes that were told again under another goal have no return", "[returns]") {
  ContentTable contents({.embedding_size = kEmbedding});
  proto::Unroll unroll = MakeDiscrete(1, 4);
  SetFlags(unroll, {kFirst, kTerminated, kFirst, kTerminated, 0});
  SetColumn<char>(Column(unroll, "relabelled"), "relabelled", proto::BOOL, {4}, {0, 0, 1, 1});
  EpisodeReturns returns;
  const std::vector<DecodedUnroll> unrolls = {Decode(DiscreteSpec(), contents, unroll)};
  REQUIRE(returns.Add(unrolls).episodes == 1);
}

TEST_CASE("rows that unrolls have in common count once in an episode's return", "[returns]") {
  ContentTable contents({.embedding_size = kEmbedding});
  const model::PolicySpec spec = DiscreteSpec();
  const auto part = [&](std::uint64_t first, std::int64_t overlap,
                        const std::vector<std::uint8_t>& flags) {
    proto::Unroll unroll = MakeDiscrete(1, 4);
    unroll.mutable_id()->set_first_sequence(first);
    SetFlags(unroll, flags);
    SetColumn<std::int64_t>(*unroll.add_unroll_columns(), "overlap", proto::INT64, {1}, {overlap});
    return Decode(spec, contents, unroll);
  };
  EpisodeReturns returns;
  const std::vector<DecodedUnroll> unrolls = {part(0, 0, {kFirst, 0, 0, 0, 0}),
                                              part(2, 2, {0, 0, 0, 0, 0}),
                                              part(5, 1, {0, kTerminated, kFirst, 0, 0}),
                                              // It begins where the episode does, and once more.
                                              part(8, 2, {kFirst, 0, 0, kTerminated, 0})};
  const EpisodeSummary summary = returns.Add(unrolls);
  REQUIRE(summary.episodes == 2);
  // Seven rows, and four; each has a reward of 1.
  REQUIRE(summary.mean_length == 5.5);
  REQUIRE(summary.mean_return == 5.5);
}

TEST_CASE("points of a box decode as floats in [-1, 1], whose log-density may be above 0",
          "[decoder]") {
  model::PolicySpec spec = DiscreteSpec();
  spec.head = "box";
  spec.action_count = 2;
  spec.twin_critics = true;
  ContentTable contents({.embedding_size = kEmbedding});
  REQUIRE(UnrollDecoder(spec, contents).Signature().starts_with("action FLOAT32 [2]\n"));
  proto::Unroll unroll = MakeDiscrete(1);
  RequireRefused(spec, contents, unroll, "action");
  const std::vector<float> points = {0.5F, -1, 1, 0};
  SetColumn(Column(unroll, "action"), "action", proto::FLOAT32, {2, 2}, points);
  SetColumn(Column(unroll, "behaviour_log_probability"), "behaviour_log_probability",
            proto::FLOAT32, {2}, std::vector<float>{2, -3});
  const DecodedUnroll decoded = Decode(spec, contents, unroll);
  REQUIRE(decoded.box_action == points);
  const std::vector<DecodedUnroll> both = {decoded, decoded};
  const algorithms::UnrollBatch batch = BuildBatch(spec, both, {1, 5}, 0.4);
  REQUIRE(batch.Validate(spec).ok());
  REQUIRE(batch.box_action == std::vector<float>{0.5F, -1, 0.5F, -1, 1, 0, 1, 0});
  for (const float outside : {1.5F, std::numeric_limits<float>::quiet_NaN()}) {
    SetColumn(Column(unroll, "action"), "action", proto::FLOAT32, {2, 2},
              std::vector<float>{0, outside, 0, 0});
    RequireRefused(spec, contents, unroll, "action");
  }
}

TEST_CASE("points that a Gaussian drew may lie outside of the box, but are finite", "[decoder]") {
  model::PolicySpec spec = DiscreteSpec();
  spec.head = "gaussian";
  spec.action_count = 2;
  ContentTable contents({.embedding_size = kEmbedding});
  proto::Unroll unroll = MakeDiscrete(1);
  const std::vector<float> points = {0.5F, -1.5F, 3, 0};
  SetColumn(Column(unroll, "action"), "action", proto::FLOAT32, {2, 2}, points);
  const DecodedUnroll decoded = Decode(spec, contents, unroll);
  REQUIRE(decoded.box_action == points);
  REQUIRE(BuildBatch(spec, std::vector<DecodedUnroll>{decoded}, {1, 5}, 0.4).Validate(spec).ok());
  SetColumn(Column(unroll, "action"), "action", proto::FLOAT32, {2, 2},
            std::vector<float>{0, std::numeric_limits<float>::infinity(), 0, 0});
  RequireRefused(spec, contents, unroll, "action");
}

}  // namespace
}  // namespace shoal::learner
