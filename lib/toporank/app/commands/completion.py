"""`toporank completion`: a script by which bash and zsh complete commands, options and choices."""

from __future__ import annotations

import argparse
from typing import Any

SHELLS = ("bash", "zsh")
SCRIPT = """\
# {shell}: source <(toporank completion {shell})
{zsh}_toporank() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} words
    case "${{COMP_WORDS[1]}} $before" in
{choices}
        *)
            case "$COMP_CWORD ${{COMP_WORDS[1]}}" in
                1\\ *) words="{commands}" ;;
{options}
            esac ;;
    esac
    COMPREPLY=($(compgen -W "$words" -- "$word"))
}}
complete -o default -F _toporank toporank
"""
ZSH = "autoload -U +X compinit bashcompinit && compinit && bashcompinit\n"


def add(commands: Any) -> None:
    """Add the command. commands : those of `toporank`, which it completes."""
    summary = (
        "script that completes commands and options: source <(toporank completion bash)"
    )
    parser = commands.add_parser("completion", help=summary, description=summary)
    parser.add_argument("shell", choices=SHELLS)
    parser.set_defaults(run=lambda args: _print(args.shell, commands.choices))


def _print(shell: str, parsers: dict[str, argparse.ArgumentParser]) -> int:
    print(script(shell, parsers), end="")
    return 0


def script(shell: str, parsers: dict[str, argparse.ArgumentParser]) -> str:
    """Return the script for a shell. parsers : of each command by its name.

    Files are completed where nothing else is known.
    """
    options = []
    choices = []
    for name, parser in parsers.items():
        words: list[str] = []
        for action in parser._actions:
            if action.help == argparse.SUPPRESS:
                continue
            words += action.option_strings
            if not action.choices:
                continue
            values = " ".join(map(str, action.choices))
            flags = action.option_strings
            choices += [
                f'        "{name} {flag}") words="{values}" ;;' for flag in flags
            ]
            words += [] if flags else values.split()
        options.append(f'                *" {name}") words="{" ".join(words)}" ;;')
    return SCRIPT.format(
        shell=shell,
        zsh=ZSH if shell == "zsh" else "",
        commands=" ".join(parsers),
        choices="\n".join(choices),
        options="\n".join(options),
    )
