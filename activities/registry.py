"""Every activity this release can execute, by name. The registry refuses an incomplete mutation."""

from __future__ import annotations

from collections.abc import Iterable

from activities.activity import Activity
from activities.mutation import Mutation
from orchestrator.domain.failures import OutlastError
from orchestrator.domain.operations import Guarantee


class IncompleteMutation(OutlastError):
    """A mutation lacks what the reconciler needs to settle it."""

    def __init__(self, name: str, lacks: str) -> None:
        super().__init__(f"mutation {name} registers no {lacks}; write it beside perform")
        self.name, self.lacks = name, lacks


class Registry:
    """A closed set of activities and mutations."""

    def __init__(self, activities: Iterable[Activity], mutations: Iterable[Mutation]) -> None:
        self.activities = {activity.name: activity for activity in activities}
        self.mutations = {mutation.name: _complete(mutation) for mutation in mutations}

    def served(self, queues: Iterable[str]) -> tuple[str, ...]:
        """Return the names of everything that belongs to these kinds of work, sorted."""
        wanted = set(queues)
        every: list[Activity | Mutation] = [*self.activities.values(), *self.mutations.values()]
        return tuple(sorted(entry.name for entry in every if entry.queue in wanted))

    def queues(self) -> tuple[str, ...]:
        """Return every kind of work that something here belongs to, sorted."""
        every: list[Activity | Mutation] = [*self.activities.values(), *self.mutations.values()]
        return tuple(sorted({entry.queue for entry in every}))


def _complete(mutation: Mutation) -> Mutation:
    """Look at what is declared; a guarantee that the host announces is not asked for here."""
    for part in ("perform", "observe"):
        if not callable(getattr(mutation, part, None)):
            raise IncompleteMutation(mutation.name, part)
    if not isinstance(getattr(type(mutation), "guarantee", None), Guarantee | property):
        raise IncompleteMutation(mutation.name, "guarantee")
    return mutation
