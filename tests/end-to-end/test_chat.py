#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""Messages to a model whose folder brings a chat template: `generate --chat` and lines `chat:` of prompts files."""
import json
import os

import rig

TEMPLATE = """{{- bos_token }}
{%- for message in messages %}
    {%- if message.role not in ['system', 'user', 'assistant'] %}
        {{- raise_exception('no role ' ~ message.role) }}
    {%- endif %}
    {{- message.content | trim + ('' if loop.last else ' ') }}
{%- endfor %}
"""
# Each of them would never end, or take all memory.
HOSTILE = [
    "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
    "{% for a in range(100000) %}{% for b in range(100000) %}{{ a }}{% endfor %}{% endfor %}",
    "{% set n = namespace(s='x') %}{% for a in range(99) %}{% set n.s = n.s + n.s %}{% endfor %}",
    "{{ " + "(" * 100000 + "1" + ")" * 100000 + " }}",
    "{{ 'x' | replace('', 'y' * 1000000) | replace('y', 'z' * 1000000) }}",
]


def model(folder, template):
    """The embedded model with a template beside it."""
    path = os.path.join(folder, "model")
    os.mkdir(path)
    for name in ("config.json", "generation_config.json", "model.safetensors", "tokenizer.json",
                 "tokenizer_config.json"):
        os.symlink(os.path.join(rig.TINY, name), os.path.join(path, name))
    with open(os.path.join(path, "chat_template.jinja"), "w", encoding="utf-8") as file:
        file.write(template)
    return path


def generate(path, *words):
    return rig.host("generate", "--model", path, "--backend", "reference", "--count", "4", *words)


def messages_make_the_prompt(folder):
    """A message and a conversation give the ids of the text that the template writes, and one bos."""
    plain = json.loads(rig.check(generate(rig.TINY, "--prompt", "The fox was", "--json"), 0).stdout)
    conversation = json.dumps([{"role": "user", "content": " The"}, {"role": "assistant", "content": "fox was "}])
    path = model(folder, TEMPLATE)
    for words in (["--prompt", "The fox was "], ["--prompt", conversation],
                  ["--system", "The fox", "--prompt", "was"]):
        found = json.loads(rig.check(generate(path, "--chat", "--json", *words), 0).stdout)
        assert found["ids"] == plain["ids"], f"{words}: {found}"
        assert plain["text"].endswith(found["text"]) and not found["text"].startswith("The"), found


def prompts_files_have_messages(folder):
    """A line of chat is checked as every other line, with its number."""
    prompts = os.path.join(folder, "prompts.txt")
    ini, _ = rig.write_run(folder, target="cpu", model=model(folder, TEMPLATE), prompts=prompts)
    for line, code in (("chat: The fox was", 0), ('chat: [{"role": "tool", "content": "x"}]', 2), ("chat: [x", 2)):
        with open(prompts, "w", encoding="utf-8") as file:
            file.write("The fox was\n" + line + "\n")
        done = rig.check(rig.host("--check-config", ini), code)
        assert code == 0 or "prompts.txt:2: " in done.stderr + done.stdout, done


def hostile_templates_end_in_one_sentence(folder):
    for number, template in enumerate(HOSTILE):
        inner = os.path.join(folder, str(number))
        os.mkdir(inner)
        done = rig.check(rig.host("generate", "--model", model(inner, template), "--chat", "--prompt", "x",
                                  timeout=30), 2)
        assert "chat_template.jinja" in done.stderr and done.stderr.count("\n") == 1, done.stderr[:400]


if __name__ == "__main__":
    rig.main([messages_make_the_prompt, prompts_files_have_messages, hostile_templates_end_in_one_sentence],
             needs=["reference", "cpu"])
