"""A preprocessor of mdBook: links from pages to files of the source that are no pages.

The guide for strategies is a page of its own in the book, which is added here; of other files the text of the link stays,
with the file's path in the tree behind it.
"""

import json
import posixpath
import re
import sys

LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
GUIDE = "strategy-sdk/README.md"
PAGE = "strategy-guide.md"


def mend(page, text):
    """The links of a page, which lies at `docs/page` of the tree."""

    def link(match):
        words, target = match.groups()
        path, _, anchor = target.partition("#")
        if "://" in target or not path or path.startswith("mailto:"):
            return match.group(0)
        in_tree = posixpath.normpath(posixpath.join("docs", posixpath.dirname(page), path))
        if in_tree == GUIDE:
            to = posixpath.relpath(PAGE, posixpath.dirname(page) or ".")
        elif in_tree.startswith("docs/") and posixpath.basename(path) == "README.md":
            # mdBook makes index.html of these, and leaves links to them as they are.
            to = posixpath.join(posixpath.dirname(path), "index.md")
        elif in_tree.startswith("docs/"):
            return match.group(0)
        else:
            plain = words.strip("`")
            return words if in_tree.endswith(plain) and plain else f"{words} (`{in_tree}`)"
        return f"[{words}]({to}{'#' + anchor if anchor else ''})"

    blocks = re.split(r"(^```.*?^```)", text, flags=re.M | re.S)
    return "".join(block if block.startswith("```") else LINK.sub(link, block) for block in blocks)


def guide(root):
    """The guide as if it lay among the pages."""
    with open(posixpath.join(root, "..", "..", GUIDE), encoding="utf-8") as file:
        text = file.read()

    def moved(match):
        words, target = match.groups()
        if "://" in target or target.startswith("#"):
            return match.group(0)
        path = posixpath.normpath(posixpath.join("strategy-sdk", target))
        return f"[{words}]({posixpath.relpath(path, 'docs')})"

    return LINK.sub(moved, text)


def walk(items):
    for item in items:
        if isinstance(item, dict) and "Chapter" in item:
            chapter = item["Chapter"]
            if chapter.get("path"):
                chapter["content"] = mend(chapter["path"], chapter["content"])
            walk(chapter.get("sub_items", []))


def main():
    if len(sys.argv) > 1 and sys.argv[1] == "supports":
        return
    context, book = json.load(sys.stdin)
    items = book.get("items", book.get("sections"))
    chapter = {
        "name": "Write a strategy",
        "content": guide(context["root"]),
        "number": None,
        "sub_items": [],
        "path": PAGE,
        "source_path": None,
        "parent_names": [],
    }
    begin = next(i for i, item in enumerate(items) if isinstance(item, dict) and item.get("PartTitle") == "Do")
    items.insert(begin + 1, {"Chapter": chapter})
    walk(items)
    json.dump(book, sys.stdout)


if __name__ == "__main__":
    main()
