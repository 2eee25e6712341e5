// SPDX-License-Identifier: Apache-2.0
#include "platform/http/development_certificate.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <utility>

#include "platform/runtime/atomic_file.h"

namespace shoal::http {
namespace {

constexpr int kValidDays = 365;
constexpr mode_t kOwnerAlone = 0600;
constexpr mode_t kAllRead = 0644;

struct Free {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(X509_EXTENSION* extension) const { X509_EXTENSION_free(extension); }
  void operator()(BIO* memory) const { BIO_free(memory); }
};
using Key = std::unique_ptr<EVP_PKEY, Free>;
using Certificate = std::unique_ptr<X509, Free>;

// The order matters: authorityKeyIdentifier copies subjectKeyIdentifier.
constexpr std::array<std::pair<int, const char*>, 6> kExtensions = {{
    {NID_basic_constraints, "critical,CA:FALSE"},
    {NID_key_usage, "critical,digitalSignature"},
    {NID_ext_key_usage, "serverAuth"},
    {NID_subject_alt_name, "DNS:localhost,IP:127.0.0.1,IP:::1"},
    {NID_subject_key_identifier, "hash"},
    {NID_authority_key_identifier, "keyid"},
}};

bool AddExtension(X509* certificate, int kind, const char* value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, certificate, certificate, nullptr, nullptr, 0);
  const std::unique_ptr<X509_EXTENSION, Free> extension(
      X509V3_EXT_conf_nid(nullptr, &context, kind, value));
  return extension != nullptr && X509_add_ext(certificate, extension.get(), -1) == 1;
}

bool SetSerial(X509* certificate) {
  std::uint64_t serial = 0;
  if (RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof(serial)) != 1) return false;
  return ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), serial >> 1 | 1) == 1;
}

bool SetName(X509* certificate) {
  static constexpr unsigned char kName[] = "localhost";
  X509_NAME* const name = X509_get_subject_name(certificate);
  return X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, kName, -1, -1, 0) == 1 &&
         X509_set_issuer_name(certificate, name) == 1;
}

bool SetValidity(X509* certificate) {
  return X509_time_adj_ex(X509_getm_notBefore(certificate), -1, 0, nullptr) != nullptr &&
         X509_time_adj_ex(X509_getm_notAfter(certificate), kValidDays - 1, 0, nullptr) != nullptr;
}

// Returns null when OpenSSL fails.
Certificate SelfSigned(EVP_PKEY* key) {
  Certificate certificate(X509_new());
  if (certificate == nullptr) return nullptr;
  X509* const raw = certificate.get();
  bool good = X509_set_version(raw, X509_VERSION_3) == 1 && SetSerial(raw) && SetName(raw) &&
              SetValidity(raw) && X509_set_pubkey(raw, key) == 1;
  for (const auto& [kind, value] : kExtensions) good = good && AddExtension(raw, kind, value);
  if (!good || X509_sign(raw, key, EVP_sha256()) == 0) return nullptr;
  return certificate;
}

std::string TextOf(BIO* memory) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(memory, &data);
  return {data, static_cast<std::size_t>(size)};
}

}  // namespace

absl::Status MakeDevelopmentCertificate(const std::string& certificate_file,
                                        const std::string& key_file) {
  std::error_code ignored;
  const bool has_certificate = std::filesystem::exists(certificate_file, ignored);
  const bool has_key = std::filesystem::exists(key_file, ignored);
  if (has_certificate && has_key) return absl::OkStatus();
  if (has_certificate || has_key) {
    return runtime::FailedPrecondition("of " + certificate_file + " and " + key_file + " only " +
                                       (has_key ? key_file : certificate_file) +
                                       " is there: remove it, or bring the other");
  }
  const Key key(EVP_EC_gen("P-256"));
  const Certificate certificate = key == nullptr ? nullptr : SelfSigned(key.get());
  const std::unique_ptr<BIO, Free> key_text(BIO_new(BIO_s_mem()));
  const std::unique_ptr<BIO, Free> certificate_text(BIO_new(BIO_s_mem()));
  const bool written = certificate != nullptr && key_text != nullptr &&
                       certificate_text != nullptr &&
                       PEM_write_bio_PKCS8PrivateKey(key_text.get(), key.get(), nullptr, nullptr, 0,
                                                     nullptr, nullptr) == 1 &&
                       PEM_write_bio_X509(certificate_text.get(), certificate.get()) == 1;
  ERR_clear_error();
  if (!written) return runtime::Internal("OpenSSL cannot make a P-256 certificate");
  SHOAL_RETURN_IF_ERROR(
      runtime::WriteFileAtomically(key_file, TextOf(key_text.get()), kOwnerAlone));
  return runtime::WriteFileAtomically(certificate_file, TextOf(certificate_text.get()), kAllRead);
}

}  // namespace shoal::http
