// Photos by the camera: as many as wanted, each learned when it is taken.

import { open } from "./dialogs.js";
import { button, counted, make } from "./dom.js";
import { complain } from "./messages.js";

export const hasCamera = () => Boolean(navigator.mediaDevices?.getUserMedia);

export async function photograph(title, taken, { many = true } = {}) {
  let stream;
  try {
    const video = { facingMode: "environment", width: { ideal: 1280 } };
    stream = await navigator.mediaDevices.getUserMedia({ video });
  } catch (error) {
    complain(new Error(`The camera could not be used (${error.name}). Allow it for this page, or choose files.`));
    return;
  }
  const video = make("video", { autoplay: true, playsinline: true, muted: true });
  video.muted = true;
  video.srcObject = stream;
  const said = make("p", { class: "faint", role: "status" }, "Nothing taken yet.");
  let n = 0;
  const take = async () => {
    if (!video.videoWidth) return;
    const canvas = make("canvas");
    canvas.width = video.videoWidth;
    canvas.height = video.videoHeight;
    canvas.getContext("2d").drawImage(video, 0, 0);
    const blob = await new Promise((resolve) => canvas.toBlob(resolve, "image/jpeg", 0.92));
    n += 1;
    said.textContent = `${counted(n, "photo")} taken.`;
    const name = `camera-${new Date().toISOString().replace(/[:.]/g, "-")}.jpg`;
    if (!many) dialog.close();
    taken(new File([blob], name, { type: "image/jpeg" }));
  };
  const shutter = button("Take a photo", take, { class: "main" });
  const dialog = open(title, video, make("p", { class: "row" }, shutter, said));
  dialog.classList.add("camera");
  dialog.addEventListener("close", () => stream.getTracks().forEach((track) => track.stop()));
  shutter.focus();
}
