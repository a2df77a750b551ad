"""`selfcheck doctor`: what the kit stands on."""

from selfcheck.commands.common import Language, carry_out, speak


def command(lang: Language = None) -> None:
    """Say what the kit stands on: Python, packages, trees, ports, services, settings."""
    from selfcheck.doctor.showing import show

    speak(lang)
    raise carry_out(show)
