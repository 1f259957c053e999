// Keys: "j" and "k" move between links of class "open"; any other key follows the element whose data-key it is.
document.addEventListener("keydown", (event) => {
  const field = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
  if (event.key === "Escape" && field) event.target.blur();
  if (field || event.ctrlKey || event.metaKey || event.altKey) return;
  const target = document.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
  const links = [...document.querySelectorAll("a.open")];
  if (target) {
    target.focus();
    if (target.tagName === "A") target.click();
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
