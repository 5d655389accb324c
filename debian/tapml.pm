# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
# dh --with tapml, or dh-sequence-tapml among the build dependencies: what dh_tapml writes is there when the control files
# are made of it.
use strict;
use warnings;
use Debian::Debhelper::Dh_Lib;

insert_after('dh_shlibdeps', 'dh_tapml');

1;
