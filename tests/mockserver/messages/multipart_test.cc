// SPDX-License-Identifier: Apache-2.0
#include "mockserver/messages/multipart.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace shoal::mockserver {
namespace {

const std::string kForm = "multipart/form-data; boundary=b";

std::string PartText(const std::string& disposition, const std::string& content,
                     const std::string& boundary = "b") {
  return "--" + boundary + "\r\nContent-Disposition: " + disposition + "\r\n\r\n" + content +
         "\r\n";
}

bool IsMalformed(const std::string& content_type, const std::string& body) {
  const auto parts = ParseMultipart(content_type, body);
  REQUIRE((parts.ok() || parts.status().code() == absl::StatusCode::kInvalidArgument));
  return !parts.ok();
}

}  // namespace

TEST_CASE("The parts of a form have names, names of files, and contents of any bytes") {
  const std::string zeros("\0\r\n--\r\n--bb\r\n-- b\r\n", 19);
  const std::string body = "preamble --b\r\n" +
                           PartText("form-data; name=\"UpdateParameters\"", "{}") + "--b \t\r\n" +
                           "content-type: text/plain\r\n"
                           "CONTENT-DISPOSITION: Form-Data ; filename=\"a \\\"b\\\" C:\\d;x\" ; "
                           "name=UpdateFile\r\n\r\n" +
                           zeros + "\r\n--b--\r\nepilogue";
  for (const char* type : {"multipart/form-data; boundary=b", "Multipart/Form-Data;boundary=\"b\"",
                           "multipart/form-data; charset=utf-8; BOUNDARY=b;"}) {
    INFO(type);
    const auto parts = ParseMultipart(type, body);
    REQUIRE(parts.ok());
    REQUIRE(parts->size() == 2);
    REQUIRE(parts->at(0).name == "UpdateParameters");
    REQUIRE_FALSE(parts->at(0).file_name.has_value());
    REQUIRE(parts->at(0).content == "{}");
    REQUIRE(parts->at(1).name == "UpdateFile");
    REQUIRE(parts->at(1).file_name == "a \"b\" C:\\d;x");
    REQUIRE(parts->at(1).content == zeros);
  }
}

TEST_CASE("A form may have no parts, and a part may be empty") {
  REQUIRE(ParseMultipart(kForm, "--b--")->empty());
  const auto parts = ParseMultipart(kForm, PartText("form-data; name=x", "") + "--b--");
  REQUIRE(parts->at(0).content.empty());
}

TEST_CASE("A form without a valid boundary is malformed") {
  const std::string body = PartText("form-data; name=x", "1") + "--b--";
  REQUIRE_FALSE(IsMalformed(kForm, body));
  for (const std::string& type :
       {std::string("multipart/form-data"), std::string("multipart/form-data; boundary="),
        std::string("multipart/form-data; boundary=\"b"), std::string("multipart/form-data; b"),
        std::string("multipart/form-data boundary=b"), std::string("multipart/mixed; boundary=b"),
        std::string("application/json"), std::string(),
        std::string("multipart/form-data; boundary=\"\r\n\""),
        "multipart/form-data; boundary=" + std::string(kMaximumBoundary + 1, 'b')}) {
    INFO(type);
    REQUIRE(IsMalformed(type, body));
  }
}

TEST_CASE("A form whose parts are cut, nameless or endless is malformed") {
  const std::string good = PartText("form-data; name=x", "1");
  for (const std::string& body :
       {std::string(), std::string("--b"), std::string("--b\r\n"), good, good + "--b\r\n",
        good + "--b\r\n--b--", PartText("form-data", "1") + "--b--",
        PartText("form-data; name=\"\"", "1") + "--b--",
        PartText("attachment; name=x", "1") + "--b--",
        PartText("form-data; name=\"x", "1") + "--b--",
        PartText("form-data; name=\"x\\\"", "1") + "--b--",
        PartText("form-data; name=\"x\"\"y\"", "1") + "--b--", std::string("--b\r\n\r\n1\r\n--b--"),
        std::string("--b\r\nno field\r\n\r\n1\r\n--b--"),
        std::string("--b\r\nA: 1\r\n folded: 2\r\n\r\n1\r\n--b--"),
        std::string("--b\nContent-Disposition: form-data; name=x\n\n1\n--b--")}) {
    INFO(body);
    REQUIRE(IsMalformed(kForm, body));
  }
  REQUIRE(IsMalformed(kForm, "--b\r\nA: " + std::string(kMaximumPartHeader, 'x') +
                                 "\r\nContent-Disposition: form-data; name=x\r\n\r\n1\r\n--b--"));
  std::string many;
  for (std::size_t i = 0; i < kMaximumFormParts; ++i) many += good;
  REQUIRE(ParseMultipart(kForm, many + "--b--")->size() == kMaximumFormParts);
  REQUIRE(IsMalformed(kForm, many + good + "--b--"));
}

TEST_CASE("Every prefix of a form, and a form with any byte changed, is read without harm") {
  const std::string body = PartText("form-data; name=\"UpdateParameters\"", "{}") +
                           PartText("form-data; name=\"UpdateFile\"; filename=\"f\"", "1") +
                           "--b--";
  for (std::size_t i = 0; i < body.size(); ++i) {
    IsMalformed(kForm, body.substr(0, i));
    for (const char byte : {'\0', '\r', '\n', '"', '\\', '-', ';', '\xff'}) {
      std::string changed = body;
      changed[i] = byte;
      IsMalformed(kForm, changed);
      IsMalformed(changed.substr(0, i), body);
    }
  }
}

}  // namespace shoal::mockserver
