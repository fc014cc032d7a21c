"""What a patch may touch: judged by its words before, and by what git made of it after."""

from __future__ import annotations

import pytest

from activities.workspace.policy import PatchLimits, index_violations, touched, violations

LIMITS = PatchLimits(allowed_paths=("shop",), max_files=2, max_bytes=2_000)
EDIT = "--- a/{0}\n+++ b/{0}\n@@ -1 +1 @@\n-a\n+b\n"


def test_an_edit_of_an_allowed_file_breaks_no_rule() -> None:
    assert violations(EDIT.format("shop/x.py"), LIMITS) == ()
    assert touched(EDIT.format("shop/x.py")) == ("shop/x.py",)


@pytest.mark.parametrize(
    ("patch", "words"),
    [
        ("", "it changes no file"),
        (EDIT.format("/etc/passwd"), "leaves the repository"),
        (EDIT.format("shop/../../x"), "leaves the repository"),
        (EDIT.format("other/x.py"), "outside of shop"),
        (EDIT.format("shopping/x.py"), "outside of shop"),
        (EDIT.format("shop/.git/hooks/x"), "never changed"),
        (EDIT.format("shop/.GIT/config"), "never changed"),
        (EDIT.format(".github/workflows/x.yml"), "never changed"),
        (EDIT.format(".outlast.toml"), "never changed"),
        (EDIT.format("shop/.gitattributes"), "never changed"),
        ('--- "a/shop/\\056git/x"\n+++ "b/shop/\\056git/x"\n@@ -1 +1 @@\n-a\n+b\n', "leaves the"),
        ("--- shop/.github/x\n+++ shop/.github/x\n@@ -1 +1 @@\n-a\n+b\n", "not of the form"),
        ("".join(EDIT.format(f"shop/{n}.py") for n in range(3)), "touches 3 files"),
        (EDIT.format("shop/x.py") + "+" * 2_000, "more than 2000 bytes"),
        (
            "diff --git a/shop/l b/shop/l\nnew file mode 120000\n"
            "--- /dev/null\n+++ b/shop/l\n@@ -0,0 +1 @@\n+/etc\n",
            "link or a submodule",
        ),
        ("diff --git a/shop/s b/shop/s\nnew file mode 160000\n", "link or a submodule"),
        ("diff --git a/.github/x b/.github/x\nnew file mode 100644\nindex 0..e\n", "never changed"),
        ("diff --git a/shop/a b/x\nrename from shop/a\nrename to x\n", "x: outside of shop"),
        ("diff --git a/shop/b b/shop/b\nGIT binary patch\nliteral 0\n", "binary file"),
        ("diff --git a/shop/b b/shop/b\nBinary files a/shop/b and b/shop/b differ\n", "binary"),
    ],
)
def test_a_rule_that_is_broken_is_named(patch: str, words: str) -> None:
    assert words in " ".join(violations(patch, LIMITS))


def test_lines_inside_a_hunk_are_content_and_no_headers() -> None:
    patch = "--- a/shop/x.sql\n+++ b/shop/x.sql\n@@ -1,2 +1,2 @@\n--- /etc/passwd\n+++ .git/x\n c\n"
    assert touched(patch) == ("shop/x.sql",)
    assert violations(patch, LIMITS) == ()


def test_no_allowed_paths_means_anywhere_but_the_forbidden_places() -> None:
    anywhere = PatchLimits((), 2, 2_000)
    assert violations(EDIT.format("other/x.py"), anywhere) == ()
    assert violations(EDIT.format(".github/x"), anywhere) != ()


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (":100644 100644 aa bb M\0shop/x.py\0", None),
        (":000000 100644 aa bb A\0shop/x.py\0", None),
        (":100644 000000 aa bb D\0shop/x.py\0", None),
        (":000000 120000 aa bb A\0shop/x.py\0", "link"),
        (":000000 160000 aa bb A\0shop/x.py\0", "submodule"),
        (":100644 100644 aa bb M\0.github/x\0", "never changed"),
        (":100644 100644 aa bb M\0other/x\0", "outside"),
        ("", None),
    ],
)
def test_a_staged_change_is_judged_by_the_same_rules(raw: str, words: str | None) -> None:
    found = index_violations(raw, LIMITS)
    assert (found == ()) if words is None else (words in " ".join(found))
