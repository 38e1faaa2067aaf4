"""The types of the configuration's values: from what a file says, checked, and back to text."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field, PlainSerializer, ValidationInfo

from metabroker.config import values
from metabroker.config.section import as_tuple, folder

Policy = Literal[
    "GS", "LS-OR", "LS-RD", "LS-RO", "LS-DO", "GP", "LP-LF", "LP-GF", "LP-RD",
    "EQ-LF", "EQ-GF", "EQ-RD", "LQ", "FCFS", "FPFS", "EASY", "CONSERVATIVE", "JOB-SHARING",
    "MULTI-SITE",
]  # fmt: skip
Discipline = Literal["FCFS", "FPFS"]
Placement = Literal[
    "worst-fit", "worst-fit-reuse", "close-to-files", "close-to-files-reuse", "fewest-clusters"
]
RunAs = Literal["self", "sudo", "root-uid"]


def path_of(value: object, info: ValidationInfo) -> Path:
    return values.absolute_path(value, folder(info))


def optional_path(value: object, info: ValidationInfo) -> Path | None:
    return None if value is None else path_of(value, info)


AsText = PlainSerializer(str, return_type=str)
AsDuration = PlainSerializer(values.duration_text, return_type=str)
AsOptionalText = PlainSerializer(lambda value: None if value is None else str(value))
Seconds = Annotated[float, BeforeValidator(values.seconds), AsDuration]
WholeSeconds = Annotated[int, BeforeValidator(values.whole_seconds), AsDuration]
Retries = Annotated[int, Field(ge=0, le=1000)]
PathOrNone = Annotated[Path | None, BeforeValidator(optional_path), AsOptionalText]
User = Annotated[str, AfterValidator(values.user_name)]
Users = Annotated[tuple[User, ...], BeforeValidator(as_tuple)]
Host = Annotated[str, AfterValidator(values.host_name)]
JumpHost = Annotated[values.JumpHost, BeforeValidator(values.jump_host), AsText]
SomeWords = Annotated[tuple[str, ...], BeforeValidator(as_tuple)]
Word = Annotated[str, Field(min_length=1, max_length=255, pattern=r"^[A-Za-z0-9_.,:@/+-]+$")]
Chunk = Annotated[str, AfterValidator(values.chunk)]
Speed = Annotated[float, Field(ge=0.001, le=1e6, allow_inf_nan=False)]
PerSecond = Annotated[float, BeforeValidator(values.per_second)]
