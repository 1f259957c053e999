// Keys: "j" and "k" move between links of class "open"; any other key follows the element whose data-key it is.
document.addEventListener("keydown", (event) => {
  const field = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
  if (event.key === "Escape" && field) event.target.blur();
  if (field || event.ctrlKey || event.metaKey || event.altKey) return;
  const target = document.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
  const links = [...document.querySelectorAll("a.open")];
  if (target) {
    target.focus();
    if (/^(A|BUTTON)$/.test(target.tagName)) target.click();
  } else if (links.length && (event.key === "j" || event.key === "k")) {
    const here = links.indexOf(document.activeElement);
    const next = here < 0 ? 0 : here + (event.key === "j" ? 1 : -1);
    links[Math.min(Math.max(next, 0), links.length - 1)].focus();
  } else return;
  event.preventDefault();
});

// An address has no empty fields, and a choice shows its page at once.
for (const form of document.querySelectorAll("form.filters")) {
  form.addEventListener("submit", () => {
    for (const field of form.elements) if (field.name && !field.value) field.disabled = true;
  });
  form.addEventListener("change", (event) => {
    if (event.target.tagName === "SELECT") form.requestSubmit();
  });
}
// The fields that were left empty work again when the page comes back from the browser's memory.
addEventListener("pageshow", () => {
  for (const field of document.querySelectorAll("form.filters :disabled")) field.disabled = false;
});

// A page that waits for its index is loaded again once that is complete, unless somebody is typing.
if (document.querySelector("[data-wait]")) {
  const timer = setInterval(async () => {
    const page = await fetch(location.href).then((answer) => answer.text(), () => "data-wait");
    if (page.includes("data-wait") || document.activeElement.matches("input, select, textarea")) return;
    clearInterval(timer);
    location.reload();
  }, 1000);
}

// Mathematics is drawn by KaTeX in a copy of each text, which cannot leave its box. What KaTeX cannot read stays as it is.
const LONGEST = 40000, ALL = 200000; // characters of a text and of all texts of a page that are drawn
const button = document.querySelector("[data-key=m]");
const append = (tag, properties) => new Promise((done, failed) => {
  document.head.append(Object.assign(document.createElement(tag), properties, { onload: done, onerror: failed }));
});
async function draw() {
  await append("link", { rel: "stylesheet", href: "/static/katex/katex.min.css" });
  await append("script", { src: "/static/katex/katex.min.js" });
  await append("script", { src: "/static/katex/auto-render.min.js" });
  let left = ALL;
  for (const text of document.querySelectorAll("pre.text")) {
    const source = text.cloneNode(true), copy = document.createElement("div");
    for (const value of source.querySelectorAll("sup")) value.remove();
    copy.className = `${text.className} drawn`;
    copy.tabIndex = 0;
    // A display is a block: the empty lines around it would be seen twice.
    copy.textContent = source.textContent.replace(/\n+(?=\\\[)/g, "\n").replace(/\\\]\n+/g, "\\]");
    if (copy.textContent.length > Math.min(LONGEST, left)) continue;
    left -= copy.textContent.length;
    const pairs = [["$$", "$$", true], ["\\[", "\\]", true], ["\\(", "\\)", false]];
    if (/\\[a-zA-Z]/.test(copy.textContent)) pairs.push(["$", "$", false]); // otherwise $ is money
    const delimiters = pairs.map(([left, right, display]) => ({ left, right, display }));
    const options = { delimiters, trust: false, maxExpand: 100, maxSize: 20, strict: "ignore", errorCallback() {} };
    try {
      renderMathInElement(copy, options);
      text.after(copy);
      text.classList.add("source-text");
    } catch { continue; } // nested too deeply
  }
}
if (button) {
  let drawing;
  const show = async (on) => {
    button.setAttribute("aria-pressed", on);
    if (on) await (drawing ??= draw());
    document.body.classList.toggle("mathematics", on);
  };
  button.addEventListener("click", () => {
    const on = button.getAttribute("aria-pressed") !== "true";
    localStorage.setItem("mathematics", on);
    show(on);
  });
  show(localStorage.getItem("mathematics") === "true");
}
