// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/plugin_fixture.h"
#include "verify/fault_rule.h"

#include <criterion/criterion.h>
#include <string.h>

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

static struct plugin_fixture plugins;

static void begin(void)
{
    plugin_fixture_open(&plugins);
}

static void end(void)
{
    plugin_fixture_close(&plugins);
}

TestSuite(fault_rule, .init = begin, .fini = end, .timeout = 60);

static struct fault_rule rule(const char *words)
{
    struct fault_rule made = {.name = "fault.1",
                              .op = "*",
                              .instance = "*",
                              .words = words,
                              .from_call = 1,
                              .probability = 1,
                              .seed = 1};
    MUST(fault_rule_parse(&made));
    return made;
}

static void refused(const char *words, const char *sentence)
{
    struct fault_rule made = {.name = "fault.1", .words = words};
    cr_expect_eq(fault_rule_parse(&made), TAPML_INVALID, "'%s' was accepted", words);
    cr_expect_not_null(strstr(status_message(), sentence), "'%s' lacks '%s'", status_message(),
                       sentence);
}

Test(fault_rule, words_are_checked)
{
    refused("drop-tial", "did you mean 'drop-tail'?");
    refused("boil", "unknown kind 'boil', expected one of argument, drop-tail, ");
    refused("nan 3", "expected 'nan'");
    refused("fill-strat", "did you mean 'fill-start'?");
    refused("scale", "expected 'scale X'");
    refused("scale much", "'much' is no finite number");
    refused("scale inf", "no finite number");
    refused("delay", "expected 'delay X'");
    refused("delay -1", "expected from 0 to 60000 milliseconds");
    refused("delay 1e9", "expected from 0 to 60000 milliseconds");
    cr_expect_eq(rule("delay 2.5").operand, 2.5);
    refused("write-delay", "expected 'write-delay X'");
    refused("write-delay 1e9", "expected from 0 to 60000 milliseconds");
    cr_expect_eq(rule("write-delay 2.5").kind, FAULT_WRITE_DELAY);
    refused("argument window", "expected 'argument NAME +N'");
    refused("argument window 1", "expected '+N', '-N', '*X' or '=V'");
    refused("argument window +", "no finite number");
    refused("argument window + 1", "at most 3 words");
    refused("", "unknown kind ''");
    refused("argument a_name_that_is_far_longer_than_any_parameter_may_be +1", "47 letters");
    const struct fault_rule minus = rule("argument  window\t+-1");
    cr_expect_str_eq(minus.argument, "window");
    cr_expect_eq(minus.change, '+');
    cr_expect_eq(minus.operand, -1);
}

Test(fault_rule, a_rule_is_printed_whole)
{
    struct text text;
    struct fault_rule one = rule("argument window +1");
    one.op = "attention";
    one.from_call = 3;
    one.probability = 0.5;
    text_init(&text);
    fault_rule_print(&one, &text);
    cr_expect_str_eq(text.data, "fault.1: argument window +1, op=attention instance=* from-call=3 "
                                "probability=0.5 seed=1");
    text_release(&text);
}

static void check(const char *words, const char *op, const char *instance, const char *sentence)
{
    struct model *model = plugin_fixture_model(&plugins, "models/tiny");
    struct fault_rule one = rule(words);
    one.op = op;
    one.instance = instance;
    const tapml_status status = fault_rule_check(&one, model_graph(model));
    cr_expect_eq(status, sentence != NULL ? TAPML_INVALID : TAPML_OK, "%s: %s", words,
                 status_message());
    cr_expect(sentence == NULL || strstr(status_message(), sentence) != NULL, "'%s' lacks '%s'",
              status_message(), sentence);
    model_close(model);
}

Test(fault_rule, a_rule_must_corrupt_something_of_the_graph)
{
    check("argument window +1", "attention", "layers.2/*", NULL);
    check("argument window +1", "*", "*", NULL);
    check("argument eps *10", "tapml.rms_norm", "norm", NULL);
    check("round-f16", "state_append", "*", NULL);
    check("truncate", "state_append", "*", "can be done to: none");
    check("neighbour-scale", "state_append", "*", "can be done to: none");
    check("swap-halves", "linear", "layers.0/attn/q_proj", NULL);
    check("argument window +1", "rope", "*", "of the graph's ops it can be done to: attention");
    check("argument position +1", "rope", "*", "can be done to: state_append, attention");
    check("argument window +0.5", "attention", "*", "can be done to: none");
    check("argument windows +1", "*", "*", "can be done to: none");
    check("nan", "atention", "*", "the graph has the ops embed, rms_norm, linear");
    check("nan", "silu", "layers.77/*", "matches no instance");
    check("fill-start", "*", "*", NULL);
    check("write-late", "silu", "*", "a fault of the driver, which knows no op");
    check("scale 1.5", "silu", "canary", NULL); // It is of no graph.
    check("read-tail", "*", "layers.2/*", "expected neither 'op' nor 'instance'");
}
