// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A store of which pages are damaged or cut off: what is whole goes into a new one, which takes its
// place.
//
// Rows are taken over one by one, around the pages that cannot be read. What is trusted is a whole
// prompt: where one of its calls or cases, or anything that these refer to, is lost, or may be, all
// rows of the prompt are left out, and it is carved again as one that never was. So are results of
// operators whose limits are lost, results and steps of targets whose facts are, and steps of the
// ledger behind one that is, or (their order is that of the times of calls) where a prompt is. A
// spoilt header, and spoilt pages of the schema, are read from a store that was just made, since
// the same statements make the same pages.
#pragma once

#include "base/status.h"

struct text;

// Looks at every page of the store at `path`, and where one is damaged makes a new store of what is
// whole, keeps the old one as PATH.damaged (or PATH.damaged-2 ...) and tells in `out_told` what was
// damaged, kept and lost; that stays empty where nothing was done. Killed at any moment, the next
// call goes on or starts over. Nobody else may have the store open.
//
// `facts` are names that a run cannot do without, ended by NULL: where damage took one of them, or
// nothing can be read at all, it is TAPML_INVALID and the file stays as it is. A database that is
// no store, and a store of another version, is none of its business: `store_open` refuses it.
tapml_status
salvage_run(const char *path, const char *const *facts, struct text *out_told) STATUS_USED;
