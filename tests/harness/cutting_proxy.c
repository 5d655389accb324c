// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/cutting_proxy.h"

#include <criterion/criterion.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

static struct sockaddr_in loopback(unsigned port)
{
    return (struct sockaddr_in){.sin_family = AF_INET,
                                .sin_port = htons((uint16_t)port),
                                .sin_addr = {htonl(INADDR_LOOPBACK)}};
}

static void drop(struct cutting_proxy *proxy)
{
    // A reset: what the other side has not read yet is lost, too.
    const struct linger at_once = {.l_onoff = 1, .l_linger = 0};

    for (int i = 0; i < 2; i++) {
        if (proxy->pair[i] >= 0) {
            (void)setsockopt(proxy->pair[i], SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
            close(proxy->pair[i]);
        }
        proxy->pair[i] = -1;
    }
}

static void take_one(struct cutting_proxy *proxy)
{
    const unsigned cut_bytes = atomic_load(&proxy->cut_bytes);
    const struct sockaddr_in name = loopback(atomic_load(&proxy->target));
    const int one = 1;

    const int near = accept(proxy->listening, NULL, NULL);
    const int far = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    atomic_fetch_add(&proxy->accepted, 1);
    if (name.sin_port == 0 || (atomic_load(&proxy->keeps) && proxy->pair[0] >= 0) ||
        connect(far, (const struct sockaddr *)&name, sizeof(name)) != 0) {
        close(near);
        close(far);
        return; // The one that there may be goes on.
    }
    drop(proxy);
    proxy->pair[0] = near;
    proxy->pair[1] = far;
    proxy->left =
        cut_bytes > 0 ? cut_bytes / 2 + random_below(&proxy->random, cut_bytes + 1) : UINT64_MAX;
    for (int i = 0; i < 2; i++) {
        (void)setsockopt(proxy->pair[i], IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    }
}

// Returns 0 if the connection has ended.
static int pass(struct cutting_proxy *proxy, int from)
{
    char bytes[1 << 14];
    const size_t most = proxy->left < sizeof(bytes) ? (size_t)proxy->left : sizeof(bytes);
    const ssize_t size = recv(proxy->pair[from], bytes, most, 0);

    if (size <= 0 || send(proxy->pair[1 - from], bytes, (size_t)size, MSG_NOSIGNAL) != size) {
        return 0;
    }
    proxy->left -= proxy->left == UINT64_MAX ? 0 : (uint64_t)size;
    if (proxy->left == 0) {
        atomic_fetch_add(&proxy->cuts, 1);
        return 0;
    }
    return 1;
}

static void *run(void *user)
{
    struct cutting_proxy *proxy = user;

    while (!atomic_load(&proxy->is_ending)) {
        struct pollfd ends[] = {{.fd = proxy->wake, .events = POLLIN},
                                {.fd = proxy->listening, .events = POLLIN},
                                {.fd = proxy->pair[0], .events = POLLIN},
                                {.fd = proxy->pair[1], .events = POLLIN}};
        eventfd_t count;

        (void)poll(ends, 4, -1);
        if (ends[0].revents != 0) {
            (void)eventfd_read(proxy->wake, &count);
            if (atomic_exchange(&proxy->is_to_cut, 0)) {
                drop(proxy);
                continue;
            }
        }
        for (int i = 0; i < 2 && proxy->pair[0] >= 0; i++) {
            if (ends[2 + i].revents != 0 && !pass(proxy, i)) {
                drop(proxy);
            }
        }
        if (ends[1].revents != 0) {
            take_one(proxy);
        }
    }
    drop(proxy);
    return NULL;
}

void cutting_proxy_open(struct cutting_proxy *proxy, uint64_t seed)
{
    struct sockaddr_in name = loopback(0);
    socklen_t size = sizeof(name);

    *proxy = (struct cutting_proxy){.pair = {-1, -1}};
    random_init(&proxy->random, seed);
    proxy->wake = eventfd(0, EFD_CLOEXEC);
    proxy->listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    cr_assert_eq(bind(proxy->listening, (const struct sockaddr *)&name, sizeof(name)), 0);
    cr_assert_eq(listen(proxy->listening, 16), 0);
    cr_assert_eq(getsockname(proxy->listening, (struct sockaddr *)&name, &size), 0);
    proxy->port = ntohs(name.sin_port);
    cr_assert_eq(pthread_create(&proxy->thread, NULL, run, proxy), 0);
}

void cutting_proxy_cut(struct cutting_proxy *proxy)
{
    atomic_store(&proxy->is_to_cut, 1);
    (void)eventfd_write(proxy->wake, 1);
    while (atomic_load(&proxy->is_to_cut)) {
        (void)poll(NULL, 0, 1);
    }
}

void cutting_proxy_close(struct cutting_proxy *proxy)
{
    atomic_store(&proxy->is_ending, 1);
    (void)eventfd_write(proxy->wake, 1);
    cr_assert_eq(pthread_join(proxy->thread, NULL), 0);
    close(proxy->listening);
    close(proxy->wake);
}
