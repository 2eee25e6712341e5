// SPDX-License-Identifier: Apache-2.0
#include "http/tls_engine.h"

#include <openssl/bio.h>
#include <openssl/err.h>
namespace shoal::http {

namespace {

int Append(BIO* output, const char* bytes, int size) {
  static_cast<std::string*>(BIO_get_data(output))->append(bytes, static_cast<std::size_t>(size));
  return size;
}

long Control(BIO*, int command, long, void*) { return command == BIO_CTRL_FLUSH ? 1 : 0; }

// Appends to the string that is its data.
const BIO_METHOD* Appending() {
  static const BIO_METHOD* const kMethod = [] {
    BIO_METHOD* const method = BIO_meth_new(BIO_TYPE_SOURCE_SINK | BIO_get_new_index(), "string");
    BIO_meth_set_write(method, &Append);
    BIO_meth_set_ctrl(method, &Control);
    return method;
  }();
  return kMethod;
}

}  // namespace

TlsEngine::TlsEngine(SSL_CTX* context) : ssl_(SSL_new(context)), input_(BIO_new(BIO_s_mem())) {
  // An input that is used up is to be waited for, not the end.
  BIO_set_mem_eof_return(input_, -1);
  BIO* const output = BIO_new(Appending());
  BIO_set_data(output, &output_);
  BIO_set_init(output, 1);
  SSL_set_bio(ssl_.get(), input_, output);
  SSL_set_accept_state(ssl_.get());
}

void TlsEngine::Feed(std::string_view bytes) {
  BIO_write(input_, bytes.data(), static_cast<int>(bytes.size()));
}

bool TlsEngine::has_input() const {
  return SSL_has_pending(ssl_.get()) == 1 || BIO_ctrl_pending(input_) > 0;
}

TlsEngine::Step TlsEngine::Outcome(int result) const {
  if (result > 0) return Step::kDone;
  switch (SSL_get_error(ssl_.get(), result)) {
    case SSL_ERROR_WANT_READ:
    case SSL_ERROR_WANT_WRITE:
      return Step::kMore;
    case SSL_ERROR_ZERO_RETURN:
      return Step::kClosed;
    default:
      return Step::kFailed;
  }
}

TlsEngine::Step TlsEngine::Handshake() {
  ERR_clear_error();
  return Outcome(SSL_do_handshake(ssl_.get()));
}

TlsEngine::Step TlsEngine::Read(char* room, std::size_t size, std::size_t& bytes) {
  ERR_clear_error();
  bytes = 0;
  return Outcome(SSL_read_ex(ssl_.get(), room, size, &bytes));
}

bool TlsEngine::Write(std::string_view plain) {
  if (plain.empty()) return true;
  ERR_clear_error();
  std::size_t written = 0;
  return SSL_write_ex(ssl_.get(), plain.data(), plain.size(), &written) == 1;
}

void TlsEngine::Close() {
  ERR_clear_error();
  SSL_shutdown(ssl_.get());
}

void TlsEngine::TakeOutput(std::string& bytes) {
  constexpr std::size_t kKept = std::size_t{256} << 10;
  if (bytes.capacity() > kKept) bytes = std::string();
  bytes.clear();
  bytes.swap(output_);
}

}  // namespace shoal::http
