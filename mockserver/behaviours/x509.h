// SPDX-License-Identifier: Apache-2.0
// Certificates and signing requests as texts (RFC 5280, RFC 2986, RFC 7468), by OpenSSL. Texts come
// from clients: any bytes are taken, and none makes OpenSSL ask for a pass phrase.
#pragma once

#include <optional>
#include <string>

#include "mockserver/messages/message.h"

namespace shoal::mockserver {

// Returns the properties with which a Certificate resource describes the first certificate in
// `text`: CertificateString, Subject, Issuer, ValidNotBefore, ValidNotAfter, SerialNumber,
// Fingerprint, FingerprintHashAlgorithm and SignatureAlgorithm. CertificateString is `text`, but
// holds the certificates alone when `text` has a private key, too. Returns nothing when `text` is
// not of `type`, which is "PEM", "PEMchain" or "PKCS7"; an unknown type is read as PEM.
std::optional<Json> DescribeCertificate(const std::string& text, const std::string& type);

// A certificate signing request in PEM, or the name of the parameter for which there is none.
struct SigningRequest {
  std::string text = {};
  std::string wrong_parameter = {};
};

// Makes a new key and a request for a certificate of it. The key is not kept. `parameters` are
// those of CertificateService.GenerateCSR that concern the subject, its alternative names and the
// key; an absent subject is empty. A key is P-256 unless KeyPairAlgorithm, KeyCurveId or
// KeyBitLength name another: P-384, P-521, or RSA of 2048, 3072 or 4096 bits.
SigningRequest MakeSigningRequest(const Json& parameters);

}  // namespace shoal::mockserver
