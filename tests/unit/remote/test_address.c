// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "remote/address.h"

#include <criterion/criterion.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

static void expect(const char *text, const char *host, const char *port)
{
    struct address address;
    char url[600];

    MUST(address_parse(text, &address));
    cr_assert_str_eq(address.host, host);
    cr_assert_str_eq(address.port, port);
    if (host[0] != '\0') {
        (void)snprintf(url, sizeof(url), "tapml://%s", text);
        MUST(address_parse_url(url, &address));
        cr_assert_str_eq(address.host, host);
        cr_assert_str_eq(address.port, port);
    }
}

Test(address, is_a_host_and_a_port)
{
    expect("box:7070", "box", "7070");
    expect("box.example.org:1", "box.example.org", "1");
    expect("192.168.0.9:65535", "192.168.0.9", "65535");
    expect("[::1]:80", "::1", "80");
    expect("[fe80::1%eth0]:0", "fe80::1%eth0", "0");
    expect(":7070", "", "7070");
}

Test(address, is_refused_if_it_is_none)
{
    static const char *const wrong[] = {
        "",       "box",       "box:",       "box:x",
        "box:-1", "box:65536", "box: 1",     "box:1 ",
        "::1:80", "[::1]80",   "[::1]",      "[::1:80",
        "[:80",   "box:+1",    "box:0x1",    "box:999999999999999999999",
        "a:b:1",  "]:80",      "[[::1]]:80",
    };
    char longest[ADDRESS_HOST_BYTES + 8];
    struct address address = {.host = "kept"};

    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        cr_assert_eq(address_parse(wrong[i], &address), TAPML_INVALID, "'%s'", wrong[i]);
        cr_assert_not_null(strstr(status_message(), "is no address: expected HOST:PORT"));
    }
    memset(longest, 'h', sizeof(longest));
    memcpy(longest + ADDRESS_HOST_BYTES - 1, ":9", 3);
    MUST(address_parse(longest, &address));
    memcpy(longest + ADDRESS_HOST_BYTES - 1, "h:9", 4);
    cr_assert_eq(address_parse(longest, &address), TAPML_INVALID);
}

Test(address, of_a_worker_has_a_scheme_and_a_host)
{
    static const char *const wrong[] = {"box:7070",      "http://box:7070", "tapml:/box:7070",
                                        "tapml://:7070", "TAPML://box:1",   "",
                                        "tapml://[]:80"};
    struct address address;

    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        cr_assert_eq(address_parse_url(wrong[i], &address), TAPML_INVALID, "'%s'", wrong[i]);
        cr_assert_not_null(strstr(status_message(), "expected tapml://HOST:PORT"), "%s",
                           status_message());
    }
    cr_assert_eq(address_parse_url("tapml://box", &address), TAPML_INVALID);
}

static struct address parsed(const char *host, unsigned port)
{
    struct address address;
    char text[64];

    (void)snprintf(text, sizeof(text), "%s:%u", host, port);
    MUST(address_parse(text, &address));
    return address;
}

static void expect_connection(const char *host)
{
    const struct address any = parsed(host, 0);
    int listening = -1, connected = -1, no_delay = 0;
    socklen_t size = sizeof(no_delay);
    unsigned port = 0;

    MUST(address_listen(&any, &listening, &port));
    cr_assert_gt(port, 0);
    const struct address there = parsed(host, port);

    MUST(address_connect(&there, 5000, &connected));
    const int accepted = accept(listening, NULL, NULL);

    cr_assert_geq(accepted, 0);
    address_set_up(accepted);
    cr_assert_eq(getsockopt(connected, IPPROTO_TCP, TCP_NODELAY, &no_delay, &size), 0);
    cr_assert(no_delay);
    char byte = 'x';

    cr_assert_eq(send(connected, &byte, 1, 0), 1);
    cr_assert_eq(recv(accepted, &byte, 1, 0), 1);
    int second = -1;
    unsigned second_port = 0;

    cr_assert_eq(address_listen(&there, &second, &second_port), TAPML_UNAVAILABLE);
    cr_assert_not_null(strstr(status_message(), "cannot listen at"), "%s", status_message());
    close(connected);
    close(accepted);
    close(listening);
    cr_assert_eq(address_connect(&there, 5000, &connected), TAPML_UNAVAILABLE);
    cr_assert_not_null(strstr(status_message(), "cannot be reached: Connection refused"), "%s",
                       status_message());
}

Test(address, connects_to_one_that_listens)
{
    expect_connection("127.0.0.1");
    expect_connection("localhost");
}

Test(address, connects_over_ipv6_where_there_is_one)
{
    const int probe = socket(AF_INET6, SOCK_STREAM, 0);
    const struct sockaddr_in6 name = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};

    if (probe < 0 || bind(probe, (const struct sockaddr *)&name, sizeof(name)) != 0) {
        cr_skip_test("there is no loopback of IPv6");
    }
    close(probe);
    expect_connection("[::1]");
}

Test(address, gives_up_a_host_that_is_not_known)
{
    const struct address nowhere = parsed("no-such-host.invalid", 9);
    int socket = -1;

    cr_assert_eq(address_connect(&nowhere, 1000, &socket), TAPML_UNAVAILABLE);
    cr_assert_not_null(strstr(status_message(), "'no-such-host.invalid' is not known"), "%s",
                       status_message());
}

// A queue that is full answers nothing: the connection waits.
Test(address, gives_up_a_host_that_does_not_answer)
{
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof(name);
    const int listening = socket(AF_INET, SOCK_STREAM, 0);
    int sockets[8], count = 0;
    tapml_status status = TAPML_OK;

    cr_assert_eq(bind(listening, (struct sockaddr *)&name, sizeof(name)), 0);
    cr_assert_eq(listen(listening, 0), 0);
    cr_assert_eq(getsockname(listening, (struct sockaddr *)&name, &size), 0);
    const struct address there = parsed("127.0.0.1", ntohs(name.sin_port));
    uint64_t begin_ns = 0;

    while (count < 8 && status == TAPML_OK) {
        begin_ns = clock_now_ns();
        status = address_connect(&there, 200, &sockets[count]);
        count += status == TAPML_OK;
    }
    cr_assert_eq(status, TAPML_UNAVAILABLE);
    cr_assert_not_null(strstr(status_message(), "timed out"), "%s", status_message());
    cr_assert_lt(clock_now_ns() - begin_ns, 3000000000u);
    for (int i = 0; i < count; i++) {
        close(sockets[i]);
    }
    close(listening);
}
