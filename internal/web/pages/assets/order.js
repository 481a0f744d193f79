// Keeps the order page true while there is more to say: asks for the order's JSON, every second at first and then ever
// more rarely, and puts the freshly fetched page in place when something changed. Without it the page loads itself again.
"use strict";

(function () {
  const shortest = 1000, longest = 10000;
  let wait = shortest, timer = 0;

  const main = () => document.getElementById("order");
  const version = (o) => [o.payment.state, o.access.state, o.email.state, o.email.delivery, o.customer_state].join(" ");

  function next() {
    clearTimeout(timer);
    if (main().dataset.live === undefined || document.hidden) return;
    timer = setTimeout(ask, wait);
    wait = Math.min(wait * 1.25, longest);
  }

  async function get(accept) {
    const answer = await fetch(location.pathname, { headers: { Accept: accept }, cache: "no-store" });
    if (!answer.ok) throw new Error("not now");
    return answer;
  }

  async function ask() {
    try {
      const order = await (await get("application/json")).json();
      if (version(order) !== main().dataset.version) {
        replace(await (await get("text/html")).text());
        wait = shortest;
      }
    } catch {
      // Away for a moment: the next question comes anyway.
    }
    next();
  }

  function replace(text) {
    const fresh = new DOMParser().parseFromString(text, "text/html");
    const old = main(), made = fresh.getElementById("order");
    if (!made) return;
    const held = old.contains(document.activeElement);
    old.replaceWith(document.adoptNode(made));
    document.title = fresh.title;
    dress();
    const headline = main().querySelector("h1");
    document.getElementById("announce").textContent = headline.textContent;
    if (held) headline.focus();
  }

  // A button beside each licence key, where the browser lets a page write to the clipboard.
  function dress() {
    if (!navigator.clipboard) return;
    for (const key of document.querySelectorAll("[data-copy]")) {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "quiet copy";
      button.textContent = "Copy";
      button.setAttribute("aria-label", "Copy the licence key");
      button.addEventListener("click", async () => {
        await navigator.clipboard.writeText(key.textContent);
        button.textContent = "Copied";
        setTimeout(() => { button.textContent = "Copy"; }, 2000);
      });
      key.after(button);
    }
  }

  document.addEventListener("visibilitychange", () => {
    clearTimeout(timer);
    if (document.hidden || main().dataset.live === undefined) return;
    wait = shortest;
    ask();
  });
  dress();
  next();
  // A person stays: the page behind the emailed link says so once, and nothing else.
  if (main().dataset.link !== undefined) setTimeout(() => { get("application/json").catch(() => {}); }, 6000);
})();
