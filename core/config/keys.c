// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "config/keys.h"

#include "config/device_pool.h"
#include "config/isolation.h"
#include "config/key_help.h"
#include "config/keys_sections.h"
#include "config/run_config.h"
#include "config/sharding_file.h"
#include "remote/remote.h"
#include "tensor/encoding.h"
#include "verify/replay_ahead.h"

enum { TOKENS_MAX = 1 << 24, CALLS_MAX = 1 << 30, MEBIBYTES_MAX = 1 << 30 };
enum { SOURCES_MAX = 64 };

#define IN_RUN(member_)      .offset = offsetof(struct run_config, member_)
#define IN_SHARD(member_)    IN_RUN(sharding.member_)
#define IN_WATCH(member_)    IN_RUN(watch.member_)
#define IN_SOURCE(member_)   .offset = offsetof(struct run_config, source.member_)
#define IN_TARGET(member_)   .offset = offsetof(struct place_settings, member_)
#define IN_POOL(member_)     .offset = offsetof(struct device_pool, member_)
#define IN_FAULT(member_)    .offset = offsetof(struct run_config_fault, member_)
#define IN_GROUP(member_)    .offset = offsetof(struct group_rule, member_)
#define IN_FORECAST(member_) .offset = offsetof(struct run_config_forecast, member_)

// A limit of a worker.
#define LIMIT_KEY(section_, name_, place_, example_, help_)                                        \
    {                                                                                              \
        .section = (section_), .name = (name_), .kind = KEY_NUMBER, .fallback = "0",               \
        .high = LIMITS_MAX, place_, .example = (example_), .help = (help_)                         \
    }

// What [source] and [target.NAME] have in common beside their isolation.
#define PLACE_KEYS(section_, in_place_)                                                            \
    {.section = (section_),                                                                        \
     .name = "deadline",                                                                           \
     .kind = KEY_NUMBER,                                                                           \
     .fallback = "30",                                                                             \
     .low = 1,                                                                                     \
     .high = ISOLATION_DEADLINE_MAX_S,                                                             \
     in_place_(isolation.deadline_s),                                                              \
     .example = "60",                                                                              \
     .help = key_help_deadline},                                                                   \
        {.section = (section_),                                                                    \
         .name = "memory",                                                                         \
         .kind = KEY_NUMBER,                                                                       \
         .fallback = "0",                                                                          \
         .high = MEBIBYTES_MAX,                                                                    \
         in_place_(isolation.memory_mib),                                                          \
         .example = "4096",                                                                        \
         .help = key_help_memory},                                                                 \
        LIMIT_KEY(section_, "limit-files", in_place_(isolation.limits.files), "256",               \
                  key_help_files),                                                                 \
        LIMIT_KEY(section_, "limit-processes", in_place_(isolation.limits.processes), "4096",      \
                  key_help_processes),                                                             \
        LIMIT_KEY(section_, "limit-cpu", in_place_(isolation.limits.cpu_s), "3600", key_help_cpu), \
        {.section = (section_),                                                                    \
         .name = "observers",                                                                      \
         .kind = KEY_TEXT,                                                                         \
         in_place_(observers),                                                                     \
         .type = key_help_observers_type,                                                          \
         .example = "tally",                                                                       \
         .help = key_help_observers},                                                              \
    {                                                                                              \
        .section = (section_), .name = "rate", .kind = KEY_OTHERS, .offset = KEYS_NOWHERE,         \
        .type = "an amount, a currency and '/h'", .example = "2.50 USD/h", .help = key_help_rate   \
    }

// -- The table ---------------------------------------------------------------------------------

static const struct key keys[] = {
    {.section = "run",
     .name = "dir",
     .kind = KEY_TEXT,
     .is_needed = 1,
     IN_RUN(dir),
     .type = "a folder",
     .example = "run-tiny",
     .help = "The folder of store, plans and reports. It is created if absent. A second "
             "start resumes the run, if [run], [model] and [source] are unchanged."},
    {.section = "run",
     .name = "prompts",
     .kind = KEY_TEXT,
     .is_needed = 1,
     .unless = RUN_CONFIG_STORE,
     IN_RUN(prompts),
     .type = "a file",
     .example = "prompts.txt",
     .help =
         "One prompt a line, as text, as ids: 'ids: 5 17 3', or as a message to a chat "
         "model: 'chat: Hello' (docs/chat.md). Empty lines are skipped. 'inputs: FILE' before a "
         "prompt has its images (docs/judge.md)."},
    {.section = "run",
     .name = "decode",
     .kind = KEY_NUMBER,
     .fallback = "32",
     .high = TOKENS_MAX,
     IN_RUN(decode),
     .example = "32",
     .help = "Greedy tokens for each prompt, after its prefill. 0 for an encoder."},
    {.section = "run",
     .name = "capacity",
     .kind = KEY_NUMBER,
     .fallback = "256",
     .low = 1,
     .high = TOKENS_MAX,
     IN_RUN(capacity),
     .example = "256",
     .help = "Maximum tokens of a sequence: a prompt and its decoded tokens. All states have this "
             "size."},
    {.section = "run",
     .name = "chunk",
     .kind = KEY_NUMBER,
     .fallback = "128",
     .low = 1,
     .high = TOKENS_MAX,
     IN_RUN(chunk),
     .example = "64",
     .help = "Maximum tokens of a call; longer prompts are fed in chunks. At most the capacity, "
             "which is the default if it is less."},
    {.section = "run",
     .name = "keep",
     .kind = KEY_CHOICE,
     .fallback = "first",
     .words = "first all",
     IN_RUN(keep_all),
     .example = "all",
     .help = "'first' keeps the first case of each instance, phase and shape class, and each that "
             "widens the range of values; 'all' keeps every call."},
    {.section = "run",
     .name = "coordinate",
     .kind = KEY_CHOICE,
     .fallback = "none",
     .words = "none cost",
     IN_RUN(is_coordinated),
     .example = "cost",
     .help = "With 'cost' each target has a process of its own, as with --side-by-side, and all "
             "replay the same cases in the same round, so that what they say of an operator is "
             "told at once; a fast target waits for a slow one. See docs/many-machines.md."},
    {.section = "run",
     .name = "comparers",
     .kind = KEY_TEXT,
     IN_RUN(comparers),
     .type = "ids of comparers with blanks between",
     .example = "snr",
     .help =
         "Components of plugins, COMPONENT or PLUGIN/COMPONENT, that measure each output of each "
         "case on each target, beside the errors of the host. No verdict depends on them. See "
         "docs/write-a-comparer.md."},
    {.section = "run",
     .name = "cache",
     .kind = KEY_NUMBER,
     .fallback = "0",
     .high = MEBIBYTES_MAX,
     IN_RUN(cache_mib),
     .example = "64",
     .help =
         "MiB of the store's pages that stay in memory, to be read again from there; 0: about 2. "
         "See docs/bottleneck.md."},
    {.section = "model",
     .name = "path",
     .kind = KEY_TEXT,
     .is_needed = 1,
     .unless = RUN_CONFIG_STORE,
     IN_RUN(model),
     .type = "a folder or a file",
     .example = "models/tiny",
     .help =
         "A model in the format of Hugging Face: config.json, safetensors, tokenizer.json; or a "
         "GGUF file. A name of 'tapml-host models', or ORGANISATION/NAME, is a folder of the hub's "
         "local cache."},
    {.section = "model",
     .name = "delta",
     .kind = KEY_TEXT,
     IN_RUN(delta),
     .type = "a file",
     .example = "poems.safetensors",
     .help = "A fine-tune of the model, as 'tapml-host delta make' writes what changes. Weights "
             "that do not change stay those of the model's files. See docs/deltas.md."},
    {.section = "model",
     .name = "adapter",
     .kind = KEY_TEXT,
     IN_RUN(adapter),
     .type = "a folder",
     .example = "adapters/poems",
     .help = "A LoRA adapter on the model, as PEFT publishes it: adapter_config.json and "
             "adapter_model.safetensors. Its products are operators of the graph, carved, replayed "
             "and judged as all others. See docs/deltas.md."},
    {.section = "model",
     .name = "architecture",
     .kind = KEY_TEXT,
     IN_RUN(architecture),
     .type = "the id of an architecture's component",
     .example = "my_decoder",
     .help = "Uses this architecture instead of asking all installed ones."},
    {.section = "model",
     .name = "unknown-keys",
     .kind = KEY_CHOICE,
     .fallback = "refuse",
     .words = "refuse allow",
     IN_RUN(allow_unknown_keys),
     .example = "allow",
     .help = "Whether a config.json is refused or allowed if it has keys that the architecture "
             "does not read and that may change the numbers."},
    {.section = "model",
     .name = "weights",
     .kind = KEY_TEXT,
     .fallback = "stored",
     IN_RUN(weights),
     .type = "stored " ENCODING_WORDS " or the word of a plugin's encoding",
     .example = "q8_0",
     .help = "With the word of an encoding, all suitable weights of matrix products and embeddings "
             "are encoded at load, in blocks of 32 values, or of 256 where the word ends in 'k'; "
             "all backends compute with the encoded weights, with those of a plugin's encoding as "
             "f32, whose blocks are the plugin's. The loss of each is reported. It holds for all "
             "places of the run. With 'stored' weights stay unchanged. See docs/encodings.md."},
    {.section = "model",
     .name = "state",
     .kind = KEY_CHOICE,
     .fallback = "f32",
     .words = "f32 f16 q8_0", // In the order of enum state_type.
     IN_RUN(state),
     .example = "f16",
     .help =
         "The type in which the rows of keys and values of attention are kept. With 'f16' they "
         "take half the memory, with 'q8_0' 9 bits a value; all backends compute with the rounded "
         "rows, and what that loses is reported. States of recurrences stay f32. See "
         "docs/states.md."},
    {.section = "model",
     .name = "quantised-inputs",
     .kind = KEY_CHOICE,
     .fallback = "stored",
     .words = "stored plain",
     IN_RUN(plain_inputs),
     .example = "plain",
     .help =
         "With 'stored', activations are rounded before each product with a weight whose inputs "
         "the checkpoint quantises, as it says; with 'plain' they are computed as they are. See "
         "docs/quantised.md."},
    {.section = "source",
     .name = "backend",
     .kind = KEY_TEXT,
     .is_needed = 1,
     .unless = RUN_CONFIG_STORE,
     IN_RUN(source.backend),
     .type = key_help_backend_type,
     .example = "my_backend:0",
     .help = "The backend on which the model is carved. 'tapml-host plugins' lists all backends."},
    {.section = "source",
     .name = "store",
     .kind = KEY_TEXT,
     IN_RUN(store),
     .type = "a file",
     .example = "other.tapmlrun",
     .help =
         "Cases that were carved elsewhere, instead of a backend: the store of another run, or "
         "one that libtapml-carve or `tapml-host import` has written. Its cases are replayed on "
         "the targets; no model is run, so that [model] needs at most 'path', where the weights "
         "are, and [plan], [offload] and the rest of [run] mean nothing. See docs/bridges.md."},
    {.section = "source",
     .name = "isolation",
     .kind = KEY_CHOICE,
     .fallback = "never",
     .words = "never always loopback", // In the order of enum place_isolation_mode.
     IN_RUN(source.isolation.mode),
     .example = "always",
     .help = key_help_isolation},
    PLACE_KEYS("source", IN_SOURCE),
    {.section = "source",
     .name = "workers",
     .kind = KEY_NUMBER,
     .fallback = "1",
     .low = 1,
     .high = SOURCES_MAX,
     IN_RUN(source_workers),
     .example = "4",
     .help = "Processes that carve, each a share of the prompts with a source of its own; the kept "
             "cases are those of one process. See docs/many-machines.md."},
    {.section = "source",
     .name = "shared",
     .kind = KEY_TEXT,
     IN_RUN(shared),
     .type = "a folder, or tapml://HOST:PORT",
     .example = "/scratch/carvings",
     .help = "A folder in which runs find what others with the same model, prompts and source have "
             "carved: one of them carves, and all have the cases. It is created if absent. Or a "
             "machine on which 'tapml-host serve' serves such a run. See docs/many-machines.md."},
    {.section = "target.",
     .name = "backend",
     .kind = KEY_TEXT,
     .is_needed = 1,
     IN_TARGET(backend),
     .type = key_help_backend_type,
     .example = "my_backend:0",
     .help = "The backend to which the operators are moved."},
    {.section = "target.",
     .name = "url",
     .kind = KEY_TEXT,
     IN_TARGET(isolation.url),
     .type = "tapml://HOST:PORT",
     .example = "tapml://phone.local:7700",
     .help =
         "A worker on another machine, 'tapml-worker --listen', which was paired by 'tapml-host "
         "pair'. 'backend' is then a component that is installed there. See docs/remote.md."},
    {.section = "target.",
     .name = "listen",
     .kind = KEY_TEXT,
     IN_TARGET(isolation.listen),
     .type = "HOST:PORT",
     .example = "0.0.0.0:7700",
     .help = "In place of 'url': waits here for a paired worker that dials, 'tapml-worker --dial', "
             "as behind a router that forwards nothing. See docs/remote.md."},
    DEVICE_POOL_TARGET_KEYS(IN_TARGET),
    {.section = "target.",
     .name = "patience",
     .kind = KEY_NUMBER,
     .fallback = "600",
     .low = 1,
     .high = REMOTE_PATIENCE_MAX_S,
     IN_TARGET(isolation.patience_s),
     .example = "3600",
     .help =
         "Seconds for which the machine of 'url' or 'listen' may be out of reach; after that the "
         "target is given up, and a second start of the run goes on with it."},
    {.section = "target.",
     .name = "isolation",
     .kind = KEY_CHOICE,
     .fallback = "always",
     .words = "never always loopback", // In the order of enum place_isolation_mode.
     IN_TARGET(isolation.mode),
     .example = "never",
     .help = key_help_isolation},
    PLACE_KEYS("target.", IN_TARGET),
    {.section = "target.",
     .name = "budget",
     .kind = KEY_NUMBER,
     .fallback = "0",
     .high = MEBIBYTES_MAX,
     IN_TARGET(budget_mib),
     .example = "512",
     .help = "MiB of the device's memory for the weights, states and values of a run of the model, "
             "held before each step; 0: any. Weights make room for others and come again; what can "
             "never fit is refused. See docs/dispatch.md."},
    {.section = "target.",
     .name = "ring",
     .kind = KEY_TEXT,
     IN_TARGET(ring_text),
     .type = "MiB, a share of the weights or 'auto'",
     .example = "12.5%",
     .help = "Memory for the weights in a run of the model, less than they take: they go "
             "through it in the order of the operators, loaded ahead of use. 'auto' is what "
             "the device has. Values are those without, bit for bit. See docs/ring.md."},
    {.section = "target.",
     .name = "slots",
     .kind = KEY_NUMBER,
     .fallback = "0",
     .high = RING_SLOTS_MAX,
     IN_TARGET(ring.slots),
     .example = "3",
     .help = "Slots of 'ring', one of which is read while others are filled; 0 chooses 2 to 4."},
    {.section = "target.",
     .name = "require",
     .kind = KEY_CHOICE,
     .fallback = "any",
     .words = "any all",
     IN_TARGET(require_all),
     .example = "all",
     .help = key_help_require},
    {.section = "target.",
     .name = "guard",
     .kind = KEY_CHOICE,
     .fallback = "off",
     .words = "off on",
     IN_TARGET(is_guarded),
     .example = "on",
     .help = key_help_guard},
    {.section = "target.",
     .name = "tuning",
     .kind = KEY_CHOICE,
     .fallback = "on",
     .words = "on off",
     IN_TARGET(ignores_winners),
     .example = "off",
     .help = key_help_tuning},
    {.section = "target.",
     .name = "activations",
     .kind = KEY_CHOICE,
     .fallback = "f32",
     .words = "f32 f16", // In the order of enum activation.
     IN_TARGET(activation),
     .example = "f16",
     .help = key_help_activations},
    DEVICE_POOL_KEYS(IN_POOL),
    {.section = "offload",
     .name = "mode",
     .kind = KEY_CHOICE,
     .fallback = "mixed",
     .words = "mixed shadow cumulative", // In the order of enum loop_mode.
     IN_RUN(mode),
     .example = "shadow",
     .help = key_help_mode},
    {.section = "offload",
     .name = "prompts",
     .kind = KEY_NUMBER,
     .fallback = "8",
     .low = 1,
     .high = TOKENS_MAX,
     IN_RUN(offload_prompts),
     .example = "8",
     .help =
         "Number of prompts, from the first on, that are checked after a move; one, of what all "
         "its cases have shown to be right. At the end all are checked."},
    {.section = "offload",
     .name = "policy",
     .kind = KEY_TEXT,
     IN_RUN(policy),
     .type = "the id of a policy",
     .example = "quick",
     .help = "A component of a plugin, COMPONENT or PLUGIN/COMPONENT, that says in which order "
             "kinds of operators are moved with mode = mixed; else the most expensive comes first. "
             "See docs/write-a-policy.md."},
    {.section = "select",
     .name = "budget",
     .kind = KEY_TEXT,
     IN_RUN(select_budget),
     .type = "cases, a share or a time",
     .example = "200",
     .help = "How much is replayed on each target: '200' cases, '2%' of them, or '600s', by "
             "predicted times. One case of each signature comes first, then those that add most. "
             "The rest is not run, and reports count it; --all runs it. See docs/choosing.md."},
    {.section = "select",
     .name = "policy",
     .kind = KEY_TEXT,
     IN_RUN(select_policy),
     .type = "the id of a policy",
     .example = "frequent",
     .help = "A component that chooses in place of the host: docs/write-a-policy.md."},
    {.section = "order",
     .name = "policy",
     .kind = KEY_TEXT,
     .fallback = "auto",
     IN_RUN(order_policy),
     .type = "'auto', 'carved', 'balance', 'cover' or the id of a policy",
     .example = "balance",
     .help = "'carved' is the order of the source's calls, without a budget instance by instance. "
             "With 'balance' the cases that have run are at any time like all of them, so that "
             "times and pass rates can be predicted; with 'cover' those come first that add most. "
             "'auto' is 'cover' for a budget in seconds, else 'carved'. See docs/choosing.md; and "
             "write-a-policy.md for components."},
    {.section = "check",
     .name = "invariance",
     .kind = KEY_TEXT,
     IN_RUN(invariance_text),
     .type = "axes with commas between",
     .example = "run, rows, chunk, verify, order, parts",
     .help = "What the bits of a result must not depend on: 'run', how often the operator was "
             "called before; 'rows', how many rows lie beside a row; 'chunk', in how many calls "
             "the tokens of a prompt come; 'verify', whether drafted tokens come at once or one "
             "at a time; 'order', whether another queue of the device is busy; 'parts', whether it "
             "is computed in parts, as its definition says it can be. Each is a verdict of its own "
             "for each operator. See docs/invariance.md."},
    {.section = "check",
     .name = "stress",
     .kind = KEY_TEXT,
     IN_RUN(stress_text),
     .type = "a share of cases",
     .example = "2%",
     .help = "The share of the cases that pass which is repeated many times beside a busy queue, "
             "so that a rare race is no pass. See docs/invariance.md."},
    {.section = "check",
     .name = "ahead",
     .kind = KEY_NUMBER,
     .fallback = "0",
     .high = REPLAY_AHEAD_CASES_MAX,
     IN_RUN(ahead),
     .example = "1",
     .help = "How many cases are on their way to a worker at once while the results of others are "
             "judged. 0: tuned while it runs. 1: each is waited for. Verdicts do not depend on it. "
             "See docs/performance.md."},
    SHARDING_FILE_KEYS(IN_SHARD),
    WATCH_SETTINGS_KEYS(IN_WATCH),
    {.section = "plan",
     .name = "rule",
     .kind = KEY_OTHERS,
     .may_repeat = 1,
     .offset = KEYS_NOWHERE,
     .type = "selectors -> PLACE",
     .example = "instance=layers.[0-3]/attn/* phase=decode -> gpu",
     .help = "Assigns matching operators to a target, or to 'source'. Selectors are '*', 'op=' and "
             "'instance=' with globs, 'phase=prefill' and 'phase=decode'. The last matching rule "
             "wins."},
    {.section = "group.",
     .name = "ops",
     .kind = KEY_TEXT,
     IN_GROUP(ops),
     .type = "names of operators, with blanks between",
     .example = "rms_norm linear",
     .help = "Makes a group of each sequence of these operators in which each reads what one "
             "before it has computed."},
    {.section = "group.",
     .name = "below",
     .kind = KEY_TEXT,
     IN_GROUP(below),
     .type = "a glob of instances",
     .example = "layers.*",
     .help = "Makes a group of all neighbouring operators below the same instance: 'layers.*' "
             "makes one of each layer, 'layers.*/mlp' one of each feed-forward network."},
    {.section = "fault.",
     .name = "target",
     .kind = KEY_TEXT,
     .is_needed = 1,
     IN_FAULT(target),
     .type = "the name of a target",
     .example = "gpu",
     .help = "The target on which the fault is injected."},
    {.section = "fault.",
     .name = "op",
     .kind = KEY_TEXT,
     .fallback = "*",
     IN_FAULT(rule.op),
     .type = "a glob of operators",
     .example = "attention",
     .help = "The operators that are corrupted."},
    {.section = "fault.",
     .name = "instance",
     .kind = KEY_TEXT,
     .fallback = "*",
     IN_FAULT(rule.instance),
     .type = "a glob of instances",
     .example = "layers.2/*",
     .help = "The instances that are corrupted."},
    {.section = "fault.",
     .name = "kind",
     .kind = KEY_TEXT,
     .is_needed = 1,
     IN_FAULT(rule.words),
     .type = "a kind of fault",
     .example = "argument window +1",
     .help =
         "The kind of error: 'argument NAME +n', '*x' or '=v', or 'delay X' (milliseconds) before "
         "the call; 'drop-tail', 'swap-halves', 'shift-rows', 'zero-row', 'scale X', 'round-f16', "
         "'truncate', 'neighbour-scale', 'reverse-scales', 'nan' or "
         "'skip-write' after it; 'crash', 'kill', 'hang' or 'memory' instead of it, in a worker; "
         "'fill-start', 'fill-tail', 'write-tail', 'write-late', 'read-tail', "
         "'stale-arguments' or 'write-delay X' of the driver."},
    {.section = "fault.",
     .name = "from-call",
     .kind = KEY_NUMBER,
     .fallback = "1",
     .low = 1,
     .high = CALLS_MAX,
     IN_FAULT(rule.from_call),
     .example = "3",
     .help = "The first call of an instance that is corrupted."},
    {.section = "fault.",
     .name = "probability",
     .kind = KEY_REAL,
     .fallback = "1",
     .high = 1,
     IN_FAULT(rule.probability),
     .example = "0.5",
     .help = "The probability that a call is corrupted, from there on."},
    {.section = "fault.",
     .name = "seed",
     .kind = KEY_NUMBER,
     .fallback = "1",
     .high = INT64_MAX,
     IN_FAULT(rule.seed), // Unsigned, of the same size.
     .example = "7",
     .help = "The seed of the random draws for the probability."},
    {.section = "forecast.",
     .name = "device",
     .kind = KEY_TEXT,
     .is_needed = 1,
     IN_FORECAST(path),
     .type = "a file",
     .example = "phone.ini",
     .help = "The figures of the device: a file of conf/devices, or what 'tapml-host devices "
             "--dump' prints on a machine that has one."},
    {.section = "forecast.",
     .name = "activations",
     .kind = KEY_CHOICE,
     .fallback = "f32",
     .words = "f32 f16", // In the order of enum activation.
     IN_FORECAST(activation),
     .example = "f16",
     .help = "What activations and states are on the device, for memory, limits and times."},
    {.section = "plugins",
     .name = "load",
     .kind = KEY_OTHERS,
     .may_repeat = 1,
     .offset = KEYS_NOWHERE,
     .type = "a file",
     .example = "./my_plugin.so",
     .help =
         "A plugin's library or manifest that is loaded in addition to those that are found, and "
         "has to be usable. A relative path begins at this file."},
    {.section = "plugins",
     .name = "tiers",
     .kind = KEY_OTHERS,
     .fallback = "1 2 3 4",
     .offset = KEYS_NOWHERE,
     .type = "numbers from 1 to 4",
     .example = "1 4",
     .help = "Where plugins are searched for: 1 files named explicitly, 2 TAPML_PLUGIN_PATH, 3 the "
             "user's folder, 4 the system's folders."},
    {.section = "plugins",
     .name = "allow",
     .kind = KEY_OTHERS,
     .may_repeat = 1,
     .offset = KEYS_NOWHERE,
     .type = "globs of plugins' ids",
     .example = "org.tapml.*",
     .help = "Only these plugins are loaded, if the key is present."},
    {.section = "plugins",
     .name = "deny",
     .kind = KEY_OTHERS,
     .may_repeat = 1,
     .offset = KEYS_NOWHERE,
     .type = "globs of plugins' ids",
     .example = "org.example.*",
     .help = "These plugins are refused."},
};

enum { KEY_COUNT = sizeof(keys) / sizeof(*keys) };

const struct key_table *keys_table(void)
{
    static const struct key_table table = {keys_sections, KEYS_SECTIONS, keys, KEY_COUNT,
                                           "see --explain"};
    return &table;
}

const struct key_section *keys_section_at(size_t index)
{
    return index < KEYS_SECTIONS ? &keys_sections[index] : NULL;
}

const struct key *keys_at(size_t index)
{
    return index < KEY_COUNT ? &keys[index] : NULL;
}

const struct key_section *keys_section(const char *name)
{
    return key_table_section(keys_table(), name);
}

const struct key *keys_find(const char *section, const char *name)
{
    return key_table_find(keys_table(), section, name);
}
