// SPDX-License-Identifier: Apache-2.0
#include "rl/model/safetensors.h"

#include <array>
#include <catch2/catch.hpp>
#include <cstring>
#include <vector>

#include "platform/runtime/random.h"

namespace shoal::model {
namespace {

using runtime::DType;
using runtime::Tensor;

std::string File(const std::string& header, const std::string& data) {
  const std::uint64_t size = header.size();
  std::string file(8, '\0');
  std::memcpy(file.data(), &size, 8);
  return file + header + data;
}

std::string Good() {
  const std::vector<float> values = {1, 2, 3, 4, 5, 6};
  const std::vector<std::int64_t> counts = {7};
  const Tensor weight = Tensor::Of<float>({2, 3}, values);
  const Tensor count = Tensor::Of<std::int64_t>({1}, counts);
  const Tensor nothing(DType::kFloat32, {0, 4});
  const std::vector<SafetensorsItem> items = {
      {"weight", weight}, {"count", count}, {"nothing", nothing}};
  return WriteSafetensors(items, {{"epoch", "3"}, {"name", "n\xc3\xa4me"}});
}

TEST_CASE("what was written comes back, metadata too") {
  const std::string file = Good();
  const SafetensorsView view = SafetensorsView::Parse(file).value();
  REQUIRE(view.entries().size() == 3);
  REQUIRE(view.metadata().at("epoch") == "3");
  const runtime::Shape shape = {2, 3};
  REQUIRE(view.Floats("weight", shape).value() == std::vector<float>{1, 2, 3, 4, 5, 6});
  REQUIRE(view.Find("count")->dtype == DType::kInt64);
  REQUIRE(view.Find("absent") == nullptr);
}

TEST_CASE("floats are read from every floating-point dtype") {
  const std::vector<float> singles = {1.5F, -2};
  const std::vector<double> doubles = {1.5, -2};
  const std::vector<std::uint16_t> halves = {0x3E00, 0xC000};
  const std::vector<std::uint16_t> brains = {0x3FC0, 0xC000};
  const runtime::Shape shape = {2};
  const auto view = [&](DType dtype, const auto& values) {
    return runtime::TensorView(dtype, shape, std::as_bytes(std::span(values)));
  };
  const std::vector<std::int32_t> counts = {1, 2};
  const std::vector<SafetensorsItem> items = {{"F32", view(DType::kFloat32, singles)},
                                              {"F64", view(DType::kFloat64, doubles)},
                                              {"F16", view(DType::kFloat16, halves)},
                                              {"BF16", view(DType::kBFloat16, brains)},
                                              {"I32", view(DType::kInt32, counts)}};
  // The bytes start one byte after an aligned address.
  const std::string bytes = "x" + WriteSafetensors(items, {{"format", "pt"}});
  const SafetensorsView file = SafetensorsView::Parse(std::string_view(bytes).substr(1)).value();
  for (const char* name : {"F32", "F64", "F16", "BF16"}) {
    std::vector<float> read(2);
    INFO(name);
    REQUIRE(file.ReadFloats(name, shape, read).ok());
    REQUIRE(read == singles);
  }
  std::vector<float> read(2);
  REQUIRE_FALSE(file.ReadFloats("I32", shape, read).ok());
  REQUIRE_FALSE(file.ReadFloats("absent", shape, read).ok());
  const runtime::Shape other = {1, 2};
  REQUIRE_FALSE(file.ReadFloats("F32", other, read).ok());
}

TEST_CASE("what is wrong is named with its byte where it has no other name") {
  const auto error = [](const std::string& file) {
    return std::string(SafetensorsView::Parse(file).status().message());
  };
  const std::string entry = R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})";
  REQUIRE(error(File("{\"a\" 1}", "")) == "safetensors: the header is no JSON at byte 13");
  REQUIRE(error(File(entry, "xyz")) == "safetensors: bytes after the last tensor, at byte " +
                                           std::to_string(8 + entry.size() + 2));
}

TEST_CASE("asking for another shape or dtype is an error that names the tensor") {
  const std::string file = Good();
  const SafetensorsView view = SafetensorsView::Parse(file).value();
  const runtime::Shape shape = {3, 2};
  const runtime::Shape one = {1};
  REQUIRE(std::string(view.Floats("weight", shape).status().message()).find("'weight'") !=
          std::string::npos);
  REQUIRE_FALSE(view.Floats("count", one).ok());
  REQUIRE_FALSE(view.Floats("absent", one).ok());
}

TEST_CASE("a file that ends early is data loss") {
  const std::string file = Good();
  for (std::size_t size = 0; size < file.size(); ++size) {
    REQUIRE_FALSE(SafetensorsView::Parse(std::string_view(file).substr(0, size)).ok());
  }
  REQUIRE(absl::IsDataLoss(SafetensorsView::Parse("1234").status()));
  REQUIRE(absl::IsDataLoss(
      SafetensorsView::Parse(std::string_view(file).substr(0, file.size() - 1)).status()));
}

TEST_CASE("hostile headers are refused") {
  const auto refused = [](const std::string& header, const std::string& data) {
    return !SafetensorsView::Parse(File(header, data)).ok();
  };
  const std::string data(8, 'x');
  REQUIRE_FALSE(refused(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", data));
  // These are not JSON, not an object, or nested too deeply.
  REQUIRE(refused("", ""));
  REQUIRE(refused("[]", ""));
  REQUIRE(refused("{", ""));
  REQUIRE(refused(std::string(100'000, '['), ""));
  REQUIRE(refused("{\"a\":" + std::string(100'000, '{'), ""));
  REQUIRE(refused("{\"\xff\":1}", ""));
  // These have the same name twice.
  const std::string entry = R"("a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]})";
  REQUIRE(refused("{" + entry + "," + entry + "}", data));
  REQUIRE(refused(R"({"a":{"dtype":"F32","dtype":"F32","shape":[2],"data_offsets":[0,8]}})", data));
  // These have wrong fields.
  REQUIRE(refused(R"({"a":{"dtype":"F33","shape":[2],"data_offsets":[0,8]}})", data));
  REQUIRE(refused(R"({"a":{"dtype":7,"shape":[2],"data_offsets":[0,8]}})", data));
  REQUIRE(refused(R"({"a":{"dtype":"F32","shape":2,"data_offsets":[0,8]}})", data));
  REQUIRE(refused(R"({"a":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}})", data));
  REQUIRE(refused(R"({"a":{"dtype":"F32","shape":[2.0],"data_offsets":[0,8]}})", data));
  REQUIRE(refused(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0]}})", data));
  REQUIRE(refused(R"({"a":{"dtype":"F32","shape":[2]}})", data));
  REQUIRE(refused(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8],"x":1}})", data));
  REQUIRE(refused(R"({"a":5})", ""));
  REQUIRE(refused(R"({"__metadata__":{"a":1}})", ""));
  REQUIRE(refused(R"({"__metadata__":[]})", ""));
}

TEST_CASE("offsets that overflow, overlap, leave gaps or do not fit are refused") {
  const auto refused = [](const std::string& header, std::size_t bytes) {
    return !SafetensorsView::Parse(File(header, std::string(bytes, 'x'))).ok();
  };
  REQUIRE(refused(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", 8));
  REQUIRE(refused(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}})", 8));
  REQUIRE(refused(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}})", 12));
  REQUIRE(refused(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 9));
  REQUIRE(refused(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},)"
                  R"("b":{"dtype":"U8","shape":[4],"data_offsets":[2,6]}})",
                  6));
  REQUIRE(refused(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},)"
                  R"("b":{"dtype":"U8","shape":[2],"data_offsets":[3,5]}})",
                  5));
  REQUIRE(
      refused(R"({"a":{"dtype":"U8","shape":[18446744073709551615],"data_offsets":[0,8]}})", 8));
  REQUIRE(refused(R"({"a":{"dtype":"F64","shape":[4294967296,4294967296,2],"data_offsets":[0,0]}})",
                  0));
  REQUIRE(refused(
      R"({"a":{"dtype":"U8","shape":[8],"data_offsets":[18446744073709551608,18446744073709551616]}})",
      8));
}

TEST_CASE("a header length beyond the file or the limit is refused without allocating it") {
  std::string file = Good();
  for (const std::uint64_t size : {~std::uint64_t{0}, std::uint64_t{1} << 40, file.size()}) {
    std::memcpy(file.data(), &size, 8);
    REQUIRE_FALSE(SafetensorsView::Parse(file).ok());
  }
}

TEST_CASE("files with random damage are parsed or refused, never worse") {
  const std::string good = Good();
  runtime::Random random(1);
  int refused = 0;
  for (int round = 0; round < 2000; ++round) {
    std::string file = good;
    for (int i = 0; i < 3; ++i) {
      file[random.Below(file.size())] = static_cast<char>(random.Below(256));
    }
    refused += SafetensorsView::Parse(file).ok() ? 0 : 1;
  }
  REQUIRE(refused > 1000);
}

}  // namespace
}  // namespace shoal::model
