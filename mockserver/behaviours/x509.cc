// SPDX-License-Identifier: Apache-2.0
#include "mockserver/behaviours/x509.h"

#include <absl/strings/str_format.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/pkcs7.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <array>
#include <climits>
#include <ctime>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "redfish/capture/uri.h"

namespace shoal::mockserver {
namespace {

constexpr std::size_t kMaximumAlternatives = 64;
constexpr std::size_t kMaximumHostName = 253;

struct FreeX509 {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(X509_REQ* request) const { X509_REQ_free(request); }
  void operator()(PKCS7* message) const { PKCS7_free(message); }
  void operator()(GENERAL_NAMES* names) const { GENERAL_NAMES_free(names); }
  void operator()(STACK_OF(X509_EXTENSION) * extensions) const {
    sk_X509_EXTENSION_pop_free(extensions, X509_EXTENSION_free);
  }
  void operator()(BIGNUM* number) const { BN_free(number); }
  void operator()(BIO* memory) const { BIO_free(memory); }
};
template <typename T>
using Owned = std::unique_ptr<T, FreeX509>;

// Errors of OpenSSL are about what clients send, and must not wait for the next user of the thread.
struct ErrorsForgotten {
  ErrorsForgotten() = default;
  ErrorsForgotten(const ErrorsForgotten&) = delete;
  ErrorsForgotten& operator=(const ErrorsForgotten&) = delete;
  ~ErrorsForgotten() { ERR_clear_error(); }
};

// The entries of a name, by the property that shows each.
constexpr std::array<std::pair<const char*, int>, 7> kNameEntries = {
    {{"CommonName", NID_commonName},
     {"Organization", NID_organizationName},
     {"OrganizationalUnit", NID_organizationalUnitName},
     {"City", NID_localityName},
     {"State", NID_stateOrProvinceName},
     {"Country", NID_countryName},
     {"Email", NID_pkcs9_emailAddress}}};

// Without this, OpenSSL asks on the terminal for the pass phrase of an encrypted text.
int NoPassPhrase(char* /*buffer*/, int /*size*/, int /*writes*/, void* /*user*/) { return -1; }

Owned<BIO> Reader(const std::string& text) {
  if (text.size() > INT_MAX) return nullptr;
  return Owned<BIO>(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

std::string TextIn(BIO* memory) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(memory, &data);
  return {data, static_cast<std::size_t>(size)};
}

std::vector<Owned<X509>> CertificatesIn(const std::string& text) {
  std::vector<Owned<X509>> certificates;
  const Owned<BIO> reader = Reader(text);
  while (reader != nullptr) {
    Owned<X509> one(PEM_read_bio_X509(reader.get(), nullptr, &NoPassPhrase, nullptr));
    if (one == nullptr) break;
    certificates.push_back(std::move(one));
  }
  return certificates;
}

std::vector<Owned<X509>> CertificatesInMessage(const std::string& text) {
  std::vector<Owned<X509>> certificates;
  const Owned<BIO> reader = Reader(text);
  if (reader == nullptr) return certificates;
  const Owned<PKCS7> message(PEM_read_bio_PKCS7(reader.get(), nullptr, &NoPassPhrase, nullptr));
  if (message == nullptr || !PKCS7_type_is_signed(message.get()) || message->d.sign == nullptr) {
    return certificates;
  }
  const STACK_OF(X509)* const all = message->d.sign->cert;
  for (int i = 0; i < sk_X509_num(all); ++i) {
    X509* const one = sk_X509_value(all, i);
    if (X509_up_ref(one) == 1) certificates.emplace_back(one);
  }
  return certificates;
}

Json Describe(const X509_NAME* name) {
  Json described = Json::object();
  for (const auto& [property, nid] : kNameEntries) {
    const int at = X509_NAME_get_index_by_NID(name, nid, -1);
    if (at < 0) continue;
    unsigned char* text = nullptr;
    const int size =
        ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, at)));
    if (size < 0) continue;
    described[property] =
        std::string(reinterpret_cast<const char*>(text), static_cast<std::size_t>(size));
    OPENSSL_free(text);
  }
  return described;
}

Json Describe(const ASN1_TIME* time) {
  std::tm utc{};
  std::array<char, 32> text{};
  if (ASN1_TIME_to_tm(time, &utc) != 1) return nullptr;
  if (std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &utc) == 0) return nullptr;
  return text.data();
}

std::string HexPairs(const unsigned char* bytes, std::size_t size) {
  std::string text;
  for (std::size_t i = 0; i < size; ++i) {
    absl::StrAppendFormat(&text, "%s%02X", i == 0 ? "" : ":", bytes[i]);
  }
  return text;
}

Json Fingerprint(const X509* certificate) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  if (X509_digest(certificate, EVP_sha256(), digest.data(), &size) != 1) return nullptr;
  return HexPairs(digest.data(), size);
}

Owned<EVP_PKEY> MakeKey(const Json& parameters, std::string& wrong) {
  const std::string algorithm = redfish::TextAt(parameters, "KeyPairAlgorithm");
  const std::string curve = redfish::TextAt(parameters, "KeyCurveId");
  const Json bits = parameters.value("KeyBitLength", Json());
  const bool is_rsa =
      algorithm.find("RSA") != std::string::npos || (algorithm.empty() && !bits.is_null());
  if (is_rsa) {
    const Json wanted = bits.is_null() ? Json(2048) : bits;
    if (wanted != Json(2048) && wanted != Json(3072) && wanted != Json(4096)) {
      wrong = "KeyBitLength";
      return nullptr;
    }
    return Owned<EVP_PKEY>(EVP_RSA_gen(wanted.get<unsigned int>()));
  }
  if (!algorithm.empty() && algorithm.find("EC") == std::string::npos) {
    wrong = "KeyPairAlgorithm";
    return nullptr;
  }
  for (const auto& [id, name] :
       {std::pair("256", "P-256"), std::pair("384", "P-384"), std::pair("521", "P-521")}) {
    if (curve.ends_with(id) || curve.empty()) return Owned<EVP_PKEY>(EVP_EC_gen(name));
  }
  wrong = "KeyCurveId";
  return nullptr;
}

bool IsHostName(std::string_view name) {
  if (name.empty() || name.size() > kMaximumHostName) return false;
  for (const char c : name) {
    if (c <= ' ' || c > '~') return false;
  }
  return true;
}

bool AddAlternative(GENERAL_NAMES* names, const std::string& text) {
  if (!IsHostName(text)) return false;
  ASN1_OCTET_STRING* const address = a2i_IPADDRESS(text.c_str());
  GENERAL_NAME* const name = GENERAL_NAME_new();
  if (name == nullptr) {
    ASN1_OCTET_STRING_free(address);
    return false;
  }
  if (address != nullptr) {
    GENERAL_NAME_set0_value(name, GEN_IPADD, address);
  } else {
    ASN1_IA5STRING* const host = ASN1_IA5STRING_new();
    GENERAL_NAME_set0_value(name, GEN_DNS, host);
    if (host == nullptr || ASN1_STRING_set(host, text.data(), static_cast<int>(text.size())) != 1) {
      GENERAL_NAME_free(name);
      return false;
    }
  }
  if (sk_GENERAL_NAME_push(names, name) > 0) return true;
  GENERAL_NAME_free(name);
  return false;
}

bool AddAlternatives(X509_REQ* request, const Json& list) {
  if (list.is_null() || (list.is_array() && list.empty())) return true;
  if (!list.is_array() || list.size() > kMaximumAlternatives) return false;
  const Owned<GENERAL_NAMES> names(GENERAL_NAMES_new());
  for (const Json& one : list) {
    if (!one.is_string() || !AddAlternative(names.get(), one.get<std::string>())) return false;
  }
  STACK_OF(X509_EXTENSION)* extensions = nullptr;
  const bool is_added =
      X509V3_add1_i2d(&extensions, NID_subject_alt_name, names.get(), 0, X509V3_ADD_DEFAULT) == 1;
  const Owned<STACK_OF(X509_EXTENSION)> owned(extensions);
  return is_added && X509_REQ_add_extensions(request, extensions) == 1;
}

bool AddEntry(X509_NAME* name, int nid, const Json& value) {
  const std::string text = value.is_string() ? value.get<std::string>() : std::string();
  if (text.empty() || text.size() > INT_MAX) return text.empty();
  return X509_NAME_add_entry_by_NID(name, nid, MBSTRING_UTF8,
                                    reinterpret_cast<const unsigned char*>(text.data()),
                                    static_cast<int>(text.size()), -1, 0) == 1;
}

}  // namespace

std::optional<Json> DescribeCertificate(const std::string& text, const std::string& type) {
  const ErrorsForgotten forgotten;
  const std::vector<Owned<X509>> certificates =
      type == "PKCS7" ? CertificatesInMessage(text) : CertificatesIn(text);
  if (certificates.empty()) return std::nullopt;
  const X509* const first = certificates.front().get();
  Json described = {{"CertificateString", text},
                    {"Subject", Describe(X509_get_subject_name(first))},
                    {"Issuer", Describe(X509_get_issuer_name(first))},
                    {"ValidNotBefore", Describe(X509_get0_notBefore(first))},
                    {"ValidNotAfter", Describe(X509_get0_notAfter(first))},
                    {"Fingerprint", Fingerprint(first)},
                    {"FingerprintHashAlgorithm", "TPM_ALG_SHA256"},
                    {"SignatureAlgorithm", OBJ_nid2ln(X509_get_signature_nid(first))}};
  const ASN1_INTEGER* const serial = X509_get0_serialNumber(first);
  described["SerialNumber"] =
      HexPairs(ASN1_STRING_get0_data(serial), static_cast<std::size_t>(ASN1_STRING_length(serial)));
  if (text.find("PRIVATE KEY") != std::string::npos) {
    const Owned<BIO> alone(BIO_new(BIO_s_mem()));
    for (const Owned<X509>& one : certificates) PEM_write_bio_X509(alone.get(), one.get());
    described["CertificateString"] = TextIn(alone.get());
  }
  return described;
}

SigningRequest MakeSigningRequest(const Json& parameters) {
  const ErrorsForgotten forgotten;
  const Owned<X509_REQ> request(X509_REQ_new());
  X509_NAME* const subject = X509_REQ_get_subject_name(request.get());
  for (const auto& [property, nid] : kNameEntries) {
    if (!AddEntry(subject, nid, parameters.value(property, Json()))) {
      return {.wrong_parameter = property};
    }
  }
  if (!AddAlternatives(request.get(), parameters.value("AlternativeNames", Json()))) {
    return {.wrong_parameter = "AlternativeNames"};
  }
  std::string wrong = "KeyPairAlgorithm";
  const Owned<EVP_PKEY> key = MakeKey(parameters, wrong);
  const Owned<BIO> written(BIO_new(BIO_s_mem()));
  const bool is_made = key != nullptr && X509_REQ_set_pubkey(request.get(), key.get()) == 1 &&
                       X509_REQ_sign(request.get(), key.get(), EVP_sha256()) > 0 &&
                       PEM_write_bio_X509_REQ(written.get(), request.get()) == 1;
  if (!is_made) return {.wrong_parameter = wrong};
  return {.text = TextIn(written.get())};
}

}  // namespace shoal::mockserver
