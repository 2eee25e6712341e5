// SPDX-License-Identifier: Apache-2.0
#include "inference/service/rows_decoder.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <span>

#include "inference/service/act_stream.h"
#include "inference/service/unroll_item.h"
#include "inference/service/unroll_signature.h"
#include "platform/transport/wire_tensor.h"
#include "replay/signature.h"
#include "tests/inference/core/row_maker.h"

namespace shoal::inference {
namespace {

const PolicyShape kShape = testing::PlainShape();

// Returns two valid rows.
proto::Rows TwoRows() {
  proto::Rows rows;
  for (std::uint64_t i = 0; i < 2; ++i) {
    rows.add_environment_ids(10 + i);
    rows.add_incarnations(1);
    rows.add_sequences(i);
    rows.add_episode_ids(0);
    rows.add_modes(proto::ROW_MODE_TRAIN);
    rows.add_rewards(0.5F);
    rows.add_flags(proto::ROW_FLAG_FIRST);
  }
  proto::NamedTensor& tensor = *rows.add_observations();
  tensor.set_name("x");
  const std::vector<float> values = {1, 2};
  transport::ToWire(runtime::Tensor::Of<float>({2, 1}, values), *tensor.mutable_tensor());
  return rows;
}

std::shared_ptr<RowBlock> Decode(const proto::Rows& rows, const PolicyShape& shape = kShape) {
  const auto block = DecodeRows(rows, testing::PlainLayout(), shape, runtime::TimePoint{});
  REQUIRE(block.ok());
  return *block;
}

std::string ErrorOfAll(const proto::Rows& rows) {
  const auto block = Decode(rows);
  REQUIRE(block->errors.size() == 2);
  REQUIRE(block->errors[0] == block->errors[1]);
  return block->errors[0];
}

std::string ErrorOfSecond(const proto::Rows& rows) {
  const auto block = Decode(rows);
  REQUIRE(block->errors.size() == 2);
  REQUIRE(block->errors[0].empty());
  return block->errors[1];
}

TEST_CASE("Good rows are decoded") {
  const auto block = Decode(TwoRows());
  REQUIRE(block->errors.empty());
  REQUIRE(block->environments == std::vector<std::uint64_t>{10, 11});
  std::vector<float> observations(2);
  runtime::ToFloats(runtime::DType::kFloat32, std::as_bytes(std::span(block->observations)),
                    observations);
  REQUIRE(observations == std::vector<float>{1, 2});
  REQUIRE(block->rewards == std::vector<float>{0.5F, 0.5F});
}

TEST_CASE("A tensor of a wrong shape or byte count is every row's error, by name") {
  proto::Rows rows = TwoRows();
  rows.mutable_observations(0)->mutable_tensor()->set_shape(1, 2);
  REQUIRE(ErrorOfAll(rows) == "observation x: float32 [2, 2] needs 16 bytes, got 8");
  rows = TwoRows();
  rows.mutable_observations(0)->mutable_tensor()->set_dtype(proto::INT32);
  REQUIRE(ErrorOfAll(rows) == "observation x: expected float32 [2, 1], got int32 [2, 1]");
  rows = TwoRows();
  rows.mutable_observations(0)->set_name("y");
  REQUIRE(ErrorOfAll(rows) == "observation x is missing");
  rows = TwoRows();
  const std::vector<float> forced = {1, 0};
  transport::ToWire(runtime::Tensor::Of<float>({2}, forced), *rows.mutable_forced_actions());
  REQUIRE(ErrorOfAll(rows) == "forced_actions: expected int64 [2], got float32 [2]");
  rows = TwoRows();
  rows.add_policy_ids(0);
  REQUIRE(ErrorOfAll(rows) == "policy_ids: 1 entries for 2 rows");
  rows = TwoRows();
  rows.add_flags(0);
  REQUIRE(ErrorOfAll(rows) == "flags: 3 entries for 2 rows");
}

TEST_CASE("What is wrong with one row is that row's error") {
  proto::Rows rows = TwoRows();
  rows.set_rewards(1, std::numeric_limits<float>::quiet_NaN());
  REQUIRE(ErrorOfSecond(rows) == "rewards: not a finite number");
  rows = TwoRows();
  rows.set_flags(1, proto::ROW_FLAG_FINAL);
  REQUIRE(ErrorOfSecond(rows) == "flags: 8 is no combination of row flags");
  rows = TwoRows();
  rows.set_flags(1, proto::ROW_FLAG_TERMINATED | proto::ROW_FLAG_TRUNCATED);
  REQUIRE(!ErrorOfSecond(rows).empty());
  rows = TwoRows();
  const std::vector<float> values = {1, std::numeric_limits<float>::infinity()};
  transport::ToWire(runtime::Tensor::Of<float>({2, 1}, values),
                    *rows.mutable_observations(0)->mutable_tensor());
  REQUIRE(ErrorOfSecond(rows) == "observation x: a number is not finite");
  rows = TwoRows();
  const std::vector<std::int64_t> forced = {1, 2};
  transport::ToWire(runtime::Tensor::Of<std::int64_t>({2}, forced), *rows.mutable_forced_actions());
  REQUIRE(ErrorOfSecond(rows) == "forced_actions: there is no action 2");
  rows = TwoRows();
  rows.add_policy_ids(0);
  rows.add_policy_ids(3);
  REQUIRE(ErrorOfSecond(rows) == "policy_ids: the row is for policy 3, this server runs policy 0");
  rows = TwoRows();
  rows.add_policy_indices(0);
  rows.add_policy_indices(4);
  rows.add_policies()->set_uniform(true);
  REQUIRE(ErrorOfSecond(rows) == "policy_indices: index 4 of 1 policies");
}

TEST_CASE("A relabelled row has an action that was taken, and a policy of action values") {
  PolicyShape shape = kShape;
  shape.action_values = true;
  proto::Rows rows = TwoRows();
  rows.set_modes(1, proto::ROW_MODE_RELABELLED);
  REQUIRE(Decode(rows, shape)->errors[1] == "forced_actions: a relabelled row has none");
  const std::vector<std::int64_t> forced = {-1, 1};
  transport::ToWire(runtime::Tensor::Of<std::int64_t>({2}, forced), *rows.mutable_forced_actions());
  const auto block = Decode(rows, shape);
  REQUIRE(block->errors.empty());
  REQUIRE_FALSE(Row{block, 0}.relabelled());
  REQUIRE(Row{block, 1}.relabelled());
  REQUIRE(ErrorOfSecond(rows) == "modes: relabelled rows need a policy of action values");
  // An end row takes no action.
  rows.clear_forced_actions();
  rows.set_flags(1, proto::ROW_FLAG_TERMINATED);
  REQUIRE(Decode(rows, shape)->errors.empty());
}

TEST_CASE("Rows without policy ids are for policy 0") {
  PolicyShape shape = kShape;
  shape.policy_id = 3;
  REQUIRE(Decode(TwoRows(), shape)->errors[0] ==
          "policy_ids: the row is for policy 0, this server runs policy 3");
  proto::Rows rows = TwoRows();
  rows.add_policy_ids(3);
  rows.add_policy_ids(3);
  REQUIRE(Decode(rows, shape)->errors.empty());
}

TEST_CASE("Observations of every dtype are taken as they are, and must be finite for the policy") {
  for (int dtype = 1; dtype <= 9; ++dtype) {
    auto layout = std::make_shared<RowLayout>(*testing::PlainLayout());
    RowColumn& column = layout->observations[0];
    column.dtype = static_cast<runtime::DType>(dtype);
    INFO(runtime::Name(column.dtype));
    column.bytes = layout->observation_bytes = runtime::SizeOf(column.dtype);
    proto::Rows rows = TwoRows();
    runtime::Tensor tensor(column.dtype, {2, 1});
    const std::vector<float> values = {1, 0};
    runtime::FromFloats(values, column.dtype, tensor.mutable_bytes());
    transport::ToWire(tensor, *rows.mutable_observations(0)->mutable_tensor());
    const auto block = DecodeRows(rows, layout, kShape, runtime::TimePoint{});
    REQUIRE((*block)->errors.empty());
    REQUIRE(std::ranges::equal(std::as_bytes(std::span((*block)->observations)), tensor.bytes()));
    if (dtype > 4) continue;
    const std::vector<float> bad = {1, std::numeric_limits<float>::infinity()};
    runtime::FromFloats(bad, column.dtype, tensor.mutable_bytes());
    transport::ToWire(tensor, *rows.mutable_observations(0)->mutable_tensor());
    const auto refused = DecodeRows(rows, layout, kShape, runtime::TimePoint{});
    REQUIRE((*refused)->errors[1] == "observation x: a number is not finite");
  }
}

TEST_CASE("Marks of candidates are decoded row by row, and a row with bad ones is refused") {
  PolicyShape shape = kShape;
  shape.candidates = true;
  shape.candidate_marks = 3;
  proto::Rows rows = TwoRows();
  rows.add_catalog_keys(std::string(16, 'k'));
  rows.add_catalogs(0);
  rows.add_catalogs(0);
  REQUIRE(Row{Decode(rows, shape), 1}.marks().empty());
  proto::CandidateMarks& marks = *rows.mutable_marks();
  const auto set = [&](std::vector<std::uint32_t> counts, std::vector<std::uint32_t> candidates,
                       std::vector<std::uint32_t> bits) {
    marks.mutable_counts()->Assign(counts.begin(), counts.end());
    marks.mutable_candidates()->Assign(candidates.begin(), candidates.end());
    marks.mutable_bits()->Assign(bits.begin(), bits.end());
    return Decode(rows, shape);
  };
  const auto good = set({1, 2}, {4, 2, 9}, {1, 7, 2});
  REQUIRE(good->errors.empty());
  REQUIRE(Row{good, 0}.marks().size() == 1);
  REQUIRE(Row{good, 1}.marks()[1] == model::CandidateMark{9, 2});
  for (const auto& bad : {set({0, 2}, {9, 2}, {1, 1}), set({0, 1}, {2}, {8})}) {
    REQUIRE(bad->errors[0].empty());
    REQUIRE(bad->errors[1].find("marks") != std::string::npos);
  }
  for (const auto& bad :
       {set({1}, {4}, {1}), set({1, 1}, {4}, {1}), set({1, 0}, {4}, {}),
        set({5000, 0}, std::vector<std::uint32_t>(5000), std::vector<std::uint32_t>(5000))}) {
    REQUIRE(bad->errors[0].find("marks") != std::string::npos);
    REQUIRE(bad->errors[1] == bad->errors[0]);
  }
}

TEST_CASE("A row without a legal action is refused") {
  proto::Rows rows = TwoRows();
  proto::Tensor& legal = *rows.mutable_legal();
  legal.set_dtype(proto::BOOL);
  legal.add_shape(2);
  legal.add_shape(2);
  legal.set_data(std::string("\x01\x00\x00\x00", 4));
  REQUIRE(ErrorOfSecond(rows) == "legal: no action is legal");
}

TEST_CASE("The only observation is taken from the message and not copied") {
  auto layout = std::make_shared<RowLayout>(*testing::PlainLayout());
  RowColumn& column = layout->observations[0];
  column.shape = {40};
  column.elements = 40;
  column.bytes = layout->observation_bytes = 40 * sizeof(float);
  layout->observation_size = 40;
  proto::Rows rows = TwoRows();
  const std::vector<float> values(80, 0.5F);
  transport::ToWire(runtime::Tensor::Of<float>({2, 40}, values),
                    *rows.mutable_observations(0)->mutable_tensor());
  const char* const bytes = rows.observations(0).tensor().data().data();
  PolicyShape shape = kShape;
  shape.observation_size = 40;
  const auto block = DecodeRows(std::move(rows), layout, shape, {});
  REQUIRE(block.ok());
  REQUIRE((*block)->errors.empty());
  REQUIRE((*block)->observations.data() == bytes);
  REQUIRE((*block)->observations.size() == 80 * sizeof(float));
}

TEST_CASE("Several observations lie side by side in each row") {
  auto layout = std::make_shared<RowLayout>(*testing::PlainLayout());
  layout->observations.push_back({"y", runtime::DType::kUInt8, {2}, 2, 2});
  layout->observation_size = 3;
  layout->observation_bytes = 6;
  proto::Rows rows = TwoRows();
  proto::NamedTensor& second = *rows.add_observations();
  second.set_name("y");
  const std::vector<std::uint8_t> values = {1, 2, 3, 4};
  transport::ToWire(runtime::Tensor::Of<std::uint8_t>({2, 2}, values), *second.mutable_tensor());
  PolicyShape shape = kShape;
  shape.observation_size = 3;
  const auto block = DecodeRows(rows, layout, shape, {});
  REQUIRE(block.ok());
  REQUIRE((*block)->errors.empty());
  const std::string first = rows.observations(0).tensor().data();
  REQUIRE((*block)->observations == first.substr(0, 4) + "\1\2" + first.substr(4) + "\3\4");
}

TEST_CASE("Nothing is reserved for extras before their tensors are seen") {
  auto layout = std::make_shared<RowLayout>(*testing::PlainLayout());
  constexpr std::size_t kHuge = std::size_t{1} << 50;
  layout->extras = {{"e", runtime::DType::kUInt8, {std::int64_t{1} << 50}, kHuge, kHuge}};
  layout->extras_bytes = kHuge;
  const auto block = DecodeRows(TwoRows(), layout, kShape, {});
  REQUIRE(block.ok());
  REQUIRE((*block)->errors[0] == "extra e is missing");
  REQUIRE((*block)->extras.empty());
}

TEST_CASE("Extras lie side by side in a row") {
  auto layout = std::make_shared<RowLayout>(*testing::PlainLayout());
  layout->extras = {{"a", runtime::DType::kUInt8, {1}, 1, 1},
                    {"b", runtime::DType::kUInt8, {2}, 2, 2}};
  layout->extras_bytes = 3;
  proto::Rows rows = TwoRows();
  const auto add = [&rows](const std::string& name, std::int64_t width, const std::string& data) {
    proto::NamedTensor& extra = *rows.add_extras();
    extra.set_name(name);
    extra.mutable_tensor()->set_dtype(proto::UINT8);
    extra.mutable_tensor()->add_shape(2);
    extra.mutable_tensor()->add_shape(width);
    extra.mutable_tensor()->set_data(data);
  };
  add("b", 2, "BBbb");
  add("a", 1, "Aa");
  const auto block = DecodeRows(rows, layout, kShape, {});
  REQUIRE(block.ok());
  REQUIRE((*block)->errors.empty());
  const auto* text = reinterpret_cast<const char*>((*block)->extras.data());
  REQUIRE(std::string(text, (*block)->extras.size()) == "ABBabb");
}

TEST_CASE("Rows that cannot be named are refused as a message") {
  proto::Rows rows = TwoRows();
  rows.add_sequences(7);
  REQUIRE(absl::IsInvalidArgument(DecodeRows(rows, testing::PlainLayout(), kShape, {}).status()));
  REQUIRE(absl::IsInvalidArgument(
      DecodeRows(proto::Rows(), testing::PlainLayout(), kShape, {}).status()));
}

TEST_CASE("Content keys must be 16 bytes a row") {
  PolicyShape shape = kShape;
  shape.content_count = 1;
  auto layout = std::make_shared<RowLayout>(*testing::PlainLayout());
  layout->content_fields = {"goal"};
  proto::Rows rows = TwoRows();
  rows.add_content_keys(std::string(31, 'k'));
  const auto block = DecodeRows(rows, layout, shape, {});
  REQUIRE(block.ok());
  REQUIRE((*block)->errors[0] == "content_keys of goal: 31 bytes for 2 rows");
}

TEST_CASE("A reply lists missing keys once and errors in order") {
  const auto key = content::KeyOf("text");
  const std::vector<RowAnswer> answers = {
      {.environment = 1, .status = RowStatus::kNeedContent, .missing = {key}},
      {.environment = 2, .status = RowStatus::kNeedContent, .missing = {key}},
      {.environment = 3, .status = RowStatus::kInvalid, .error = "wrong"},
      {.environment = 4, .sequence = 9, .action = 1, .version = {2, 3}}};
  const proto::ActReply reply = EncodeReply(answers, 77);
  REQUIRE(reply.replies().server_epoch() == 77);
  REQUIRE(reply.replies().missing_keys_size() == 1);
  REQUIRE(reply.replies().errors(0) == "wrong");
  REQUIRE(reply.replies().statuses(3) == proto::ROW_OK);
  REQUIRE(reply.replies().policy_steps(3) == 3);
  const auto actions = transport::Copy(reply.replies().actions(), "actions");
  REQUIRE(actions->values<std::int64_t>()[3] == 1);
}

TEST_CASE("An unroll becomes an item that names what it uses") {
  Unroll unroll;
  unroll.environment = 5;
  unroll.first_sequence = 6;
  unroll.length = 1;
  unroll.steps = 1;
  unroll.newest = {1, 4};
  unroll.content_keys = {content::KeyOf("a")};
  unroll.catalog_keys = {content::KeyOf("b")};
  const std::vector<float> reward = {2};
  unroll.step_columns.push_back({"reward", runtime::Tensor::Of<float>({1}, reward)});
  const UnrollDestination to = {.table = "unrolls", .encoder_version = "lexical-1"};
  const proto::Item item = HeadOf(unroll, to);
  REQUIRE(item.table() == "unrolls");
  REQUIRE(item.newest_version().step() == 4);
  REQUIRE(item.content_keys(0) == std::string(content::KeyOf("a").AsBytes()));
  REQUIRE(item.catalog_keys(0) == std::string(content::KeyOf("b").AsBytes()));
  const proto::Unroll payload = WholeOf(unroll, to);
  REQUIRE(payload.id().environment_id() == 5);
  REQUIRE(payload.encoder_version() == "lexical-1");
  REQUIRE(payload.step_columns(0).name() == "reward");
}

TEST_CASE("an unroll's signature is its columns without the dimension of rows") {
  Unroll unroll;
  unroll.step_columns.push_back(
      {"observation/x", runtime::Tensor(runtime::DType::kUInt8, {7, 3, 4})});
  unroll.step_columns.push_back({"forced", runtime::Tensor(runtime::DType::kBool, {6})});
  unroll.unroll_columns.push_back({"core/state", runtime::Tensor(runtime::DType::kFloat32, {9})});
  unroll.unroll_columns.push_back({"marks/bits", runtime::Tensor(runtime::DType::kInt32, {5})});
  const std::string text = SignatureOf(unroll);
  REQUIRE(text ==
          "observation/x UINT8 [3, 4]\nforced BOOL [] optional\ncore/state FLOAT32 [9]\n"
          "marks/bits INT32 [?]\n");
  REQUIRE(replay::Signature::Parse(text).ok());
}

TEST_CASE("A reply carries points of a box row after row, with zeros where a row has none") {
  const std::vector<RowAnswer> answers = {
      {.environment = 1, .status = RowStatus::kInvalid, .error = "wrong"},
      {.environment = 2, .box_action = {0.5F, -3}}};
  const proto::ActReply reply = EncodeReply(answers, 77);
  const auto actions = transport::Copy(reply.replies().actions(), "actions");
  REQUIRE(actions->shape() == runtime::Shape{2, 2});
  const auto values = actions->values<float>();
  REQUIRE(std::vector<float>(values.begin(), values.end()) == std::vector<float>{0, 0, 0.5F, -3});
}

TEST_CASE("An action cannot be forced in a box") {
  PolicyShape shape = kShape;
  shape.box = true;
  proto::Rows rows = TwoRows();
  const std::vector<std::int64_t> forced = {-1, 0};
  transport::ToWire(runtime::Tensor::Of<std::int64_t>({2}, forced), *rows.mutable_forced_actions());
  const auto block = DecodeRows(rows, testing::PlainLayout(), shape, {});
  REQUIRE(block.ok());
  REQUIRE((*block)->errors[0].empty());
  REQUIRE((*block)->errors[1] == "forced_actions: there is no action 0");
}

}  // namespace
}  // namespace shoal::inference
