/* Panels of the book: controls that swap pictures computed before (docs/panels.py).

   Each box of controls stands hidden in the page after its cell. This script puts it into the figure that stands for
   the panel, shows it, and from then on shows for every combination of values its picture, sentence and alternative
   text. The sentences of a panel are loaded as a script (a page opened as a file may not fetch) when its first control
   is touched, the pictures one by one. Without this script the stored picture stands. */
(() => {
  "use strict";

  const MISSING = "Not computed for this copy of the book.";
  const FOLDER = new URL("../panels/", document.currentScript.src);
  const books = {}; // by the name of a panel: combination of positions -> [sentence, alternative text, picture]

  /* What states.js of every panel calls. */
  window.cofactorPanel = (name, states) => { books[name] = states; };

  /* Load the states of a panel, at most once, then go on. */
  function withStates(name, goOn) {
    if (books[name]) {
      goOn(books[name]);
      return;
    }
    const script = document.createElement("script");
    script.src = new URL(`${name}/states.js`, FOLDER);
    script.onload = () => goOn(books[name]);
    script.onerror = () => goOn({});
    document.head.append(script);
  }

  /* The controls of a box, and the position of each. */
  const controls = box => [...box.querySelectorAll("select, input")];
  const position = control => (control.tagName === "SELECT" ? control.selectedIndex : Number(control.value));

  /* Say beside a slider, and to screen readers, which value it stands at. */
  function tell(slider) {
    const value = JSON.parse(slider.dataset.labels)[position(slider)];
    slider.parentElement.querySelector("output").textContent = value;
    slider.setAttribute("aria-valuetext", value);
  }

  /* Show what the panel shows for the values that the controls have by now. */
  function show(box, figure) {
    const name = box.dataset.panel;
    withStates(name, states => {
      const [sentence, words, picture] = states[controls(box).map(position).join(",")] ?? [MISSING, "", ""];
      const image = figure.querySelector("img");
      figure.querySelector("figcaption").textContent = sentence;
      image.hidden = !picture;
      image.alt = words;
      if (picture) {
        image.src = new URL(`${name}/${picture}`, FOLDER);
      }
    });
  }

  /* Give a box to its figure. */
  function start(box) {
    const figure = document.getElementById(box.dataset.figure);
    const caption = document.createElement("figcaption"); // in place of the one for a picture that stands still
    caption.textContent = box.dataset.sentence;
    caption.setAttribute("aria-live", "polite");
    figure.querySelector("figcaption").replaceWith(caption);
    figure.prepend(box);
    for (const control of controls(box)) {
      if (control.type === "range") {
        tell(control);
        control.addEventListener("input", () => tell(control));
      }
      control.addEventListener("input", () => show(box, figure));
    }
    box.hidden = false;
  }

  document.addEventListener("DOMContentLoaded", () => document.querySelectorAll(".panel-controls").forEach(start));
})();
