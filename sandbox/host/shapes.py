"""People, repositories, refs and commits in GitHub's JSON shapes."""

from __future__ import annotations

import base64
import zlib
from typing import Any

from sandbox.host.bare import CommitFacts
from sandbox.host.repositories import Repository

Json = dict[str, Any]

REPOSITORY_LINKS = {
    "archive_url": "/{archive_format}{/ref}",
    "assignees_url": "/assignees{/user}",
    "blobs_url": "/git/blobs{/sha}",
    "branches_url": "/branches{/branch}",
    "collaborators_url": "/collaborators{/collaborator}",
    "comments_url": "/comments{/number}",
    "commits_url": "/commits{/sha}",
    "compare_url": "/compare/{base}...{head}",
    "contents_url": "/contents/{+path}",
    "contributors_url": "/contributors",
    "deployments_url": "/deployments",
    "downloads_url": "/downloads",
    "events_url": "/events",
    "forks_url": "/forks",
    "git_commits_url": "/git/commits{/sha}",
    "git_refs_url": "/git/refs{/sha}",
    "git_tags_url": "/git/tags{/sha}",
    "hooks_url": "/hooks",
    "issue_comment_url": "/issues/comments{/number}",
    "issue_events_url": "/issues/events{/number}",
    "issues_url": "/issues{/number}",
    "keys_url": "/keys{/key_id}",
    "labels_url": "/labels{/name}",
    "languages_url": "/languages",
    "merges_url": "/merges",
    "milestones_url": "/milestones{/number}",
    "notifications_url": "/notifications{?since,all,participating}",
    "pulls_url": "/pulls{/number}",
    "releases_url": "/releases{/id}",
    "stargazers_url": "/stargazers",
    "statuses_url": "/statuses/{sha}",
    "subscribers_url": "/subscribers",
    "subscription_url": "/subscription",
    "tags_url": "/tags",
    "teams_url": "/teams",
    "trees_url": "/git/trees{/sha}",
}
USER_LINKS = {
    "followers_url": "/followers",
    "following_url": "/following{/other_user}",
    "gists_url": "/gists{/gist_id}",
    "starred_url": "/starred{/owner}{/repo}",
    "subscriptions_url": "/subscriptions",
    "organizations_url": "/orgs",
    "repos_url": "/repos",
    "events_url": "/events{/privacy}",
    "received_events_url": "/received_events",
}
NO_COUNTS = ("forks", "open_issues", "stargazers", "watchers")


def node_id(kind: str, number: int) -> str:
    """Return the global id of a thing; `kind` is GitHub's prefix, such as PR or I."""
    return f"{kind}_{base64.urlsafe_b64encode(f'{kind}{number}'.encode()).decode().rstrip('=')}"


def api_of(url: str, repository: Repository) -> str:
    """Return the address of the repository's REST resources."""
    return f"{url}/repos/{repository.full_name}"


def page_of(url: str, repository: Repository) -> str:
    """Return the address that stands for the repository's page; nothing is served there."""
    return f"{url}/{repository.full_name}"


def user(url: str, login: str) -> Json:
    """Show an account; its id follows from its login."""
    number = zlib.crc32(login.encode())
    own = f"{url}/users/{login}"
    return {
        "login": login,
        "id": number,
        "node_id": node_id("U", number),
        "avatar_url": f"{url}/avatars/{login}",
        "gravatar_id": "",
        "url": own,
        "html_url": f"{url}/{login}",
        **{name: own + path for name, path in USER_LINKS.items()},
        "type": "Bot" if login.endswith("-bot") else "User",
        "site_admin": False,
    }


def own_account(url: str, login: str, created_at: str) -> Json:
    """Show the account that asks about itself."""
    empty = ("bio", "blog", "company", "email", "hireable", "location")
    return {
        **user(url, login),
        "name": login,
        **dict.fromkeys(empty),
        "followers": 0,
        "following": 0,
        "public_gists": 0,
        "public_repos": 0,
        "created_at": created_at,
        "updated_at": created_at,
    }


def repository(url: str, one: Repository, permission: str) -> Json:
    """Show a repository to somebody with that permission."""
    api, page = api_of(url, one), page_of(url, one)
    links = {name: api + path for name, path in REPOSITORY_LINKS.items()}
    counts = {f"{name}_count": 0 for name in NO_COUNTS}
    return {
        "id": one.id,
        "node_id": node_id("R", one.id),
        "name": one.name,
        "full_name": one.full_name,
        "private": True,
        "owner": user(url, one.owner),
        "html_url": page,
        "url": api,
        "description": None,
        "fork": False,
        **links,
        "git_url": f"{page}.git",
        "ssh_url": f"{page}.git",
        "svn_url": page,
        "clone_url": f"{page}.git",
        "mirror_url": None,
        "homepage": None,
        "language": None,
        "license": None,
        "default_branch": one.default_branch,
        **counts,
        "forks": 0,
        "open_issues": 0,
        "watchers": 0,
        "network_count": 0,
        "subscribers_count": 0,
        "size": 0,
        "has_issues": True,
        "has_projects": False,
        "has_wiki": False,
        "has_pages": False,
        "has_downloads": False,
        "has_discussions": False,
        "archived": False,
        "disabled": False,
        "allow_merge_commit": True,
        "allow_squash_merge": True,
        "allow_rebase_merge": False,
        "permissions": {
            "admin": permission == "admin",
            "push": permission != "pull",
            "pull": True,
        },
        "created_at": one.created_at,
        "updated_at": one.created_at,
        "pushed_at": one.created_at,
    }


def ref(url: str, one: Repository, name: str, oid: str, kind: str) -> Json:
    """Show a ref and the object that it names."""
    api = api_of(url, one)
    return {
        "ref": name,
        "node_id": base64.urlsafe_b64encode(f"{one.id}:{name}".encode()).decode(),
        "url": f"{api}/git/{name}",
        "object": {"type": kind, "sha": oid, "url": f"{api}/git/{kind}s/{oid}"},
    }


def commit(url: str, one: Repository, facts: CommitFacts) -> Json:
    """Show a commit; its authors are names in git, not accounts."""
    api, page = api_of(url, one), page_of(url, one)
    people = {
        role: {"name": name, "email": email, "date": date}
        for role, (name, email, date) in (("author", facts.author), ("committer", facts.committer))
    }
    return {
        "sha": facts.sha,
        "node_id": base64.urlsafe_b64encode(f"C{facts.sha}".encode()).decode(),
        "url": f"{api}/commits/{facts.sha}",
        "html_url": f"{page}/commit/{facts.sha}",
        "comments_url": f"{api}/commits/{facts.sha}/comments",
        "commit": {
            **people,
            "message": facts.message,
            "tree": {"sha": facts.tree, "url": f"{api}/git/trees/{facts.tree}"},
            "url": f"{api}/git/commits/{facts.sha}",
            "comment_count": 0,
        },
        "author": None,
        "committer": None,
        "parents": [
            {
                "sha": parent,
                "url": f"{api}/commits/{parent}",
                "html_url": f"{page}/commit/{parent}",
            }
            for parent in facts.parents
        ],
    }


def branch(url: str, one: Repository, name: str, facts: CommitFacts) -> Json:
    """Show a branch; only the default branch is protected."""
    api = api_of(url, one)
    protected = name == one.default_branch
    return {
        "name": name,
        "commit": commit(url, one, facts),
        "_links": {
            "self": f"{api}/branches/{name}",
            "html": f"{page_of(url, one)}/tree/{name}",
        },
        "protected": protected,
        "protection": {"enabled": protected},
        "protection_url": f"{api}/branches/{name}/protection",
    }


def protection(url: str, one: Repository, name: str) -> Json:
    """Show the rules of the default branch: changes by pull request, up to date if strict."""
    own = f"{api_of(url, one)}/branches/{name}/protection"
    return {
        "url": own,
        "required_status_checks": {
            "url": f"{own}/required_status_checks",
            "strict": one.strict,
            "contexts": [],
            "contexts_url": f"{own}/required_status_checks/contexts",
            "checks": [],
        },
        "required_pull_request_reviews": {
            "url": f"{own}/required_pull_request_reviews",
            "dismiss_stale_reviews": False,
            "require_code_owner_reviews": False,
            "required_approving_review_count": 0,
        },
        "enforce_admins": {"url": f"{own}/enforce_admins", "enabled": False},
        "required_linear_history": {"enabled": False},
        "allow_force_pushes": {"enabled": False},
        "allow_deletions": {"enabled": False},
    }
