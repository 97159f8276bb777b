"""Dropping files on a project, as a person does it."""

from __future__ import annotations

import json
import time

import pytest
from playwright.sync_api import Dialog, FilePayload, Page, Route, expect

from sessions.models import Project, Session

pytestmark = pytest.mark.browser


def file(name: str, body: bytes) -> FilePayload:
    return {"name": name, "mimeType": "application/octet-stream", "buffer": body}


def chat(question: str, name: str = "chat.json") -> FilePayload:
    messages = [{"role": "user", "content": question}, {"role": "assistant", "content": "Done."}]
    return file(name, json.dumps(messages).encode())


def hold_back(route: Route) -> None:
    """Long enough for the progress bar to be seen."""
    time.sleep(0.3)
    route.continue_()


def test_every_file_of_several_has_its_row_without_a_reload(page: Page, project: Project) -> None:
    page.goto("/projects/apollo/")

    names = ["Fix the parser", "Write the docs", "Mend the tests", "Count the tokens"]
    page.locator("input[type=file]").set_input_files([chat(name, f"{at}.json") for at, name in enumerate(names)])

    expect(page.locator("table.sessions tbody tr")).to_have_count(4)


def test_chosen_files_show_progress_then_a_link_and_a_row(page: Page, project: Project) -> None:
    page.goto("/projects/apollo/")
    expect(page.get_by_text("No sessions yet")).to_be_visible()
    page.route("**/upload/", hold_back)

    page.locator("input[type=file]").set_input_files([chat("Fix the parser"), file("notes.txt", b"no session")])

    expect(page.locator("li.upload progress").first).to_be_visible()
    expect(page.locator("li.upload.done a")).to_have_text("Fix the parser")
    expect(page.locator("li.upload.failed")).to_contain_text("notes.txt")
    expect(page.locator("#sessions tbody tr")).to_have_count(1)
    expect(page.locator("#sessions tbody a.title")).to_have_text("Fix the parser")
    expect(page.locator("#totals")).to_contain_text("1session")


def test_a_dropped_file_is_uploaded(page: Page, project: Project) -> None:
    page.goto("/projects/apollo/")
    transfer = page.evaluate_handle(
        """body => {
            const transfer = new DataTransfer();
            transfer.items.add(new File([body], "dropped.json"));
            return transfer;
        }""",
        chat("Dropped question")["buffer"].decode(),
    )

    page.dispatch_event("h1", "drop", {"dataTransfer": transfer})

    expect(page.locator("li.upload.done a")).to_have_text("Dropped question")


def test_an_empty_file_is_refused_without_sending_it(page: Page, project: Project) -> None:
    page.goto("/projects/apollo/")
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.method))

    page.locator("input[type=file]").set_input_files([file("empty.jsonl", b"")])

    expect(page.locator("li.upload.failed")).to_contain_text("The file is empty.")
    assert "POST" not in sent


def test_hostile_titles_stay_text(page: Page, project: Project) -> None:
    page.goto("/projects/apollo/")
    hostile = "<script>alert(1)</script> javascript:alert(1) \u202e\x1b[31m"
    dialogs: list[str] = []

    def note(dialog: Dialog) -> None:
        dialogs.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", note)

    page.locator("input[type=file]").set_input_files([chat(hostile, "<img src=x onerror=alert(1)>.json")])

    expect(page.locator("#sessions tbody a.title")).to_have_text(
        "<script>alert(1)</script> javascript:alert(1) ‹U+202E›‹ESC›[31m"
    )
    expect(page.locator("li.upload .name")).to_have_text("<img src=x onerror=alert(1)>.json")
    assert page.locator("main script, main img").count() == 0
    assert dialogs == []


def test_the_first_file_of_all_may_be_dropped_on_the_list(page: Page) -> None:
    page.goto("/")

    page.locator("input[type=file]").set_input_files([chat("Where do I start?")])

    expect(page.locator("li.upload.done a")).to_have_text("Where do I start?")
    assert Session.objects.get().project.name == "My sessions"
