// SPDX-License-Identifier: Apache-2.0
// Golden spans on resources of three vendors.
#include <catch2/catch.hpp>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "platform/content/canonical_json.h"
#include "redfish/capture/capture.h"
#include "text/bpe/tokenizer_json.h"
#include "text/dataset/chunker.h"
#include "text/dataset/json_spans.h"

namespace shoal::dataset {
namespace {

using Texts = std::vector<std::string>;

// The texts that each kind must select, in order. The whole body is the last object.
struct GoldenResource {
  std::string capture;
  std::string uri;
  std::map<SpanKind, Texts> texts;
};

const std::string kBiosService = "/redfish/v1/Systems/System.Embedded.1/Oem/Dell/DellBIOSService";
const std::string kPlatformKey = "/redfish/v1/Systems/1/SecureBoot/SecureBootDatabases/PK";
const std::string kCertificates = "/redfish/v1/CertificateService";

const std::vector<GoldenResource>& GoldenResources() {
  static const std::string recovery = R"({"Device@Redfish.AllowableValues":["BIOS"],"target":")" +
                                      kBiosService + R"(/Actions/DellBIOSService.DeviceRecovery"})";
  static const std::string reset =
      R"({"ResetKeysType@Redfish.AllowableValues":["ResetAllKeysToDefault","DeleteAllKeys"],)"
      R"("target":")" +
      kPlatformKey + R"(/Actions/SecureBootDatabase.ResetKeys"})";
  static const std::string generate =
      R"({"target":")" + kCertificates + R"(/Actions/CertificateService.GenerateCSR"})";
  static const std::string replace =
      R"({"CertificateType@Redfish.AllowableValues":["PEM"],"target":")" + kCertificates +
      R"(/Actions/CertificateService.ReplaceCertificate"})";
  static const std::string dell_actions = R"({"#DellBIOSService.DeviceRecovery":)" + recovery + "}";
  static const std::string hpe_actions = R"({"#SecureBootDatabase.ResetKeys":)" + reset + "}";
  static const std::string openbmc_actions = R"({"#CertificateService.GenerateCSR":)" + generate +
                                             R"(,"#CertificateService.ReplaceCertificate":)" +
                                             replace + "}";
  static const std::vector<GoldenResource> all = {
      {"dell-r750",
       kBiosService,
       {{SpanKind::kActions, {R"("Actions":)" + dell_actions}},
        {SpanKind::kODataId, {kBiosService}},
        {SpanKind::kTarget, {kBiosService + "/Actions/DellBIOSService.DeviceRecovery"}},
        {SpanKind::kAllowableValues, {R"(["BIOS"])"}},
        {SpanKind::kObject, {dell_actions, recovery}},
        {SpanKind::kArray, {R"(["BIOS"])"}},
        {SpanKind::kApiPrefix, {"/redfish/v1", "/redfish/v1", "/redfish/v1"}}}},
      {"hpe-dl380a-gen12",
       kPlatformKey,
       {{SpanKind::kActions, {R"("Actions":)" + hpe_actions}},
        {SpanKind::kODataId, {kPlatformKey, kPlatformKey + "/Certificates"}},
        {SpanKind::kTarget, {kPlatformKey + "/Actions/SecureBootDatabase.ResetKeys"}},
        {SpanKind::kAllowableValues, {R"(["ResetAllKeysToDefault","DeleteAllKeys"])"}},
        {SpanKind::kObject,
         {hpe_actions, reset, R"({"@odata.id":")" + kPlatformKey + R"(/Certificates"})"}},
        {SpanKind::kArray, {R"(["ResetAllKeysToDefault","DeleteAllKeys"])"}},
        {SpanKind::kApiPrefix, {"/redfish/v1", "/redfish/v1", "/redfish/v1", "/redfish/v1"}}}},
      {"openbmc-stock",
       kCertificates,
       {{SpanKind::kActions, {R"("Actions":)" + openbmc_actions}},
        {SpanKind::kODataId, {kCertificates, kCertificates + "/CertificateLocations"}},
        {SpanKind::kTarget,
         {kCertificates + "/Actions/CertificateService.GenerateCSR",
          kCertificates + "/Actions/CertificateService.ReplaceCertificate"}},
        {SpanKind::kAllowableValues, {R"(["PEM"])"}},
        {SpanKind::kObject,
         {openbmc_actions, generate, replace,
          R"({"@odata.id":")" + kCertificates + R"(/CertificateLocations"})"}},
        {SpanKind::kArray, {R"(["PEM"])"}},
        {SpanKind::kApiPrefix, {"/redfish/v1", "/redfish/v1", "/redfish/v1", "/redfish/v1"}}}}};
  return all;
}

std::string BodyOf(const GoldenResource& golden) {
  const auto capture = redfish::Capture::Load("data/captures/" + golden.capture + ".tar.xz");
  REQUIRE(capture.ok());
  const nlohmann::json* body = (*capture)->Find(golden.uri);
  REQUIRE(body != nullptr);
  return content::CanonicalJson(*body, content::DefaultVolatileNames());
}

std::map<SpanKind, Texts> TextsOf(const std::string& body) {
  std::map<SpanKind, Texts> texts;
  for (const TextSpan& span : FindTextSpans(body)) {
    texts[span.kind].push_back(body.substr(span.begin, span.end - span.begin));
  }
  return texts;
}

Texts TextsOfKind(const std::string& json, SpanKind kind) { return TextsOf(json)[kind]; }

TEST_CASE("each kind of span selects what it names, on resources of three vendors") {
  for (const GoldenResource& golden : GoldenResources()) {
    INFO(golden.capture);
    const std::string body = BodyOf(golden);
    auto expected = golden.texts;
    Texts& objects = expected[SpanKind::kObject];
    objects.insert(objects.begin(), body);
    REQUIRE(TextsOf(body) == expected);
  }
}

TEST_CASE("the tokens of a span say its text, and no token more than is needed") {
  const auto tokenizer = tokens::LoadTokenizer("data/gpt2").value();
  const auto chunker = Chunker::Create(tokenizer, {}).value();
  for (const GoldenResource& golden : GoldenResources()) {
    INFO(golden.capture);
    const std::string body = BodyOf(golden);
    const auto chunks = chunker->Cut({.request = "GET / [GET]\n", .body = body}).value();
    REQUIRE(chunks.size() == 1);
    const Chunk& chunk = chunks[0];
    std::map<SpanKind, Texts> expected = golden.texts;
    expected[SpanKind::kObject].insert(expected[SpanKind::kObject].begin(), body);
    std::map<SpanKind, std::size_t> seen;
    for (const Span& span : chunk.spans) {
      if (span.kind == SpanKind::kResponse) continue;
      const auto ids = std::span(chunk.tokens).subspan(span.begin, span.end - span.begin);
      const std::string decoded = tokenizer->Decode(ids).value();
      const std::string& text = expected.at(span.kind).at(seen[span.kind]++);
      INFO(NameOf(span.kind) << " " << decoded);
      const std::size_t at = decoded.find(text);
      REQUIRE(at != std::string::npos);
      REQUIRE(at < tokenizer->TokenBytes(ids.front()).size());
      REQUIRE(decoded.size() - at - text.size() < tokenizer->TokenBytes(ids.back()).size());
    }
    for (const auto& [kind, texts] : expected) REQUIRE(seen[kind] == texts.size());
  }
}

TEST_CASE("a span is found however deep it is, and not where only its name is") {
  const std::string json =
      R"({"A":[{"Actions":{"target":"x"}},[]],"Actions":"none","target":3,"z":"target"})";
  REQUIRE(TextsOfKind(json, SpanKind::kActions) == Texts{R"("Actions":{"target":"x"})"});
  REQUIRE(TextsOfKind(json, SpanKind::kTarget) == Texts{"x"});
  REQUIRE(TextsOfKind(json, SpanKind::kArray) == Texts{R"([{"Actions":{"target":"x"}},[]])", "[]"});
  REQUIRE(TextsOfKind(json, SpanKind::kObject).size() == 3);
}

TEST_CASE("an API prefix is the front of a URI, whole") {
  REQUIRE(TextsOfKind(R"(["/redfish/v1","/redfish/v1/","/redfish/v10","x/redfish/v1/"])",
                      SpanKind::kApiPrefix)
              .size() == 2);
  REQUIRE(TextsOfKind(R"({"/redfish/v1/Systems":1})", SpanKind::kApiPrefix).empty());
}

TEST_CASE("escapes, empty texts and bare values do not lead the scanner astray") {
  const std::string json =
      R"({"@odata.id":"","a":"\\\"{","b\"":[-1.5e+21,true,null,"]"],"target":"\"x\\"})";
  REQUIRE(TextsOfKind(json, SpanKind::kODataId).empty());
  REQUIRE(TextsOfKind(json, SpanKind::kTarget) == Texts{R"(\"x\\)"});
  REQUIRE(TextsOfKind(json, SpanKind::kArray) == Texts{R"([-1.5e+21,true,null,"]"])"});
  REQUIRE(TextsOfKind(json, SpanKind::kObject) == Texts{json});
  REQUIRE(FindTextSpans("17").empty());
}

TEST_CASE("an action's info lists allowable values too") {
  REQUIRE(
      TextsOfKind(R"({"Parameters":[{"AllowableValues":["On","ForceOff"],"Name":"ResetType"}]})",
                  SpanKind::kAllowableValues) == Texts{R"(["On","ForceOff"])"});
}

TEST_CASE("kinds of spans have names, and a name that is none lists them") {
  for (std::size_t i = 0; i < kSpanKinds; ++i) {
    const auto kind = static_cast<SpanKind>(i);
    REQUIRE(ParseSpanKind(NameOf(kind)).value() == kind);
  }
  const absl::Status wrong = ParseSpanKind("Targets").status();
  REQUIRE(absl::IsInvalidArgument(wrong));
  REQUIRE(std::string(wrong.message()).find("allowable_values, object") != std::string::npos);
}

}  // namespace
}  // namespace shoal::dataset
