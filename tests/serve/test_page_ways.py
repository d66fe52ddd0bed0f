"""Ways in and out of the page, in a real browser: camera, clipboard, token, files; and back to nothing."""

import base64
from pathlib import Path

import numpy as np
from playwright.sync_api import Browser, Page, expect

from anacp import load
from tests.serve.driving import NEEDS, NOT_THERE, Server, card, choose, drop, examples, visited

pytestmark = NEEDS
COPY = """async (content) => {
  const bytes = Uint8Array.from(atob(content), (letter) => letter.charCodeAt(0));
  const blob = new Blob([bytes], { type: "image/png" });
  await navigator.clipboard.write([new ClipboardItem({ "image/png": blob })]);
}"""


def test_photos_of_the_camera(page: Page) -> None:
    page.locator("#new-class").fill("me")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Camera for me").click()
    expect(page.locator("video")).to_have_js_property("readyState", 4)
    page.get_by_role("button", name="Take a photo").click()
    page.keyboard.press("Escape")
    expect(examples(page, "me").locator("img")).to_have_count(1)


def test_a_photo_of_the_camera_is_asked_about(page: Page, drawn: Path) -> None:
    drop(page, page.locator(".invention"), [drawn / "red", drawn / "blue"])
    expect(examples(page, "blue")).to_have_count(4)
    page.locator("#ask").get_by_role("button", name="Camera").click()
    expect(page.locator("video")).to_have_js_property("readyState", 4)
    page.get_by_role("button", name="Take a photo").click()
    expect(page.locator("dialog")).to_have_count(0)
    expect(page.locator(".answer:not(.asking, .early) .chances li")).to_have_count(2)


def test_photos_are_pasted(browser: Browser, server: Server, page: Page, drawn: Path) -> None:
    """What is copied elsewhere is asked about; pasted into a class it is learned."""
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    drop(page, page.locator(".invention"), [drawn / "red", drawn / "blue"])
    expect(examples(page, "blue")).to_have_count(4)
    page.evaluate(COPY, base64.b64encode((drawn / "red" / "001.png").read_bytes()).decode())
    page.locator("#ask-title").click()  # away from the class that was made last
    page.keyboard.press("Control+v")
    expect(page.locator(".verdict")).to_contain_text("red")
    page.evaluate(COPY, base64.b64encode((drawn / "yellow" / "000.png").read_bytes()).decode())
    page.locator("#new-class").fill("yellow")
    page.keyboard.press("Enter")
    page.keyboard.press("Control+v")
    expect(examples(page, "yellow").locator("img")).to_have_count(1)


def test_a_token_is_asked_for_at_another_address(browser: Browser, drawn: Path, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("a long enough token")
    other = ["--host", "127.0.0.2", "--token-file", str(tmp_path / "token")]
    server = Server(tmp_path / "m.anacp", "--learner", "NCM", always=other)
    with server, visited(browser, server.address, allowed="401") as page:
        asked = page.get_by_role("dialog", name="This model asks for a token")
        field = asked.get_by_label("Token")
        field.fill("another token, and a wrong one")
        page.keyboard.press("Enter")
        expect(asked).to_contain_text("That was not it")
        field.fill("a long enough token")
        page.keyboard.press("Enter")
        expect(asked).to_have_count(0)
        drop(page, page.locator(".invention"), [drawn / "red", drawn / "blue"])
        image = examples(page, "blue").locator("img").first
        expect(image).to_have_js_property("naturalWidth", 24)
        drop(page, page.locator("#ask"), [drawn / "red" / "000.png"])
        expect(page.locator(".verdict")).to_contain_text("red")
        page.reload()  # within the tab it is remembered
        expect(examples(page, "red")).to_have_count(4)


def test_models_leave_and_come_in(page: Page, drawn: Path, tmp_path: Path) -> None:
    drop(page, page.locator(".invention"), [drawn / "red", drawn / "blue"])
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


def test_a_graph_and_a_report_leave(browser: Browser, page: Page, drawn: Path, tmp_path: Path) -> None:
    import onnxruntime

    drop(page, page.locator(".invention"), [drawn / "red", drawn / "blue"])
    expect(examples(page, "blue")).to_have_count(4)
    drop(page, card(page, "red"), [drawn / "blue" / "003.png"])  # a mistake for the report
    expect(examples(page, "red")).to_have_count(5)
    page.goto(page.url.partition("#")[0] + "#files")
    saved = {}
    for name in ("Model", "ONNX", "Report"):
        with page.expect_download() as download:
            page.get_by_role("button", name=f"Save: {name}").click()
        saved[name] = tmp_path / download.value.suggested_filename
        download.value.save_as(saved[name])
    model, x = load(saved["Model"]), np.random.default_rng(0).normal(size=(3, 1280)).astype(np.float32)
    session = onnxruntime.InferenceSession(saved["ONNX"])
    (given,), names = session.get_inputs(), [one.name for one in session.get_outputs()]
    outputs = dict(zip(names, session.run(None, {given.name: x}), strict=True))
    assert any(
        np.shape(one) == (3, 2) and np.allclose(one, model.learner.predict_proba(x), atol=1e-4)
        for one in outputs.values()
    )
    with visited(browser, saved["Report"].as_uri()) as report:
        expect(report.locator("body")).to_contain_text("examples recognised by the others")
        expect(report.locator("img").first).to_be_visible()


def test_what_is_no_model_is_said_and_what_is_left_changes_nothing(
    browser: Browser, server: Server, page: Page, drawn: Path, tmp_path: Path
) -> None:
    with visited(browser, server.address, allowed="422") as other:
        look_at_models(other, drawn, tmp_path)


def look_at_models(page: Page, drawn: Path, tmp_path: Path) -> None:
    """A file that is none, and one that brings nothing."""
    drop(page, page.locator(".invention"), [drawn / "red"])
    expect(examples(page, "red")).to_have_count(4)
    page.goto(page.url.partition("#")[0] + "#files")
    (tmp_path / "broken.anacp").write_bytes(b"nothing that a model could be made of" * 99)
    with page.expect_file_chooser() as asked:
        page.get_by_role("button", name="Choose a model").click()
    asked.value.set_files(tmp_path / "broken.anacp")
    expect(page.get_by_role("alert").filter(has_text="That did not work")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("button", name="Save: Model").click()
    download.value.save_as(tmp_path / "same.anacp")
    with page.expect_file_chooser() as asked:
        page.get_by_role("button", name="Choose a model").click()
    asked.value.set_files(tmp_path / "same.anacp")
    expect(page.locator("#view dl")).to_contain_text("examples here too4")
    page.get_by_role("button", name="Leave it").click()
    expect(page.locator("#view dl")).to_have_count(0)
    expect(page.locator("#model-facts")).to_have_text("1 class · 4 examples")


def test_everything_is_undone_down_to_nothing_and_comes_back(browser: Browser, drawn: Path, tmp_path: Path) -> None:
    server = Server(tmp_path / "m.anacp", "--learner", "NCM")
    asked_too_late = f"{NOT_THERE}|409"  # about the probe, while the last class was undone
    with server, visited(browser, server.address, allowed=asked_too_late) as page:
        drop(page, page.locator(".invention"), [drawn / "red", drawn / "blue"])
        expect(page.locator("#model-facts")).to_have_text("2 classes · 8 examples")
        drop(page, page.locator("#ask"), [drawn / "red" / "000.png"])
        expect(page.locator(".verdict")).to_contain_text("red")
        undo, redo = (page.get_by_role("button", name=name, exact=True).first for name in ("Undo", "Redo"))
        undo.click()
        expect(page.locator("#model-facts")).to_have_text("1 class · 4 examples")
        undo.click()
        expect(page.locator("#model-facts")).to_have_text("0 classes · 0 examples")
        expect(undo).to_be_disabled()
        expect(page.locator("#answer")).to_have_text("Nothing has been learned yet.")
        server.stop()
        server.options = ()  # the journal says what kind of model it is
        server.start()
        expect(page.locator("#model-facts")).to_have_text("0 classes · 0 examples")
        redo.click()
        redo.click()
        expect(page.locator("#model-facts")).to_have_text("2 classes · 8 examples")
        expect(page.locator(".verdict")).to_contain_text("red")
