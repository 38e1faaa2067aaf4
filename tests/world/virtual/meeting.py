"""What a component tells of its nodes, and reads of its peers, says nothing about promises: the
shell of virtual time has it left out of the wrapper."""

import re

_MEETING = re.compile(r"^# MEETING\n.*?^# MET\n", re.M | re.S)
_INSTEAD = """mb__lay_tools() { mb__nodes=; }
mb__tell_nodes() { mb__nodes=slots=1; }
mb__own_peers() { mb__world=; }
mb__read_peers() { mb__world=; }
"""


def without_meeting(text: str) -> str:
    """The wrapper's text with stand-ins for that."""
    return _MEETING.sub(_INSTEAD, text)
