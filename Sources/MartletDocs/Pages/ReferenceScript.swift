/// The script of the page's search. It reads its entries from the page, and shows results as text, never as markup.
enum ReferenceScript {
    static let text = #"""
        (() => {
          "use strict";
          const maximumShown = 40;
          const box = document.getElementById("-search");
          const list = document.getElementById("-results");
          const found = document.getElementById("-found");
          let entries = null;
          let chosen = -1;
          box.parentElement.hidden = false;
          if (matchMedia("(max-width: 60rem)").matches) document.querySelector("nav details").open = false;

          function load() {
            if (entries) return entries;
            entries = Array.from(document.querySelectorAll("[data-kind]"), (element, place) => {
              const id = element.id;
              const name = id.replace("-path", "");
              const last = name.slice(name.indexOf(".") + 1);
              const about = element.querySelector(":scope > .doc, :scope > .about > .doc");
              const what = element.querySelector(":scope > .what > code:last-child");
              return {
                id, name, place, kind: element.dataset.kind, last: last.toLowerCase(), whole: name.toLowerCase(),
                initials: (last[0] + last.slice(1).replace(/[^A-Z]/g, "")).toLowerCase(),
                type: what ? what.textContent : "", text: about ? about.textContent : "",
              };
            });
            for (const entry of entries) entry.words = (entry.type + "\n" + entry.text).toLowerCase();
            return entries;
          }

          function score(entry, word) {
            if (entry.last === word || entry.whole === word) return 100;
            if (entry.last.startsWith(word)) return 80;
            if (word.length > 1 && entry.initials.startsWith(word)) return 60;
            if (entry.last.includes(word)) return 50;
            if (entry.whole.includes(word)) return 40;
            return entry.words.includes(word) ? 10 : 0;
          }

          function search(text) {
            const words = text.toLowerCase().split(/\s+/).filter(Boolean);
            if (!words.length) return [];
            const hits = [];
            for (const entry of load()) {
              const scores = words.map((word) => score(entry, word));
              if (scores.includes(0)) continue;
              const typeBonus = entry.name.includes(".") ? 0 : 5;
              hits.push({ entry, score: scores.reduce((sum, one) => sum + one, typeBonus) });
            }
            return hits.sort((a, b) => b.score - a.score || a.entry.place - b.entry.place).map((hit) => hit.entry);
          }

          function add(parent, tag, text, style) {
            const element = document.createElement(tag);
            element.textContent = text;
            if (style) element.className = style;
            parent.append(element);
            return element;
          }

          function show() {
            const hits = search(box.value);
            const isEmpty = !box.value.trim();
            list.replaceChildren();
            hits.slice(0, maximumShown).forEach((entry, index) => {
              const item = add(list, "li", "");
              item.id = "-result" + index;
              item.setAttribute("role", "option");
              item.setAttribute("aria-selected", "false");
              item.dataset.id = entry.id;
              add(item, "span", entry.name, "name");
              add(item, "span", entry.kind, "kind");
              const about = entry.text || entry.type;
              if (about) add(item, "span", about.slice(0, 140), "text");
            });
            const rest = hits.length - maximumShown;
            const words = hits.length === 1 ? "1 result" : hits.length + " results";
            found.textContent = isEmpty ? "" : words;
            const note = rest > 0 ? "and " + rest + " more" : hits.length || isEmpty ? "" : "No results";
            // The note cannot be chosen. It is hidden from screen readers, which read the status.
            if (note) add(list, "li", note, "none").setAttribute("aria-hidden", "true");
            list.hidden = isEmpty;
            box.setAttribute("aria-expanded", String(!isEmpty));
            choose(-1);
          }

          function options() { return Array.from(list.querySelectorAll("[role=option]")); }

          function choose(index) {
            const items = options();
            chosen = items.length ? Math.min(Math.max(index, -1), items.length - 1) : -1;
            items.forEach((item, place) => item.setAttribute("aria-selected", String(place === chosen)));
            if (chosen < 0) return box.removeAttribute("aria-activedescendant");
            box.setAttribute("aria-activedescendant", items[chosen].id);
            items[chosen].scrollIntoView({ block: "nearest" });
          }

          function close() {
            list.hidden = true;
            box.setAttribute("aria-expanded", "false");
            box.removeAttribute("aria-activedescendant");
          }

          function go(id) {
            close();
            location.hash = "#" + id;
            const target = document.getElementById(id);
            if (target) target.focus({ preventScroll: true });
          }

          function searchFromURL() {
            if (!location.hash.startsWith("#q=")) return;
            try {
              box.value = decodeURIComponent(location.hash.slice(3).replace(/\+/g, " "));
            } catch {
              return;
            }
            box.focus();
            show();
          }

          box.addEventListener("input", show);
          box.addEventListener("focus", () => { if (box.value) show(); });
          box.addEventListener("keydown", (event) => {
            if (event.key === "ArrowDown") choose(chosen + 1);
            else if (event.key === "ArrowUp") choose(chosen - 1);
            else if (event.key === "Escape") close();
            else if (event.key === "Enter") {
              const item = options()[Math.max(chosen, 0)];
              if (item && !list.hidden) go(item.dataset.id);
            } else return;
            event.preventDefault();
          });
          list.addEventListener("mousedown", (event) => event.preventDefault());
          list.addEventListener("click", (event) => {
            const item = event.target.closest("[role=option]");
            if (item) go(item.dataset.id);
          });
          document.addEventListener("keydown", (event) => {
            const isTyping = event.target instanceof HTMLInputElement && event.target.type !== "checkbox";
            if (event.key !== "/" || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
            event.preventDefault();
            box.focus();
            box.select();
          });
          document.addEventListener("click", (event) => {
            if (!box.parentElement.contains(event.target)) close();
          });
          addEventListener("hashchange", searchFromURL);
          searchFromURL();
        })();

        """#
}
