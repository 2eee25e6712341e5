// SPDX-License-Identifier: Apache-2.0
#include "mockserver/behaviours/certificates.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "mockserver/behaviours/x509.h"
#include "tests/mockserver/service/worlds.h"

namespace shoal::mockserver {
namespace {

const std::string kHttps =
    "/redfish/v1/Managers/iDRAC.Embedded.1/NetworkProtocol/HTTPS/Certificates";
const std::string kCertificateActions = "/redfish/v1/CertificateService/Actions/";

Json Link(const std::string& uri) { return {{"@odata.id", uri}}; }

}  // namespace

TEST_CASE("A certificate that is no PEM is refused with its property named") {
  Instance instance(WorldOf("dell-r750"));
  const std::string good = CapturedCertificate();
  for (const std::string& text :
       {std::string("no PEM"), std::string(), good.substr(0, good.size() / 2),
        std::string("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"),
        std::string("-----BEGIN CERTIFICATE-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: "
                    "AES-128-CBC,00000000000000000000000000000000\n\nAAAA\n"
                    "-----END CERTIFICATE-----\n")}) {
    INFO(text);
    const Response response =
        Post(instance, kHttps, {{"CertificateString", text}, {"CertificateType", "PEM"}});
    REQUIRE(response.status == 400);
    REQUIRE(Messages(response) == std::vector<std::string>{"PropertyValueFormatError"});
    REQUIRE(response.json->dump().find("/CertificateString") != std::string::npos);
  }
  REQUIRE(
      Post(instance, kHttps, {{"CertificateString", good}, {"CertificateType", "PKCS7"}}).status ==
      400);
  REQUIRE(Messages(Post(instance, kHttps, {{"CertificateType", "PEM"}})) ==
          std::vector<std::string>{"PropertyMissing"});
  REQUIRE(instance.changed_resources() == 0);
}

TEST_CASE("An installed certificate shows what it says of itself, and no private key") {
  Instance instance(WorldOf("dell-r750"));
  const std::string good = CapturedCertificate();
  const std::string key = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n";
  const Response made =
      Post(instance, kHttps, {{"CertificateString", good + key}, {"CertificateType", "PEM"}});
  INFO(*made.body);
  REQUIRE(made.status == 201);
  REQUIRE(made.json->at("Subject").at("CommonName").is_string());
  REQUIRE(made.json->at("ValidNotAfter").is_string());
  REQUIRE(made.json->at("CertificateString").get<std::string>().starts_with("-----BEGIN CERT"));
  REQUIRE(made.body->find("PRIVATE KEY") == std::string::npos);
}

TEST_CASE("A replaced certificate shows the new one") {
  Instance instance(WorldOf("dell-r750"));
  const std::string certificate = redfish::LinkTarget(At(instance, kHttps, "/Members/0"));
  const std::string replace = kCertificateActions + "CertificateService.ReplaceCertificate";
  Json body = {{"CertificateString", "no PEM"},
               {"CertificateType", "PEM"},
               {"CertificateUri", Link(certificate)}};
  REQUIRE(Messages(Post(instance, replace, body)) ==
          std::vector<std::string>{"ActionParameterValueFormatError"});
  body["CertificateString"] = CapturedCertificate();
  const Response replaced = Post(instance, replace, body);
  REQUIRE(replaced.status == 200);
  REQUIRE(replaced.location == certificate);
  REQUIRE(At(instance, certificate, "/CertificateString") == CapturedCertificate());
  const Json described = *DescribeCertificate(CapturedCertificate(), "PEM");
  REQUIRE(At(instance, certificate, "/Subject") == described.at("Subject"));
  body["CertificateUri"] = Link(kHttps);
  REQUIRE(Post(instance, replace, body).status == 400);
}

TEST_CASE("A signing request is of the subject and the key that were asked for") {
  Instance instance(WorldOf("dell-r750"));
  const std::string generate = kCertificateActions + "CertificateService.GenerateCSR";
  Json body = {{"CommonName", "bmc.example"},
               {"Country", "DE"},
               {"AlternativeNames", {"bmc.example", "10.0.0.1", "::1"}},
               {"CertificateCollection", Link(kHttps)}};
  std::size_t shortest = 0;
  for (const Json& key :
       {Json::object(),
        Json{{"KeyPairAlgorithm", "TPM_ALG_ECDSA"}, {"KeyCurveId", "TPM_ECC_NIST_P384"}},
        Json{{"KeyPairAlgorithm", "TPM_ALG_RSA"}, {"KeyBitLength", 2048}}}) {
    INFO(key.dump());
    Json asked = body;
    asked.update(key);
    const Response made = Post(instance, generate, asked);
    REQUIRE(made.status == 200);
    const std::string text = made.json->at("CSRString");
    REQUIRE(text.starts_with("-----BEGIN CERTIFICATE REQUEST-----\n"));
    REQUIRE(text.size() > shortest);
    shortest = text.size();
    REQUIRE(made.json->at("CertificateCollection") == Link(kHttps));
  }
  for (const Json& wrong :
       {Json{{"Country", "Germany"}}, Json{{"KeyPairAlgorithm", "TPM_ALG_SHA1"}},
        Json{{"KeyBitLength", 1 << 20}}, Json{{"KeyCurveId", "P-1"}},
        Json{{"AlternativeNames", {"a\nb"}}}, Json{{"AlternativeNames", Json(65, "a")}},
        Json{{"CommonName", std::string(65, 'a')}},
        Json{{"CertificateCollection", Link("/redfish/v1")}}}) {
    INFO(wrong.dump());
    Json asked = body;
    asked.update(wrong);
    const Response refused = Post(instance, generate, asked);
    REQUIRE(refused.status == 400);
    REQUIRE(refused.json->dump().find(wrong.begin().key()) != std::string::npos);
  }
  REQUIRE(instance.changed_resources() == 0);
}

TEST_CASE("A certificate's renewal and new key are requests for its subject") {
  Instance instance(WorldOf("dmtf-rackmount1"));
  const std::string certificate = "/redfish/v1/UpdateService/ClientCertificates/1";
  for (const char* action : {"Rekey", "Renew"}) {
    INFO(action);
    const std::string pointer = std::string("/Actions/#Certificate.") + action + "/target";
    const Response made =
        Post(instance, At(instance, certificate, pointer).get<std::string>(), Json::object());
    INFO(*made.body);
    REQUIRE(made.status == 200);
    REQUIRE(made.json->at("CSRString").is_string());
    REQUIRE(made.json->at("Certificate") == Link(certificate));
  }
}

}  // namespace shoal::mockserver
