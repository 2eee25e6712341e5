// SPDX-License-Identifier: Apache-2.0
// Certificates: CertificateService.GenerateCSR and ReplaceCertificate, Certificate.Rekey and Renew,
// and POST of a certificate to a collection.
//
// A certificate that is installed or replaced must be one of its CertificateType (x509.h); another
// text is 400 that names CertificateString. The resource then shows what the certificate says of
// itself, as far as the schema has properties for it, and never a private key that came with it.
//
// A signing request is the operation's response, and changes nothing. The service keeps no keys, so
// it does not check that a certificate answers one of its requests. Rekey and Renew ask for the
// subject that the certificate has.
#pragma once

#include "mockserver/service/handler.h"

namespace shoal::mockserver {

void AddCertificates(HandlerTable& handlers);

}  // namespace shoal::mockserver
