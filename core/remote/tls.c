// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "remote/tls.h"

#include "base/alloc.h"
#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct tls_context {
    SSL_CTX *contexts[2]; // By role.
    BIO_METHOD *socket_method;
    tls_accepts_fn accepts;
    void *user;
};

struct tls {
    SSL *ssl;
    int socket;
    short events; // To poll for, since the last call.
    int was_refused;
    struct identity_hash peer;
};

// -- Sockets -----------------------------------------------------------------------------------

// OpenSSL's own BIO of sockets raises SIGPIPE where the other side is gone.
static int bio_write(BIO *bio, const char *bytes, int size)
{
    const struct tls *tls = BIO_get_data(bio);
    const ssize_t sent = send(tls->socket, bytes, (size_t)size, MSG_NOSIGNAL);

    BIO_clear_retry_flags(bio);
    if (sent < 0 && (errno == EAGAIN || errno == EINTR)) {
        BIO_set_retry_write(bio);
    }
    return (int)sent;
}

static int bio_read(BIO *bio, char *bytes, int size)
{
    const struct tls *tls = BIO_get_data(bio);
    const ssize_t received = recv(tls->socket, bytes, (size_t)size, 0);

    BIO_clear_retry_flags(bio);
    if (received < 0 && (errno == EAGAIN || errno == EINTR)) {
        BIO_set_retry_read(bio);
    }
    return (int)received;
}

static long bio_control(BIO *bio, int command, long number, void *pointer)
{
    (void)bio;
    (void)number;
    (void)pointer;
    return command == BIO_CTRL_FLUSH; // Nothing is held back.
}

static int bio_create(BIO *bio)
{
    BIO_set_init(bio, 1);
    return 1;
}

static BIO_METHOD *make_socket_method(void)
{
    BIO_METHOD *method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "socket");

    if (method != NULL && BIO_meth_set_write(method, bio_write) == 1 &&
        BIO_meth_set_read(method, bio_read) == 1 && BIO_meth_set_ctrl(method, bio_control) == 1 &&
        BIO_meth_set_create(method, bio_create) == 1) {
        return method;
    }
    BIO_meth_free(method);
    return NULL;
}

// -- Contexts ----------------------------------------------------------------------------------

// Takes the place of all that OpenSSL checks of a certificate.
static int verify(X509_STORE_CTX *store, void *user)
{
    const struct tls_context *context = user;
    X509 *certificate = X509_STORE_CTX_get0_cert(store);
    struct identity_hash key;

    return certificate != NULL && identity_hash_of(certificate, &key) == TAPML_OK &&
           context->accepts(context->user, &key);
}

static SSL_CTX *
make_context(const struct identity *identity, enum tls_role role, struct tls_context *context)
{
    SSL_CTX *made = SSL_CTX_new(role == TLS_SERVER ? TLS_server_method() : TLS_client_method());

    if (made == NULL || SSL_CTX_set_min_proto_version(made, TLS1_3_VERSION) != 1 ||
        SSL_CTX_use_certificate(made, identity_certificate(identity)) != 1 ||
        SSL_CTX_use_PrivateKey(made, identity_key(identity)) != 1 ||
        SSL_CTX_set_num_tickets(made, 0) != 1) {
        SSL_CTX_free(made);
        return NULL;
    }
    SSL_CTX_set_session_cache_mode(made, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_options(made, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION);
    SSL_CTX_set_mode(made, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_verify(made, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
    SSL_CTX_set_cert_verify_callback(made, verify, context);
    return made;
}

tapml_status tls_context_create(const struct identity *identity,
                                tls_accepts_fn accepts,
                                void *user,
                                struct tls_context **out_context)
{
    struct tls_context *context = alloc_new(sizeof(*context));

    if (context == NULL) {
        return status_no_memory();
    }
    context->accepts = accepts;
    context->user = user;
    context->socket_method = make_socket_method();
    context->contexts[TLS_CLIENT] = make_context(identity, TLS_CLIENT, context);
    context->contexts[TLS_SERVER] = make_context(identity, TLS_SERVER, context);
    if (context->socket_method == NULL || context->contexts[TLS_CLIENT] == NULL ||
        context->contexts[TLS_SERVER] == NULL) {
        tls_context_destroy(context);
        ERR_clear_error();
        return status_fail(TAPML_UNAVAILABLE, "OpenSSL cannot speak TLS 1.3 with this key");
    }
    *out_context = context;
    return TAPML_OK;
}

void tls_context_destroy(struct tls_context *context)
{
    if (context != NULL) {
        SSL_CTX_free(context->contexts[TLS_CLIENT]);
        SSL_CTX_free(context->contexts[TLS_SERVER]);
        BIO_meth_free(context->socket_method);
        alloc_free(context);
    }
}

// -- Connections -------------------------------------------------------------------------------

// After a call that has not succeeded: OK if it is to be called again when the socket is ready.
static tapml_status explain(struct tls *tls, int result, const char *doing)
{
    const int error = SSL_get_error(tls->ssl, result);
    const unsigned long why = ERR_peek_last_error();

    ERR_clear_error();
    if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) {
        tls->events = error == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT;
        return TAPML_OK;
    }
    tls->was_refused = ERR_GET_REASON(why) > SSL_AD_REASON_OFFSET;
    if (error == SSL_ERROR_ZERO_RETURN || (error == SSL_ERROR_SYSCALL && errno == 0)) {
        return status_fail(TAPML_UNAVAILABLE, "the other side has closed the connection");
    }
    if (error == SSL_ERROR_SYSCALL) {
        return status_fail(TAPML_UNAVAILABLE, "%s: %s", doing, strerror(errno));
    }
    return status_fail(TAPML_UNAVAILABLE, "%s: TLS says '%s'", doing,
                       why != 0 ? ERR_reason_error_string(why) : "nothing");
}

static tapml_status
make_connection(struct tls_context *context, enum tls_role role, struct tls *tls)
{
    BIO *bio = BIO_new(context->socket_method);

    tls->ssl = bio != NULL ? SSL_new(context->contexts[role]) : NULL;
    if (tls->ssl == NULL) {
        BIO_free(bio);
        ERR_clear_error();
        return status_no_memory();
    }
    BIO_set_data(bio, tls);
    SSL_set_bio(tls->ssl, bio, bio);
    if (role == TLS_SERVER) {
        SSL_set_accept_state(tls->ssl);
    } else {
        SSL_set_connect_state(tls->ssl);
    }
    const int flags = fcntl(tls->socket, F_GETFL);

    return flags >= 0 && fcntl(tls->socket, F_SETFL, flags | O_NONBLOCK) == 0
               ? TAPML_OK
               : status_fail(TAPML_UNAVAILABLE, "a socket cannot be set up: %s", strerror(errno));
}

static tapml_status shake_hands(struct tls *tls, int timeout_ms)
{
    const uint64_t end_ns = clock_now_ns() + (uint64_t)timeout_ms * 1000000u;

    for (;;) {
        errno = 0;
        const int result = SSL_do_handshake(tls->ssl);

        if (result == 1) {
            break;
        }
        TAPML_TRY(explain(tls, result, "the handshake failed"));
        const uint64_t now_ns = clock_now_ns();

        if (now_ns >= end_ns) {
            return status_fail(TAPML_DEADLINE, "the handshake took longer than %d ms", timeout_ms);
        }
        (void)poll(&(struct pollfd){.fd = tls->socket, .events = tls->events}, 1,
                   (int)((end_ns - now_ns) / 1000000u) + 1);
    }
    X509 *certificate = SSL_get0_peer_certificate(tls->ssl);

    return certificate != NULL ? identity_hash_of(certificate, &tls->peer)
                               : status_fail(TAPML_UNAVAILABLE, "the other side has shown no key");
}

tapml_status tls_open(struct tls_context *context,
                      enum tls_role role,
                      int socket,
                      int timeout_ms,
                      struct tls **out_tls)
{
    struct tls *tls = alloc_new(sizeof(*tls));

    if (tls == NULL) {
        close(socket);
        return status_no_memory();
    }
    tls->socket = socket;
    tapml_status status = make_connection(context, role, tls);

    status = status == TAPML_OK ? shake_hands(tls, timeout_ms) : status;
    if (status != TAPML_OK) {
        tls_close(tls);
        return status;
    }
    *out_tls = tls;
    return TAPML_OK;
}

void tls_close(struct tls *tls)
{
    if (tls != NULL) {
        if (tls->ssl != NULL && SSL_is_init_finished(tls->ssl)) {
            (void)SSL_shutdown(tls->ssl);
        }
        SSL_free(tls->ssl);
        close(tls->socket);
        ERR_clear_error();
        alloc_free(tls);
    }
}

const struct identity_hash *tls_peer(const struct tls *tls)
{
    return &tls->peer;
}

tapml_status tls_binding(const struct tls *tls, struct identity_hash *out_binding)
{
    static const char label[] = "EXPORTER-Channel-Binding";

    return SSL_export_keying_material(tls->ssl, out_binding->bytes, IDENTITY_HASH_BYTES, label,
                                      sizeof(label) - 1, NULL, 0, 1) == 1
               ? TAPML_OK
               : status_fail(TAPML_UNAVAILABLE, "TLS has no binding for this connection");
}

int tls_socket(const struct tls *tls)
{
    return tls->socket;
}

tapml_status tls_write(struct tls *tls, const void *bytes, size_t size, size_t *out_written)
{
    errno = 0;
    const int result = SSL_write_ex(tls->ssl, bytes, size, out_written);

    if (result == 1) {
        return TAPML_OK;
    }
    *out_written = 0;
    return explain(tls, result, "sending failed");
}

tapml_status tls_read(struct tls *tls, void *bytes, size_t size, size_t *out_read)
{
    errno = 0;
    const int result = SSL_read_ex(tls->ssl, bytes, size, out_read);

    if (result == 1) {
        return TAPML_OK;
    }
    *out_read = 0;
    return explain(tls, result, "receiving failed");
}

short tls_events(const struct tls *tls)
{
    return tls->events;
}

int tls_was_refused(const struct tls *tls)
{
    return tls->was_refused;
}
