"""The page in a real browser, driven as a person would: what is taught shows, holds, and is taken back."""

import signal
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, expect

from tests.adaptation.models import tiny
from tests.serve.driving import NEEDS, Server, card, choose, drop, examples, visited

pytestmark = NEEDS
EVIL = '<img src=x onerror="document.title=1"><b>&amp;'


def test_a_person_teaches_corrects_asks_and_comes_back(browser: Browser, drawn: Path, tmp_path: Path) -> None:
    server = Server(tmp_path / "m.anacp", "--learner", "NCM")
    with server, visited(browser, server.address) as page:
        drop(page, page.locator(".invention"), [drawn / "red", drawn / "blue"])
        for label in ("red", "blue"):
            expect(examples(page, label).locator("img")).to_have_count(4)
        # What was never shown is unknown, and says so, until it is taught; the question is asked anew each time.
        verdict, likeliest = page.locator(".verdict"), page.locator(".chances .name").first
        drop(page, page.locator("#ask"), [drawn / "chessboard.png"])
        expect(verdict).to_contain_text("unknown")
        page.locator("#new-class").fill("board")
        drop(page, page.locator(".invention"), [drawn / "chessboard.png"])
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
        expect(page.locator("#model-facts")).to_contain_text("6 examples")
        said = {one["label"]: one["n"] for one in server.ask("model")["classes"]}
        assert sum(said.values()) == 6
        assert said["green"] == 1


def test_classes_are_renamed_joined_deleted_and_moved_in_bulk(page: Page, drawn: Path) -> None:
    drop(page, page.locator(".invention"), [drawn / "red", drawn / "blue", drawn / "yellow"])
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


def test_two_teachers_see_each_other(browser: Browser, server: Server, page: Page, drawn: Path) -> None:
    with visited(browser, server.address) as other:
        drop(page, page.locator(".invention"), [drawn / "red"])
        expect(examples(other, "red").locator("img")).to_have_count(4)
        other.get_by_role("button", name="Undo", exact=True).first.click()
        expect(card(page, "red")).to_have_count(0)


def test_labels_are_shown_and_never_obeyed(page: Page, drawn: Path) -> None:
    page.locator("#new-class").fill(EVIL)
    page.keyboard.press("Enter")
    mine = page.get_by_role("article", name=EVIL)
    drop(page, mine, [drawn / "red"])
    expect(mine.locator("[role=option]")).to_have_count(4)
    drop(page, page.locator(".invention"), [drawn / "blue"])
    drop(page, mine, [drawn / "blue" / "000.png"])  # moves: a likely mistake
    drop(page, page.locator("#ask"), [drawn / "red" / "000.png"])
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


def test_on_a_phone(browser: Browser, server: Server, page: Page, drawn: Path) -> None:
    drop(page, page.locator(".invention"), [drawn / "red", drawn / "blue"])
    expect(examples(page, "blue")).to_have_count(4)
    server.ask("classes/rename", {"old": "blue", "new": "a-very-long-name-without-any-space-" * 4})
    size: Any = {"width": 360, "height": 740}
    with visited(browser, server.address, viewport=size, has_touch=True, is_mobile=True, color_scheme="dark") as phone:
        expect(card(phone, "red").locator("[role=option]")).to_have_count(4)
        drop(phone, phone.locator("#ask"), [drawn / "red" / "000.png"])
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
