"""Who may do what, and how long a job may take. Identity is the kernel's word, see the API."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from metabroker import accounts
from metabroker.api.service import Failure, ServiceError
from metabroker.runtime.cluster_accounts import Users, wanted
from metabroker.submission.checks import LARGEST_SCRIPT
from metabroker.submission.model import Caller, Submission
from metabroker.submission.times import format_time

from .asked_options import AskedOptions

_OF_ADMINISTRATORS = {
    "remove leftovers": "remove leftovers: they may belong to any user",
    "drain": "drain clusters",
    "resume": "resume clusters",
    "tell links": "say what was measured between clusters",
}


@dataclass(frozen=True, slots=True)
class Authorization:
    """The configured rules; times in seconds."""

    policy: str
    default_time: int
    max_time: int | None
    admins: tuple[str, ...]
    submitters: tuple[str, ...]
    homes: Mapping[str, str]
    shared_everywhere: bool  # every cluster that is `run_as: self` has a shared_dir
    offline: bool = False
    largest_script: int = LARGEST_SCRIPT
    users: Users = field(default_factory=dict)
    clusters: tuple[str, ...] = ()
    acts_at_home: bool = False  # for users, on the daemon's own host
    account: str = field(default_factory=lambda: accounts.own().name)  # the daemon's own
    options: AskedOptions = field(default_factory=AskedOptions)

    def accounts(
        self, caller: Caller, submission: Submission, closed: Collection[str] = ()
    ) -> dict[str, str]:
        """Under whose accounts the job may run, in those clusters that act for users; in the
        others it runs under the daemon's own. It goes to none of the `closed` ones.

        Raises:
            ServiceError: it could be put on a cluster where the caller may not have jobs.
        """
        found = {}
        for name in wanted(submission, self.clusters):
            if name in closed:
                continue
            if name in self.users:
                found[name] = self.users[name].given(caller)
            elif self.users and name in self.clusters:
                self._may_submit(caller)
        return found

    def admits(self, caller: Caller, action: str) -> None:
        """May this user ask for this at all? What can be said before the request is read.

        Raises:
            ServiceError: no.
        """
        if action in ("submit", "dry run"):
            self._may_submit_somewhere(caller)
        elif action in _OF_ADMINISTRATORS:
            self.only_administrators(caller, _OF_ADMINISTRATORS[action])

    def _may_submit_somewhere(self, caller: Caller) -> None:
        refused: ServiceError | None = None
        for users in self.users.values():
            try:
                users.given(caller)
            except ServiceError as error:
                refused = refused or error
            else:
                return
        if refused is None or any(name not in self.users for name in self.clusters):
            try:
                self._may_submit(caller)
            except ServiceError as error:
                raise refused or error from None
            return
        raise refused

    def check(self, caller: Caller, submission: Submission) -> int:
        """May this user submit this? Answers the job's time limit.

        Raises:
            ServiceError: no.
        """
        if not self.users:
            self._may_submit(caller)
        self._may_stage(caller, submission)
        if len(submission.script) > self.largest_script:
            raise ServiceError(
                Failure.TOO_LARGE,
                f"the script has {len(submission.script)} bytes, and at most "
                f"{self.largest_script} are allowed",
                "keep data in separate files",
            )
        limit = submission.time_limit or self.default_time
        if self.max_time is not None and limit > self.max_time:
            raise ServiceError(
                Failure.INVALID,
                f"the time limit {format_time(limit)} is above the maximum, "
                f"{format_time(self.max_time)}",
                "ask for less with --time",
            )
        return limit

    def may_limit(self, caller: Caller, seconds: int, before: int) -> None:
        """May a waiting job have this time limit? Raises `ServiceError`."""
        if self.max_time is not None and seconds > self.max_time:
            raise ServiceError(
                Failure.INVALID,
                f"the time limit {format_time(seconds)} is above the maximum, "
                f"{format_time(self.max_time)}",
                "ask for less",
            )

    def _may_submit(self, caller: Caller) -> None:
        """Jobs run under the daemon's own account, so only those it trusts may submit."""
        if caller.uid == os.geteuid():
            return
        account = self.account
        if caller.user not in self.submitters:
            raise ServiceError(
                Failure.FORBIDDEN,
                f"{caller.user} may not submit: jobs run under the daemon's own account, {account}",
                "ask the administrator to add you to `submitters` in the configuration, or to "
                "set `run_as: sudo`, so that jobs belong to their submitters",
            )
        if not self.shared_everywhere:
            raise ServiceError(
                Failure.FORBIDDEN,
                f"{caller.user} may not submit: components of other users' jobs need a shared "
                f"folder of {account}",
                "ask the administrator to set `shared_dir` for every cluster",
            )

    def may_have_jobs(self, user: str, cluster: str) -> bool:
        """Whether jobs of the user of that name may go to a cluster. Raises `ServiceError`."""
        if cluster in self.users:
            return self.users[cluster].has(user)
        return user == self.account or (user in self.submitters and self.shared_everywhere)

    def owner(self, caller: Caller, submission: Submission) -> str | None:
        """Whose the files are that come and go with a job; None: the daemon's own account's."""
        own = not submission.stages or caller.uid == os.geteuid()
        return None if own else caller.user

    def _may_stage(self, caller: Caller, submission: Submission) -> None:
        """A job's files are read and written as its owner: the daemon's own account, or a user for
        whom it acts; and on its own host, so who comes by a token has none there."""
        if submission.stages and caller.token is not None:
            raise ServiceError(
                Failure.FORBIDDEN,
                "files on another host cannot be sent or brought back",
                "leave out --stage-in and --stage-out, or submit on the daemon's host",
            )
        acts = self.acts_at_home and caller.uid != 0
        if submission.stages and caller.uid != os.geteuid() and not acts:
            raise ServiceError(
                Failure.FORBIDDEN,
                f"the files of {caller.user} cannot be sent or brought back: the daemon runs as "
                f"{self.account}",
                "leave out --stage-in and --stage-out, and use a folder that the cluster has too",
            )

    def may_change(self, caller: Caller, owner: str) -> bool:
        """Whether the caller may cancel, hold or release the owner's job."""
        return caller.user == owner or self.administers(caller)

    def administers(self, caller: Caller) -> bool:
        """Whether the caller is an administrator. By a token nobody is: it may be stolen."""
        return caller.token is None and (caller.uid == 0 or caller.user in self.admins)

    def only_administrators(self, caller: Caller, what: str) -> None:
        """Raises `ServiceError` where others want to do `what`."""
        if not self.administers(caller):
            raise ServiceError(
                Failure.FORBIDDEN,
                f"{caller.user} may not {what}",
                "ask an administrator (`admins` in the configuration)",
            )

    def home(self, caller: Caller) -> str | None:
        """The caller's home cluster."""
        return self.homes.get(caller.user)
