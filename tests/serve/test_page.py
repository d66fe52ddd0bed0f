"""The page in a real browser, driven as a person would: what is taught shows, holds, and is taken back."""

import re
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Browser, Locator, Page, expect

from tests.adaptation.models import tiny
from tests.backbones.models import needs_lite0
from tests.methods.inputs import folder
from tests.serve.driving import CHROMIUM, Server, card, chromium, drop, visited

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="needs chromium (Debian: apt-get install chromium)"),
    needs_lite0,
]
EVIL = '<img src=x onerror="document.title=1"><b>&amp;'


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def photos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = folder(tmp_path_factory.mktemp("photos"), ["blue", "red", "yellow"], range(4))
    Image.fromarray((np.indices((96, 96)).sum(0) // 12 % 2 * 255).astype(np.uint8)).save(made / "chessboard.png")
    return made


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server of photos that tests share; each begins with what it teaches, and with nothing else."""
    with Server(tmp_path_factory.mktemp("model") / "m.anacp", "--learner", "NCM") as started:
        yield started


@pytest.fixture
def page(browser: Browser, server: Server) -> Iterator[Page]:
    for one in server.ask("model")["classes"]:
        server.ask("classes/delete", {"label": one["label"]})
    with visited(browser, server.address) as found:
        yield found


def test_a_person_teaches_corrects_asks_and_comes_back(browser: Browser, photos: Path, tmp_path: Path) -> None:
    server = Server(tmp_path / "m.anacp", "--learner", "NCM")
    with server, visited(browser, server.address) as page:
        drop(page, page.locator(".invention"), [photos / "red", photos / "blue"])
        for label in ("red", "blue"):
            expect(examples(page, label).locator("img")).to_have_count(4)
        # What was never shown is unknown, and says so, until it is taught; the question is asked anew each time.
        verdict, likeliest = page.locator(".verdict"), page.locator(".chances .name").first
        drop(page, page.locator("#ask"), [photos / "chessboard.png"])
        expect(verdict).to_contain_text("unknown")
        page.locator("#new-class").fill("board")
        drop(page, page.locator(".invention"), [photos / "chessboard.png"])
        expect(verdict).to_contain_text("board")
        # It is corrected by hand: dragged into another class, which leaves its own empty. Undo takes that back.
        examples(page, "board").first.drag_to(card(page, "red").locator("h3"))
        expect(examples(page, "red")).to_have_count(5)
        expect(card(page, "board")).to_have_count(0)
        expect(likeliest).not_to_have_text("board")
        page.keyboard.press("Control+z")
        expect(examples(page, "red")).to_have_count(4)
        expect(verdict).to_contain_text("board")
        expect(page.locator("#history .undone")).to_have_count(1)
        facts = page.locator("#model-facts")
        expect(facts).to_have_text("3 classes · 9 examples")
        page.reload()
        expect(examples(page, "board").locator("img")).to_have_count(1)
        # The server is killed: the page says so, and goes on by itself once there is one again.
        server.stop(signal.SIGKILL)
        expect(facts).to_contain_text("Not connected")
        server.start()
        expect(facts).to_have_text("3 classes · 9 examples", timeout=60_000)
        page.keyboard.press("Control+Shift+Z")
        expect(examples(page, "red")).to_have_count(5)
        expect(facts).to_have_text("2 classes · 9 examples")


def test_everything_by_keys_alone(browser: Browser, tmp_path: Path) -> None:
    tiny("bert", tmp_path)
    server = Server(tmp_path / "m.anacp", "--texts", "--backbone", f"hf:{tmp_path / 'bert'}", "--learner", "NCM")
    with server, visited(browser, server.address) as page:
        press, type_ = page.keyboard.press, page.keyboard.type
        expect(page.locator("#new-class")).to_be_visible()
        taught = {"red": ["red red", "a red red", "red red red"], "blue": ["blue blue blue", "the blue blue"]}
        for label, words in taught.items():
            press("n")
            type_(label)
            press("Enter")
            for text in words:
                type_(text)
                press("Enter")
            expect(examples(page, label)).to_have_count(len(words))
            press("Escape")
        press("a")
        type_("red red")
        expect(page.locator(".verdict")).to_contain_text("red")
        press("Escape")
        # Two of three are selected and moved to a class that is new.
        examples(page, "red").first.focus()
        press("Space")
        press("ArrowRight")
        press("Space")
        expect(page.locator("#selected")).to_contain_text("2 examples selected")
        press("m")
        type_("crimson")
        press("Enter")
        expect(examples(page, "crimson")).to_have_count(2)
        expect(page.locator("#selected")).to_be_hidden()
        press("Control+z")
        expect(examples(page, "red")).to_have_count(3)
        expect(card(page, "crimson")).to_have_count(0)
        press("Control+Shift+Z")
        expect(examples(page, "crimson")).to_have_count(2)
        # Looked at, with what is similar; forgotten.
        examples(page, "crimson").first.focus()
        press("Enter")
        expect(page.locator("dialog .alike button")).to_have_count(4)
        press("Escape")
        press("Delete")
        expect(examples(page, "crimson")).to_have_count(1)
        # The pile: one key accepts, another label is typed.
        page.locator('nav a[href="#next"]').focus()
        press("Enter")
        pile = page.locator("#pile")
        page.get_by_role("textbox", name="Sentences for the pile").focus()
        type_("blue house")
        press("Enter")
        type_("green car")
        press("Tab")
        press("Enter")
        expect(pile).to_contain_text("2 items on the pile")
        press("Enter")
        expect(pile).to_contain_text("1 item on the pile")
        page.locator("#pile-label").focus()
        type_("green")
        press("Enter")
        expect(pile).to_contain_text("The pile is empty")
        said = {one["label"]: one["n"] for one in server.ask("model")["classes"]}
        assert sum(said.values()) == 6
        assert said["green"] == 1


def test_classes_are_renamed_joined_deleted_and_moved_in_bulk(page: Page, photos: Path) -> None:
    drop(page, page.locator(".invention"), [photos / "red", photos / "blue", photos / "yellow"])
    expect(examples(page, "yellow")).to_have_count(4)
    choose(page, "red", "Rename")
    page.get_by_label("Name of the class").fill("crimson")
    page.keyboard.press("Enter")
    expect(examples(page, "crimson")).to_have_count(4)
    choose(page, "crimson", "Join")
    page.get_by_label("Name of the class").fill("yellow")
    page.keyboard.press("Enter")
    expect(examples(page, "yellow")).to_have_count(8)
    expect(card(page, "crimson")).to_have_count(0)
    first = examples(page, "yellow").first
    first.locator(".tick").click()
    examples(page, "yellow").nth(2).click(modifiers=["Shift"])
    expect(page.locator("#selected")).to_contain_text("3 examples selected")
    first.drag_to(card(page, "blue").locator("h3"))  # all of them go
    expect(examples(page, "blue")).to_have_count(7)
    choose(page, "blue", "Delete")
    page.get_by_role("button", name="Delete", exact=True).click()
    expect(page.locator("#model-facts")).to_have_text("1 class · 5 examples")
    # Back to before the first of the three, by the history.
    page.get_by_role("button", name="Undo to before: renamed").click()
    expect(page.locator("#model-facts")).to_have_text("3 classes · 12 examples")
    expect(examples(page, "red")).to_have_count(4)


def test_two_teachers_see_each_other(browser: Browser, server: Server, page: Page, photos: Path) -> None:
    with visited(browser, server.address) as other:
        drop(page, page.locator(".invention"), [photos / "red"])
        expect(examples(other, "red").locator("img")).to_have_count(4)
        other.get_by_role("button", name="Undo", exact=True).first.click()
        expect(card(page, "red")).to_have_count(0)


def test_labels_are_shown_and_never_obeyed(page: Page, photos: Path) -> None:
    page.locator("#new-class").fill(EVIL)
    page.keyboard.press("Enter")
    mine = page.get_by_role("article", name=EVIL)
    drop(page, mine, [photos / "red"])
    expect(mine.locator("[role=option]")).to_have_count(4)
    drop(page, page.locator(".invention"), [photos / "blue"])
    drop(page, mine, [photos / "blue" / "000.png"])  # moves: a likely mistake
    drop(page, page.locator("#ask"), [photos / "red" / "000.png"])
    expect(page.locator(".verdict strong")).to_have_text(EVIL)
    for view in ("next", "quality", "files", "teach"):
        page.goto(page.url.partition("#")[0] + f"#{view}")
        expect(page.locator("#view h2")).to_be_visible()
        expect(page.get_by_text("Working it out")).to_have_count(0)
        if view in ("next", "quality"):
            expect(page.get_by_role("rowheader", name=EVIL)).to_be_visible()
    assert page.locator("img[src=x], #view b").count() == 0
    assert page.title() != "1"


def test_no_script_but_the_pages_own_runs(browser: Browser, server: Server) -> None:
    context = browser.new_context()
    page = context.new_page()
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    policy = page.goto(server.address).all_headers()["content-security-policy"]  # type: ignore[union-attr]
    assert "default-src 'self'" in policy
    assert "unsafe" not in policy
    page.evaluate(
        """() => {
            const markup = "<p id=painted style='color: red' onclick='document.title = 1'>";
            document.body.insertAdjacentHTML("beforeend", markup);
            document.body.append(Object.assign(document.createElement("script"), {textContent: "document.title = 2"}));
            painted.click();
        }"""
    )
    assert page.title() not in ("1", "2")
    assert len([one for one in said if "Content Security Policy" in one]) == 3
    context.close()


def test_on_a_phone(browser: Browser, server: Server, page: Page, photos: Path) -> None:
    drop(page, page.locator(".invention"), [photos / "red", photos / "blue"])
    expect(examples(page, "blue")).to_have_count(4)
    server.ask("classes/rename", {"old": "blue", "new": "a-very-long-name-without-any-space-" * 4})
    size: Any = {"width": 360, "height": 740}
    with visited(browser, server.address, viewport=size, has_touch=True, is_mobile=True, color_scheme="dark") as phone:
        expect(card(phone, "red").locator("[role=option]")).to_have_count(4)
        drop(phone, phone.locator("#ask"), [photos / "red" / "000.png"])
        expect(phone.locator(".verdict")).to_be_visible()
        examples(phone, "red").first.locator(".tick").tap()
        expect(phone.locator("#selected")).to_be_visible()
        for view in ("teach", "next", "quality", "files"):
            phone.locator(f'nav a[href="#{view}"]').tap()
            expect(phone.get_by_text("Working it out")).to_have_count(0)
            wide = phone.evaluate(
                """() => [document.documentElement.scrollWidth, ...[...document.querySelectorAll("body *")]
                    .filter((one) => one.getBoundingClientRect().right > innerWidth + 1)
                    .map((one) => one.tagName + " " + one.className)]"""
            )
            assert wide == [360], view


def test_photos_of_the_camera(page: Page) -> None:
    page.locator("#new-class").fill("me")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Camera for me").click()
    expect(page.locator("video")).to_have_js_property("readyState", 4)
    page.get_by_role("button", name="Take a photo").click()
    page.keyboard.press("Escape")
    expect(examples(page, "me").locator("img")).to_have_count(1)


def test_long_work_is_shown_and_stopped(page: Page, tmp_path: Path) -> None:
    drop(page, page.locator(".invention"), [folder(tmp_path, ["red"], range(70)) / "red"])
    work = page.locator("#work")
    expect(work).to_contain_text("16 of 70 items")
    expect(work).to_contain_text("left")
    page.get_by_role("button", name="Stop: Learning red").click()
    expect(work).to_be_hidden()
    expect(page.locator("#model-facts")).to_contain_text(re.compile("1 class · (16|32|48) examples"))


def test_models_leave_and_come_in(page: Page, photos: Path, tmp_path: Path) -> None:
    drop(page, page.locator(".invention"), [photos / "red", photos / "blue"])
    expect(examples(page, "blue")).to_have_count(4)
    page.goto(page.url.partition("#")[0] + "#files")
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save: Model").click()
    saved.value.save_as(tmp_path / saved.value.suggested_filename)
    page.goto(page.url.partition("#")[0] + "#teach")
    choose(page, "red", "Delete")
    page.get_by_role("button", name="Delete", exact=True).click()
    expect(card(page, "red")).to_have_count(0)
    page.goto(page.url.partition("#")[0] + "#files")
    with page.expect_file_chooser() as asked:
        page.get_by_role("button", name="Choose a model").click()
    asked.value.set_files(tmp_path / "m.anacp")
    expect(page.locator("#view dl")).to_contain_text("new classesredclasses here tooblue")
    page.get_by_role("button", name="Merge", exact=True).click()
    expect(page.locator("#model-facts")).to_have_text("2 classes · 8 examples")


def examples(page: Page, label: str) -> Locator:
    """What the page shows of a class, without what is still on its way."""
    return card(page, label).locator("[role=option]")


def choose(page: Page, label: str, words: str) -> None:
    """Choose from the menu of a class."""
    card(page, label).locator("summary").click()
    card(page, label).locator(".menu").get_by_role("button", name=words).click()
