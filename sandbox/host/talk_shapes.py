"""Issues, comments, pull requests and reviews in GitHub's JSON shapes."""

from __future__ import annotations

import sqlite3
from typing import Any

from sandbox.host import shapes
from sandbox.host.repositories import Repository

Json = dict[str, Any]
ASSOCIATION = "COLLABORATOR"


def issue(db: sqlite3.Connection, url: str, one: Repository, row: sqlite3.Row) -> Json:
    """Show an issue, or a pull request as an issue."""
    api, page = shapes.api_of(url, one), shapes.page_of(url, one)
    number, own = row["number"], f"{api}/issues/{row['number']}"
    shown: Json = {
        "id": row["id"],
        "node_id": shapes.node_id("I", row["id"]),
        "number": number,
        "url": own,
        "repository_url": api,
        "labels_url": f"{own}/labels{{/name}}",
        "comments_url": f"{own}/comments",
        "events_url": f"{own}/events",
        "html_url": f"{page}/issues/{number}",
        "state_reason": row["state_reason"],
        "comments": _count(db, "comments WHERE issue_id = ?", row["id"]),
        **_content(url, row),
        "closed_by": shapes.user(url, row["closed_by"]) if row["closed_by"] else None,
    }
    if row["pull_id"] is not None:
        shown["pull_request"] = {
            "url": f"{api}/pulls/{number}",
            "html_url": f"{page}/pull/{number}",
            "diff_url": f"{page}/pull/{number}.diff",
            "patch_url": f"{page}/pull/{number}.patch",
            "merged_at": row["merged_at"],
        }
    return shown


def comment(url: str, one: Repository, row: sqlite3.Row, number: int) -> Json:
    """Show a comment on the issue or pull request with that number."""
    api = shapes.api_of(url, one)
    return {
        "id": row["id"],
        "node_id": shapes.node_id("IC", row["id"]),
        "url": f"{api}/issues/comments/{row['id']}",
        "html_url": f"{shapes.page_of(url, one)}/issues/{number}#issuecomment-{row['id']}",
        "issue_url": f"{api}/issues/{number}",
        "user": shapes.user(url, row["login"]),
        "body": row["body"],
        "created_at": row["created_at"],
        "updated_at": row["updated_at"],
        "author_association": ASSOCIATION,
    }


def review(url: str, one: Repository, row: sqlite3.Row, number: int) -> Json:
    """Show a review of the pull request with that number."""
    page = f"{shapes.page_of(url, one)}/pull/{number}#pullrequestreview-{row['id']}"
    pull_url = f"{shapes.api_of(url, one)}/pulls/{number}"
    return {
        "id": row["id"],
        "node_id": shapes.node_id("PRR", row["id"]),
        "user": shapes.user(url, row["login"]),
        "body": row["body"],
        "state": row["state"],
        "html_url": page,
        "pull_request_url": pull_url,
        "_links": {"html": {"href": page}, "pull_request": {"href": pull_url}},
        "submitted_at": row["submitted_at"],
        "commit_id": row["commit_sha"],
        "author_association": ASSOCIATION,
    }


def pull(db: sqlite3.Connection, url: str, one: Repository, row: sqlite3.Row) -> Json:
    """Show a pull request as lists show it."""
    api, number = shapes.api_of(url, one), row["number"]
    own, page = f"{api}/pulls/{number}", f"{shapes.page_of(url, one)}/pull/{number}"
    statuses = f"{api}/statuses/{row['head_sha']}"
    links = {
        "self": own,
        "html": page,
        "issue": f"{api}/issues/{number}",
        "comments": f"{api}/issues/{number}/comments",
        "review_comments": f"{own}/comments",
        "review_comment": f"{api}/pulls/comments{{/number}}",
        "commits": f"{own}/commits",
        "statuses": statuses,
    }
    return {
        "id": row["pull_id"],
        "node_id": shapes.node_id("PR", row["pull_id"]),
        "number": number,
        "url": own,
        "html_url": page,
        "diff_url": f"{page}.diff",
        "patch_url": f"{page}.patch",
        "issue_url": links["issue"],
        "commits_url": links["commits"],
        "comments_url": links["comments"],
        "review_comments_url": links["review_comments"],
        "review_comment_url": links["review_comment"],
        "statuses_url": statuses,
        **_content(url, row),
        "assignees": [],
        "requested_reviewers": [shapes.user(url, one) for one in requested(db, row["pull_id"])],
        "requested_teams": [],
        "merged_at": row["merged_at"],
        "merge_commit_sha": row["merge_commit_sha"],
        "head": _side(url, one, row["head_ref"], row["head_sha"]),
        "base": _side(url, one, row["base_ref"], row["base_sha"]),
        "_links": {name: {"href": href} for name, href in links.items()},
        "auto_merge": None,
        "draft": bool(row["draft"]),
    }


def whole_pull(db: sqlite3.Connection, url: str, one: Repository, row: sqlite3.Row) -> Json:
    """Show a pull request with what only git can say: sizes, and whether it can be merged."""
    size = one.bare.difference(row["base_sha"], row["head_sha"])
    mergeable, state = mergeability(one, row)
    return {
        **pull(db, url, one, row),
        "merged": row["merged_at"] is not None,
        "merged_by": shapes.user(url, row["merged_by"]) if row["merged_by"] else None,
        "mergeable": mergeable,
        "rebaseable": False,
        "mergeable_state": state,
        "maintainer_can_modify": False,
        "comments": _count(db, "comments WHERE issue_id = ?", row["id"]),
        "review_comments": 0,
        "commits": size.commits,
        "additions": size.additions,
        "deletions": size.deletions,
        "changed_files": size.files,
    }


def mergeability(one: Repository, row: sqlite3.Row) -> tuple[bool | None, str]:
    """Return GitHub's `mergeable` and `mergeable_state`; None for one that is not open."""
    if row["state"] == "closed":
        return None, "unknown"
    if one.bare.merged_tree(row["base_sha"], row["head_sha"]) is None:
        return False, "dirty"
    if row["draft"]:
        return True, "draft"
    if is_behind(one, row):
        return True, "behind"
    return True, "clean"


def is_behind(one: Repository, row: sqlite3.Row) -> bool:
    """Tell whether a strict base forbids the merge, because the head lacks its last commit."""
    guarded = one.strict and row["base_ref"] == one.default_branch
    return guarded and not one.bare.is_ancestor(row["base_sha"], row["head_sha"])


def requested(db: sqlite3.Connection, pull_id: int) -> list[str]:
    """Return the logins that were asked for a review and have not given one."""
    rows = db.execute(
        "SELECT login FROM requested_reviewers WHERE pull_id = ? ORDER BY login", (pull_id,)
    )
    return [row["login"] for row in rows]


def _content(url: str, row: sqlite3.Row) -> Json:
    return {
        "title": row["title"],
        "body": row["body"],
        "user": shapes.user(url, row["login"]),
        "state": row["state"],
        "locked": False,
        "labels": [],
        "assignee": None,
        "milestone": None,
        "author_association": ASSOCIATION,
        "created_at": row["created_at"],
        "updated_at": row["updated_at"],
        "closed_at": row["closed_at"],
    }


def _side(url: str, one: Repository, name: str, sha: str) -> Json:
    return {
        "label": f"{one.owner}:{name}",
        "ref": name,
        "sha": sha,
        "user": shapes.user(url, one.owner),
        "repo": shapes.repository(url, one, "push"),
    }


def _count(db: sqlite3.Connection, clause: str, value: int) -> int:
    return int(db.execute(f"SELECT count(*) FROM {clause}", (value,)).fetchone()[0])
