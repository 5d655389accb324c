# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""A bad link between two machines: two network namespaces with a TUN device each, and a process that carries their packets
late, loses some and is cut. Kernels without netem are common, so the kernel has no part in it. It needs root.
"""
import contextlib
import ctypes
import fcntl
import heapq
import os
import random
import select
import signal
import socket
import struct
import time

import rig

ADDRESSES = ("10.9.0.1", "10.9.0.2")  # Of the near and the far side.
CLONE_NEWNET = 0x40000000
TUNSETIFF, IFF_TUN, IFF_NO_PI, IFF_UP = 0x400454CA, 1, 0x1000, 1
SIOCGIFFLAGS, SIOCSIFFLAGS, SIOCSIFADDR, SIOCSIFDSTADDR = 0x8913, 0x8914, 0x8916, 0x8918
PACKET_MAX = 65536
IDLE_S = 0.05  # Between looks at what is to be done.


def set_up(name, address="", other=""):
    """Gives a network device its addresses, if there are any, and turns it on."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        for request, text in ((SIOCSIFADDR, address), (SIOCSIFDSTADDR, other)):
            if text:
                fcntl.ioctl(control, request, struct.pack("16sHH4s8x", name, socket.AF_INET, 0, socket.inet_aton(text)))
        flags = struct.unpack("16sH14x", fcntl.ioctl(control, SIOCGIFFLAGS, struct.pack("16s16x", name)))[1]
        fcntl.ioctl(control, SIOCSIFFLAGS, struct.pack("16sH14x", name, flags | IFF_UP))


def keep_namespace(address, other, answer):
    """In a process of its own: makes the namespace and its device, sends the device's descriptor, and stays."""
    if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), f"a network namespace cannot be made: {os.strerror(ctypes.get_errno())}")
    tun = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(tun, TUNSETIFF, struct.pack("16sH14x", b"tapml", IFF_TUN | IFF_NO_PI))
    set_up(b"tapml", address, other)
    set_up(b"lo")
    socket.send_fds(answer, [b"made"], [tun])
    os.close(tun)
    answer.recv(1)  # Until the other end is closed.


def in_a_child(work):
    """Runs a function in a child, which is given one end of a pair of sockets; gives its pid and the other end."""
    here, there = socket.socketpair()
    pid = os.fork()
    if pid == 0:
        here.close()
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        with contextlib.suppress(BaseException):
            try:
                work(there)
            except OSError as error:
                there.send(str(error).encode())
        os._exit(0)
    there.close()
    return pid, here


class Carrier:
    """Carries packets from device to device until the other end of `orders` is closed."""

    def __init__(self, devices, orders, delay_s, loss, seed):
        self.devices, self.orders, self.delay_s, self.loss = devices, orders, delay_s, loss
        self.chance = random.Random(seed)
        self.waiting = []  # Time, serial number, device, packet.
        self.serial = 0
        self.cut_until = 0.0

    def deliver(self, now):
        while self.waiting and self.waiting[0][0] <= now:
            _, _, device, packet = heapq.heappop(self.waiting)
            with contextlib.suppress(OSError):  # Its queue is full: the packet is lost.
                os.write(device, packet)

    def take(self, device, now):
        """What a device has at once: more than one packet for each look at all of them."""
        other = self.devices[1 - self.devices.index(device)]
        with contextlib.suppress(BlockingIOError):
            for _ in range(64):
                packet = os.read(device, PACKET_MAX)
                if now >= self.cut_until and self.chance.random() >= self.loss:
                    self.serial += 1
                    heapq.heappush(self.waiting, (now + self.delay_s, self.serial, other, packet))

    def obey(self, order, now):
        """A cut loses what is on its way, too."""
        self.cut_until = now + struct.unpack("d", order)[0]
        self.waiting.clear()

    def work(self):
        for device in self.devices:
            os.set_blocking(device, False)
        while True:
            now = time.monotonic()
            self.deliver(now)
            rest = max(0.0, min(IDLE_S, self.waiting[0][0] - now)) if self.waiting else IDLE_S
            ready = select.select([*self.devices, self.orders], [], [], rest)[0]
            now = time.monotonic()
            for end in ready:
                if end is not self.orders:
                    self.take(end, now)
                elif order := self.orders.recv(8):
                    self.obey(order, now)
                else:
                    return


class Relay:
    """The link: `delay_s` later each way, and of all packets the share `loss` is lost. Close it when its users have ended."""

    def __init__(self, delay_s=0.0, loss=0.0, seed=1):
        self.children, self.devices = [], []
        self.orders = None
        try:
            for side in (0, 1):
                self.add_side(ADDRESSES[side], ADDRESSES[1 - side])
            pid, self.orders = in_a_child(lambda orders: Carrier(self.devices, orders, delay_s, loss, seed).work())
            self.children.append((pid, self.orders))
        except BaseException:
            self.close()
            raise

    def add_side(self, address, other):
        pid, keep = in_a_child(lambda answer: keep_namespace(address, other, answer))
        self.children.append((pid, keep))
        said, devices, _, _ = socket.recv_fds(keep, 256, 1)
        rig.need(f"link between network namespaces ({said.decode()})", devices)
        self.devices += devices

    def enter(self, side):
        """What stands in front of a command that runs on the near (0) or the far (1) side."""
        return ["nsenter", "-t", str(self.children[side][0]), "-n"]

    def cut(self, seconds):
        """Loses all packets for a while, from now on; those that are on their way, too."""
        self.orders.send(struct.pack("d", seconds))

    def close(self):
        for pid, end in reversed(self.children):  # A child has the ends of those before it, too.
            end.close()
            os.waitpid(pid, 0)
        for device in self.devices:
            os.close(device)
        self.children, self.devices = [], []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
