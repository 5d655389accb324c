# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""Manual pages, in the macros of man(7)."""
import re


def escape(text):
    """Text as roff takes it; a line may begin with it."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", text, flags=re.MULTILINE)


def prose(text):
    """A paragraph: what stands in `backquotes` is bold."""
    parts = re.split(r"`([^`]*)`", " ".join(text.split()))
    text = "".join("\\fB" + escape(part) + "\\fR" if index % 2 else escape(part) for index, part in enumerate(parts))
    return re.sub(r"^([.'])", r"\\&\1", text)


def paragraphs(text):
    return "\n.PP\n".join(prose(part) for part in text.split("\n") if part.strip())


def usage(form):
    """A form of a command: what is typed as it stands is bold, what the user puts in its place in italics."""
    out = []
    for word in re.findall(r"[][|]|\.\.\.|[^][| ]+| ", form):
        is_typed = re.match(r"[a-z-]", word)
        is_value = re.match(r"[A-Z]", word)
        out.append(("\\fB" if is_typed else "\\fI" if is_value else "") + escape(word) +
                   ("\\fR" if is_typed or is_value else ""))
    return "".join(out)


def head(page, section, version, what):
    return [f'.TH "{escape(page.upper())}" "{section}" "" "TapML {version}" "{what}"', ".nh", ".ad l"]


def name_section(page, title):
    return [".SH NAME", f"{escape(page)} \\- {escape(title)}"]


def synopsis(forms):
    lines = [".SH SYNOPSIS"]
    for form in forms:
        lines += [usage(form), ".br"]
    return lines[:-1]


def option_rows(options):
    lines = []
    for option in options:
        names = ", ".join(f"\\fB{escape(name)}\\fR" for name in option.names)
        value = (" " + option_value(option.value)) if option.value else ""
        lines += [".TP", names + value, prose(option.help)]
    return lines


def option_value(value):
    return "|".join(f"\\fB{escape(word)}\\fR" for word in value.split("|")) if "|" in value else f"\\fI{escape(value)}\\fR"


def command_section(command):
    lines = [f'.SS "{escape(command.name)}"']
    for form in command.usage:
        lines += [usage(form), ".br"]
    lines[-1] = ".PP"
    if command.description:
        lines.append(paragraphs(command.description))
    for word, about in command.operands:
        lines += [".TP", f"\\fI{escape(word)}\\fR", prose(about)]
    return lines + option_rows(command.options)


def see_also(pages):
    names = [f"\\fB{escape(name)}\\fR({section})" for name, section in pages]
    return [".SH SEE ALSO", ",\n".join(names)] if names else []


def program_page(program, page, others):
    """The page of a program in section 1. `others` are (page, section)."""
    own = program.own
    lines = head(page, 1, program.version, "TapML manual") + name_section(page, own.about)
    lines += synopsis(own.usage) + [".SH DESCRIPTION", paragraphs(own.description)]
    lines += [".SH OPTIONS"] + option_rows(own.options)
    if program.commands:
        lines.append(".SH COMMANDS")
        for command in program.commands:
            lines += command_section(command)
    lines.append(".SH EXIT STATUS")
    for code, means in program.exit_codes:
        lines += [".TP", str(code), prose(means)]
    return "\n".join(lines + see_also(others)) + "\n"


def presence(key):
    """What a file has where it lacks the key."""
    if key.get("default") is not None:
        return f" Default: {key['default']}."
    if key.get("unless"):
        return f" Required unless '{key['unless']}' is there."
    return " Required." if key.get("needed") else ""


def key_rows(key):
    """A key of a file: what it takes, what it does, and an example."""
    repeat = "; may be repeated" if key.get("may_repeat") else ""
    return [".TP", f"\\fB{escape(key['name'])}\\fR = \\fI{escape(key['takes'])}\\fR{repeat}",
            prose(key["help"] + presence(key)), ".br",
            f"Example: \\fB{escape(key['name'])} = {escape(key['example'])}\\fR"]


def file_page(form, version, others):
    """The page of a kind of file in section 5."""
    lines = head(form.name, 5, version, "TapML manual") + name_section(form.name, form.title)
    lines += [".SH DESCRIPTION", paragraphs(form.about)]
    for section in form.sections:
        lines += [f'.SH "[{escape(section["title"])}]"', paragraphs(section["help"])]
        for key in section["keys"]:
            lines += key_rows(key)
    return "\n".join(lines + see_also(others)) + "\n"
