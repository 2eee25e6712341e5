// SPDX-License-Identifier: Apache-2.0
#include "platform/http/tls_engine.h"

#include <openssl/bio.h>
#include <openssl/err.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace shoal::http {

const BIO_METHOD* TlsEngine::WireMethod() {
  static const BIO_METHOD* const kMethod = [] {
    BIO_METHOD* const method = BIO_meth_new(BIO_TYPE_SOURCE_SINK | BIO_get_new_index(), "wire");
    BIO_meth_set_read(method, [](BIO* bio, char* room, int size) {
      std::string_view& input = static_cast<Wire*>(BIO_get_data(bio))->input;
      BIO_clear_retry_flags(bio);
      if (input.empty()) {
        // The retry flag says that more input will come: this is not the end.
        BIO_set_retry_read(bio);
        return -1;
      }
      const std::size_t bytes = std::min(input.size(), static_cast<std::size_t>(size));
      std::memcpy(room, input.data(), bytes);
      input.remove_prefix(bytes);
      return static_cast<int>(bytes);
    });
    BIO_meth_set_write(method, [](BIO* bio, const char* data, int size) {
      Wire& wire = *static_cast<Wire*>(BIO_get_data(bio));
      std::string_view bytes(data, static_cast<std::size_t>(size));
      const Sink* const sink = std::exchange(wire.sink, nullptr);
      if (sink != nullptr && wire.output.empty()) bytes.remove_prefix((*sink)(bytes));
      wire.output.append(bytes);
      return size;
    });
    BIO_meth_set_ctrl(
        method, [](BIO*, int command, long, void*) { return command == BIO_CTRL_FLUSH ? 1L : 0L; });
    return method;
  }();
  return kMethod;
}

TlsEngine::TlsEngine(SSL_CTX* context) : ssl_(SSL_new(context)) {
  BIO* const bio = BIO_new(WireMethod());
  BIO_set_data(bio, &wire_);
  BIO_set_init(bio, 1);
  SSL_set_bio(ssl_.get(), bio, bio);
  SSL_set_accept_state(ssl_.get());
}

void TlsEngine::Feed(std::string_view bytes) { wire_.input = bytes; }

bool TlsEngine::has_input() const {
  return SSL_has_pending(ssl_.get()) == 1 || !wire_.input.empty();
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

bool TlsEngine::Write(std::string_view plain, Sink sink) {
  wire_.sink = &sink;
  const bool is_written = Write(plain);
  wire_.sink = nullptr;
  return is_written;
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
  bytes.swap(wire_.output);
}

}  // namespace shoal::http
